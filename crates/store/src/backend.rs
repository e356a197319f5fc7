//! The two databases behind one face: the same statements, `$1` placeholders, five kinds of values.
//!
//! sqlx's `Any` driver would offer the same face, but it takes neither SQLite's nor PostgreSQL's connect options
//! (journal, timeouts, TLS) and keeps drivers in a process-wide table.

use crate::{
    StoreError,
    options::{Place, StoreOptions},
};
use sqlx::{
    ConnectOptions, Connection, Postgres, Row as _, SqlSafeStr, Sqlite,
    postgres::{PgConnectOptions, PgConnection, PgRow, PgSslMode},
    query::Query,
    sqlite::{
        SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteRow,
        SqliteSynchronous,
    },
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

/// How to reach the database; connections are made from it whenever one is needed.
#[derive(Clone)]
pub(crate) enum Backend {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// What a connection is for; each gets the rights and settings of its work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Sets up a new file. These settings stay with the file and take its write lock, so no other role repeats them.
    Founder,
    Writer,
    Reader,
}

/// One connection. Dropped in the midst of a transaction, it takes the transaction with it.
pub(crate) enum Conn {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

/// A value for a placeholder.
#[derive(Clone)]
pub(crate) enum Arg<'a> {
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    MaybeText(Option<Cow<'a, str>>),
    Bytes(&'a [u8]),
}

/// A row of an answer, read by position.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Backend {
    pub(crate) fn new(options: &StoreOptions, role: Role) -> Result<Self, StoreError> {
        match &options.place {
            Place::Sqlite(path) if path.to_str().is_none() => {
                Err(StoreError::Config("the path is not UTF-8"))
            }
            Place::Sqlite(path) => Ok(Self::Sqlite(Box::new(sqlite(path, options, role)))),
            Place::Postgres(url) => Ok(Self::Postgres(Box::new(postgres(url, options, role)?))),
        }
    }

    pub(crate) async fn connect(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Sqlite(options) => Ok(Conn::Sqlite(Box::new(options.connect().await?))),
            Self::Postgres(options) => Ok(Conn::Postgres(Box::new(options.connect().await?))),
        }
    }
}

/// A commit returns after fsync (`synchronous = FULL`) and survives a lost power supply, unless the writer decides that it
/// need only survive a killed process.
fn sqlite(path: &Path, options: &StoreOptions, role: Role) -> SqliteConnectOptions {
    let mut connect = SqliteConnectOptions::new()
        .filename(plain(path))
        .create_if_missing(false)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(options.busy_timeout)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .pragma("secure_delete", "ON")
        .pragma("journal_size_limit", "16777216")
        .disable_statement_logging();
    match role {
        Role::Founder => {
            connect = connect
                .auto_vacuum(SqliteAutoVacuum::Incremental)
                .journal_mode(SqliteJournalMode::Wal);
        }
        Role::Writer => {}
        Role::Reader => connect = connect.pragma("query_only", "ON"),
    }
    match options.max_pages {
        Some(pages) => connect.pragma("max_page_count", pages.to_string()),
        None => connect,
    }
}

/// The path so that SQLite takes it for one: a name that begins with `file:` would be an address to it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    if path.is_relative() {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    }
}

/// The server of an address, which must prove its name by certificate unless it is this machine's or the address
/// says otherwise.
pub(crate) fn server(url: &str) -> Result<PgConnectOptions, StoreError> {
    let connect = PgConnectOptions::from_str(url)?.application_name("blastshield");
    let says_sslmode = url.contains("sslmode=") || url.contains("ssl-mode=");
    if says_sslmode || is_here(&connect) {
        Ok(connect)
    } else {
        Ok(connect.ssl_mode(PgSslMode::VerifyFull))
    }
}

/// Whether this server is reached without leaving the machine.
pub(crate) fn is_here(server: &PgConnectOptions) -> bool {
    let host = server.get_host();
    server.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

fn postgres(url: &str, options: &StoreOptions, role: Role) -> Result<PgConnectOptions, StoreError> {
    let connect = server(url)?;
    let (wait, read_only) = match role {
        Role::Founder | Role::Writer => (options.write_timeout, None),
        Role::Reader => (
            options.read_timeout,
            Some(("default_transaction_read_only", "on".to_owned())),
        ),
    };
    let millis = |wait: Duration| wait.as_millis().max(1).to_string();
    Ok(connect
        .options([
            ("synchronous_commit", "on".to_owned()),
            ("statement_timeout", millis(wait)),
            ("lock_timeout", millis(options.busy_timeout)),
            ("idle_in_transaction_session_timeout", millis(wait * 2)),
        ])
        .options(read_only)
        .disable_statement_logging())
}

impl Conn {
    /// Starts a write transaction; SQLite takes the write lock here, so that it is waited for once and not in between.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => self.run("BEGIN IMMEDIATE").await,
            Self::Postgres(_) => self.run("BEGIN").await,
        }
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        self.run("COMMIT").await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), StoreError> {
        self.run("ROLLBACK").await
    }

    /// Runs statements without values and without an answer.
    pub(crate) async fn run(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => sqlx::raw_sql(sql).execute(&mut **conn).await.map(drop)?,
            Self::Postgres(conn) => sqlx::raw_sql(sql).execute(&mut **conn).await.map(drop)?,
        }
        Ok(())
    }

    /// Runs one statement; the number of rows that it touched.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        args: Vec<Arg<'_>>,
    ) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Sqlite(conn) => bind_sqlite(sql, args)
                .execute(&mut **conn)
                .await?
                .rows_affected(),
            Self::Postgres(conn) => bind_postgres(sql, args)
                .execute(&mut **conn)
                .await?
                .rows_affected(),
        })
    }

    /// Runs one query; its statement bounds the number of rows.
    pub(crate) async fn fetch(
        &mut self,
        sql: &'static str,
        args: Vec<Arg<'_>>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(conn) => {
                let rows = bind_sqlite(sql, args).fetch_all(&mut **conn).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(conn) => {
                let rows = bind_postgres(sql, args).fetch_all(&mut **conn).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// Says goodbye; the last one to leave SQLite folds the log into the file.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(conn) => conn.close().await?,
            Self::Postgres(conn) => conn.close().await?,
        }
        Ok(())
    }
}

impl<'a> Arg<'a> {
    /// PostgreSQL stores no NUL in text; both databases get the replacement character instead.
    pub(crate) fn text(text: &'a str) -> Self {
        Self::Text(storable(text))
    }

    pub(crate) fn maybe(text: Option<&'a str>) -> Self {
        Self::MaybeText(text.map(storable))
    }

    pub(crate) fn size(size: u64) -> Self {
        Self::Int(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}").into()
    } else {
        text.into()
    }
}

macro_rules! bind_all {
    ($name:ident, $db:ty) => {
        fn $name<'q>(
            sql: impl SqlSafeStr,
            args: Vec<Arg<'_>>,
        ) -> Query<'q, $db, <$db as sqlx::Database>::Arguments> {
            args.into_iter()
                .fold(sqlx::query(sql), |query, arg| match arg {
                    Arg::Int(value) => query.bind(value),
                    Arg::Real(value) => query.bind(value),
                    Arg::Text(value) => query.bind(value.into_owned()),
                    Arg::MaybeText(value) => query.bind(value.map(Cow::into_owned)),
                    Arg::Bytes(value) => query.bind(value.to_vec()),
                })
        }
    };
}
bind_all!(bind_sqlite, Sqlite);
bind_all!(bind_postgres, Postgres);

macro_rules! getter {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(&self, at: usize) -> Result<$type, StoreError> {
            Ok(match self {
                Self::Sqlite(row) => row.try_get(at)?,
                Self::Postgres(row) => row.try_get(at)?,
            })
        }
    };
}

impl Row {
    getter!(int, i64);
    getter!(real, f64);
    getter!(text, String);
    getter!(maybe_text, Option<String>);
    getter!(bytes, Vec<u8>);

    pub(crate) fn size(&self, at: usize) -> Result<u64, StoreError> {
        u64::try_from(self.int(at)?).map_err(|_| StoreError::Corrupt)
    }

    pub(crate) fn flags(&self, at: usize) -> Result<Vec<String>, StoreError> {
        serde_json::from_str(&self.text(at)?).map_err(|_| StoreError::Corrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssl(url: &str) -> PgSslMode {
        postgres(url, &StoreOptions::postgres(url), Role::Writer)
            .unwrap()
            .get_ssl_mode()
    }

    #[test]
    fn a_distant_postgres_must_prove_its_name_unless_told_otherwise() {
        assert!(matches!(
            ssl("postgres://u:p@db.example/x"),
            PgSslMode::VerifyFull
        ));
        assert!(matches!(
            ssl("postgres://u:p@10.0.0.5/x"),
            PgSslMode::VerifyFull
        ));
        assert!(matches!(
            ssl("postgres://u:p@db.example/x?sslmode=disable"),
            PgSslMode::Disable
        ));
        assert!(!matches!(
            ssl("postgres://u:p@127.0.0.1/x"),
            PgSslMode::VerifyFull
        ));
        assert!(!matches!(
            ssl("postgres://u@%2Frun%2Fpg/x"),
            PgSslMode::VerifyFull
        ));
    }

    #[test]
    fn a_malformed_address_says_nothing_of_itself() {
        let error = postgres(
            "postgres://u:hunter2@[/x",
            &StoreOptions::postgres(""),
            Role::Writer,
        )
        .unwrap_err();
        assert_eq!(error, StoreError::Config("the address is malformed"));
    }

    #[test]
    fn text_has_no_nul() {
        assert!(matches!(Arg::text("a\0b"), Arg::Text(text) if text == "a\u{fffd}b"));
    }
}
