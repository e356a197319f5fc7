//! Where the store lives and how much it may hold in flight.

use crate::StoreError;
use std::{fmt, path::PathBuf, time::Duration};

/// How to open a store. Fields have defaults that suit one gateway.
#[derive(Clone)]
pub struct StoreOptions {
    pub(crate) place: Place,
    /// Writes that may wait for a commit; one more is [`StoreError::Busy`].
    pub queue_len: usize,
    /// Bytes of records that may wait for a commit; one record more is [`StoreError::Busy`].
    pub queue_bytes: usize,
    /// Writes that share one commit at most.
    pub batch_len: usize,
    /// How long a write waits for its commit, its turn included.
    pub write_timeout: Duration,
    /// How long a read waits, its turn included.
    pub read_timeout: Duration,
    /// How long SQLite waits for another process's lock. Keep it well under `write_timeout`.
    pub busy_timeout: Duration,
    /// Connections that read at the same time.
    pub readers: usize,
    /// Bytes of a flagged payload that are kept; the rest is cut, its true length stays on record.
    pub payload_bytes: usize,
    /// Whether SQLite has every record on the disk before it is acknowledged. Otherwise those of searches and of fetches
    /// that were let through are with the operating system by then, and on the disk soon after: a killed program loses
    /// none, a power cut the last of them.
    pub sync_every_record: bool,
    /// Upper bound on the size of the SQLite file, in pages of 4096 bytes: a quota of its own, below the disk's.
    pub max_pages: Option<u32>,
}

#[derive(Clone)]
pub(crate) enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl StoreOptions {
    /// SQLite in this file, which is created when missing, its folder as well.
    #[must_use]
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self::at(Place::Sqlite(path.into()))
    }

    /// PostgreSQL at this `postgres://` address. A server on another host must prove its name by certificate
    /// unless the address says otherwise with `sslmode`.
    #[must_use]
    pub fn postgres(url: impl Into<String>) -> Self {
        Self::at(Place::Postgres(url.into()))
    }

    /// A `postgres://` or `postgresql://` address, or else a path, with or without `sqlite:` before it.
    ///
    /// # Errors
    /// [`StoreError::Config`] on any other address or an empty one.
    pub fn parse(location: &str) -> Result<Self, StoreError> {
        let location = location.trim();
        if location.starts_with("postgres://") || location.starts_with("postgresql://") {
            return Ok(Self::postgres(location));
        }
        let path = location
            .strip_prefix("sqlite://")
            .or_else(|| location.strip_prefix("sqlite:"))
            .unwrap_or(location);
        if path.is_empty() {
            return Err(StoreError::Config("the location is empty"));
        }
        if path.contains("://") || path.contains('\0') {
            return Err(StoreError::Config(
                "the location is neither a path nor a postgres:// address",
            ));
        }
        Ok(Self::sqlite(path))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            queue_len: 1024,
            queue_bytes: 32 << 20,
            batch_len: 256,
            write_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(3),
            busy_timeout: Duration::from_secs(2),
            readers: 4,
            payload_bytes: 1 << 20,
            sync_every_record: false,
            max_pages: None,
        }
    }
}

/// Says which database it is; an address may hold a password, a path is nobody's business.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.place {
            Place::Sqlite(_) => "StoreOptions(sqlite)",
            Place::Postgres(_) => "StoreOptions(postgres)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_or_a_postgres_address() {
        let path = |location| match StoreOptions::parse(location).map(|o| o.place) {
            Ok(Place::Sqlite(path)) => path.display().to_string(),
            _ => panic!("{location} is a path"),
        };
        assert_eq!(path("data/a.db"), "data/a.db");
        assert_eq!(path("sqlite:data/a.db"), "data/a.db");
        assert_eq!(path("sqlite:///data/a.db"), "/data/a.db");
        assert!(matches!(
            StoreOptions::parse("postgresql://h/db").map(|o| o.place),
            Ok(Place::Postgres(_))
        ));
        for bad in ["", "sqlite:", "mysql://h/db", "http://h"] {
            assert!(
                matches!(StoreOptions::parse(bad), Err(StoreError::Config(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn debug_shows_no_password_and_no_path() {
        let shown = format!("{:?}", StoreOptions::postgres("postgres://me:hunter2@db/x"));
        assert_eq!(shown, "StoreOptions(postgres)");
        assert_eq!(
            format!("{:?}", StoreOptions::sqlite("/srv/data/x.db")),
            "StoreOptions(sqlite)"
        );
    }
}
