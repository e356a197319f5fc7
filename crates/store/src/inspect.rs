//! The store as it lies there: looked at without creating, migrating or writing it.

use crate::backend::{is_here, plain, server};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM schema_versions";
const NEWEST: &str = "SELECT COALESCE(MAX(at_ms), 0) FROM fetch_events";

/// What a store is, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// Not made yet.
    Missing,
    /// There, and not usable.
    Unusable(&'static str),
    /// A database of ours.
    Found {
        /// Its schema; this program makes [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
        version: i64,
        /// Its newest event, in milliseconds since 1970; 0 when there is none.
        newest: i64,
    },
}

impl StoreState {
    /// Looks at the SQLite file at this path.
    pub async fn of_sqlite(path: &Path) -> Self {
        patiently(sqlite(path)).await
    }

    /// Looks at the PostgreSQL database at this address.
    pub async fn of_postgres(url: &str) -> Self {
        patiently(postgres(url)).await
    }
}

/// Whether a PostgreSQL address stays on this machine.
#[must_use]
pub fn is_local(url: &str) -> bool {
    PgConnectOptions::from_str(url).is_ok_and(|server| is_here(&server))
}

/// A companion of the SQLite file: its name with this ending.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

async fn patiently(look: impl Future<Output = StoreState>) -> StoreState {
    tokio::time::timeout(PATIENCE, look)
        .await
        .unwrap_or(StoreState::Unusable("it does not answer"))
}

async fn sqlite(path: &Path) -> StoreState {
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return StoreState::Missing,
        Err(_) => return StoreState::Unusable("it cannot be reached"),
        Ok(_) if !path.is_file() => return StoreState::Unusable("it is not a regular file"),
        Ok(_) => {}
    }
    // A file that nobody has open is read as it is; else SQLite would make its companion files anew.
    let quiet = !beside(path, "-wal")
        .metadata()
        .is_ok_and(|found| found.len() > 0);
    let options = SqliteConnectOptions::new()
        .filename(plain(path))
        .read_only(true)
        .immutable(quiet)
        .create_if_missing(false)
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging();
    let Ok(mut connection) = SqliteConnection::connect_with(&options).await else {
        return StoreState::Unusable("it cannot be opened for reading");
    };
    let version = sqlx::query_scalar(VERSION).fetch_one(&mut connection).await;
    let newest = sqlx::query_scalar(NEWEST).fetch_one(&mut connection).await;
    // It was only read.
    let _ = connection.close().await;
    state(version.ok(), newest.ok())
}

async fn postgres(url: &str) -> StoreState {
    let Ok(server) = server(url) else {
        return StoreState::Unusable("store.url is malformed");
    };
    let options = server
        .options([("default_transaction_read_only", "on")])
        .disable_statement_logging();
    let Ok(mut connection) = PgConnection::connect_with(&options).await else {
        return StoreState::Unusable("the database does not let us in");
    };
    let version = sqlx::query_scalar(VERSION).fetch_one(&mut connection).await;
    let newest = sqlx::query_scalar(NEWEST).fetch_one(&mut connection).await;
    // It was only read.
    let _ = connection.close().await;
    state(version.ok(), newest.ok())
}

fn state(version: Option<i64>, newest: Option<i64>) -> StoreState {
    match version {
        Some(version) => StoreState::Found {
            version,
            newest: newest.unwrap_or(0),
        },
        None => StoreState::Unusable("it is not a database of blastshield, or damaged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SCHEMA_VERSION, Store, StoreOptions};

    #[tokio::test]
    async fn looking_makes_nothing_and_knows_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blastshield.db");
        assert_eq!(StoreState::of_sqlite(&path).await, StoreState::Missing);
        assert!(!path.exists());

        Store::open(StoreOptions::sqlite(&path))
            .await
            .unwrap()
            .close()
            .await;
        let before: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .collect();
        assert_eq!(
            StoreState::of_sqlite(&path).await,
            StoreState::Found {
                version: SCHEMA_VERSION,
                newest: 0
            }
        );
        let after = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(before.len(), after);
    }

    #[tokio::test]
    async fn what_is_no_database_of_ours_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blastshield.db");
        std::fs::write(&path, "no database").unwrap();
        for place in [path.as_path(), folder.path()] {
            let state = StoreState::of_sqlite(place).await;
            assert!(matches!(state, StoreState::Unusable(_)), "{state:?}");
        }
    }

    #[test]
    fn an_address_is_local_or_not() {
        assert!(is_local("postgres://u@127.0.0.1/x"));
        assert!(is_local("postgres://u@localhost/x"));
        assert!(!is_local("postgres://u@db.example/x"));
        assert!(!is_local("no address"));
    }
}
