//! The store as it lies there: looked at without creating, migrating or writing it.

use blastshield_config::StoreSettings;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM schema_versions";
const NEWEST: &str = "SELECT COALESCE(MAX(at_ms), 0) FROM fetch_events";

/// What the store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreState {
    /// Not made yet.
    Missing,
    /// There, and not usable.
    Unusable(&'static str),
    /// A database of ours.
    Found {
        /// Its schema.
        version: i64,
        /// Its newest event, in milliseconds since 1970; 0 when there is none.
        newest: i64,
    },
}

/// Looks at the store of these settings.
pub(crate) fn look(settings: &StoreSettings) -> StoreState {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return StoreState::Unusable("no runtime to look at it");
    };
    runtime.block_on(async {
        let asked = async {
            match &settings.url {
                Some(url) => postgres(url.reveal()).await,
                None => sqlite(&settings.path).await,
            }
        };
        tokio::time::timeout(PATIENCE, asked)
            .await
            .unwrap_or(StoreState::Unusable("it does not answer"))
    })
}

/// A companion of the SQLite file.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

async fn sqlite(path: &Path) -> StoreState {
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return StoreState::Missing,
        Err(_) => return StoreState::Unusable("it cannot be reached"),
        Ok(_) if !path.is_file() => return StoreState::Unusable("it is not a regular file"),
        Ok(_) => {}
    }
    // SQLite would take a name that begins with `file:` for an address.
    let place = if path.is_relative() {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    };
    // A file that nobody has open is read as it is; else SQLite would make its companion files anew.
    let quiet = !beside(path, "-wal")
        .metadata()
        .is_ok_and(|found| found.len() > 0);
    let options = SqliteConnectOptions::new()
        .filename(place)
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
    let Ok(mut options) = PgConnectOptions::from_str(url) else {
        return StoreState::Unusable("store.url is malformed");
    };
    if !is_local(url) && !url.contains("sslmode=") && !url.contains("ssl-mode=") {
        options = options.ssl_mode(PgSslMode::VerifyFull);
    }
    let options = options
        .application_name("blastshield audit")
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

/// Whether a PostgreSQL address stays on this machine.
pub(crate) fn is_local(url: &str) -> bool {
    let Ok(options) = PgConnectOptions::from_str(url) else {
        return false;
    };
    let host = options.get_host();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}
