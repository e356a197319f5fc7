//! Why the store could not do it, by whose move is next. No variant carries a path, a statement or a value.

use sqlx::error::{DatabaseError, Error as Sqlx};

/// A failed store operation. Nothing that failed counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The queue is full, the database is locked, or the wait was too long. Try again.
    #[error("the store is busy; try again shortly")]
    Busy,
    /// The database cannot be reached or its files cannot be used. It is tried anew with every operation.
    #[error("the store is unavailable; check that the database is running and its folder usable")]
    Unavailable,
    /// No space is left.
    #[error("the store is full; free disk space or shorten the retention")]
    Full,
    /// The database may be read but not written.
    #[error("the store is read-only; check the rights on its files")]
    ReadOnly,
    /// The file is damaged, or not a database of ours.
    #[error("the store is damaged or not a blastshield database; restore it from a backup")]
    Corrupt,
    /// A newer blastshield wrote this database.
    #[error(
        "the store has schema version {found}, this program knows up to {known}; use a newer blastshield"
    )]
    Newer {
        /// The version that the database has.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The operator's settings for the store cannot work.
    #[error("the store cannot be opened as configured: {0}")]
    Config(&'static str),
    /// A record with this id exists.
    #[error("a record with this id exists already")]
    Duplicate,
    /// A field of the record is empty, too long or malformed.
    #[error("the record's {0} is empty, too long or malformed")]
    Invalid(&'static str),
    /// `close` was called.
    #[error("the store is closed")]
    Closed,
    /// The database refused a statement of ours: a fault of this program.
    #[error("the database refused a statement")]
    Internal,
}

impl StoreError {
    /// Whether the same call may succeed later without anyone changing the call: answer 503.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Busy | Self::Unavailable | Self::Full | Self::ReadOnly
        )
    }

    /// Whether the fault lies in one record, so that the others of its batch deserve a try of their own.
    pub(crate) fn is_about_one_record(self) -> bool {
        matches!(self, Self::Duplicate | Self::Internal)
    }
}

const UNPROVEN: StoreError =
    StoreError::Config("the secure connection to PostgreSQL failed; see sslmode and sslrootcert");

impl From<Sqlx> for StoreError {
    fn from(error: Sqlx) -> Self {
        match error {
            Sqlx::Database(error) => from_database(error.as_ref()),
            // What rustls refuses arrives as invalid data.
            Sqlx::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => UNPROVEN,
            Sqlx::Io(_) | Sqlx::Protocol(_) | Sqlx::WorkerCrashed => Self::Unavailable,
            Sqlx::Tls(_) => UNPROVEN,
            Sqlx::Configuration(_) | Sqlx::InvalidArgument(_) => {
                Self::Config("the address is malformed")
            }
            Sqlx::ColumnDecode { .. } | Sqlx::Decode(_) => Self::Corrupt,
            _ => Self::Internal,
        }
    }
}

fn from_database(error: &dyn DatabaseError) -> StoreError {
    let code = error.code().unwrap_or_default();
    if error
        .try_downcast_ref::<sqlx::sqlite::SqliteError>()
        .is_some()
    {
        code.parse().map_or(StoreError::Internal, from_sqlite)
    } else {
        from_sqlstate(&code)
    }
}

/// SQLite's extended result codes carry the primary code in their low byte.
fn from_sqlite(code: i32) -> StoreError {
    match code & 0xff {
        5 | 6 => StoreError::Busy,
        8 => StoreError::ReadOnly,
        13 => StoreError::Full,
        11 | 26 => StoreError::Corrupt,
        19 => StoreError::Duplicate,
        3 | 7 | 9 | 10 | 14 | 15 | 22 | 23 => StoreError::Unavailable,
        _ => StoreError::Internal,
    }
}

/// PostgreSQL's five-character codes; the first two name the class.
fn from_sqlstate(code: &str) -> StoreError {
    match code {
        "53100" => StoreError::Full,
        "25006" => StoreError::ReadOnly,
        "23505" => StoreError::Duplicate,
        "57014" | "55P03" => StoreError::Busy,
        "XX001" | "XX002" => StoreError::Corrupt,
        "3D000" => StoreError::Config("PostgreSQL has no such database"),
        "42501" => StoreError::Config("PostgreSQL denies the rights on the tables"),
        _ => match code.get(..2) {
            Some("08" | "57" | "58") => StoreError::Unavailable,
            Some("53" | "40") => StoreError::Busy,
            Some("28") => StoreError::Config("PostgreSQL refuses the user or password"),
            _ => StoreError::Internal,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_codes_name_the_cause() {
        // SQLITE_BUSY_SNAPSHOT, SQLITE_READONLY_DIRECTORY, SQLITE_IOERR_WRITE, SQLITE_CONSTRAINT_PRIMARYKEY
        assert_eq!(from_sqlite(517), StoreError::Busy);
        assert_eq!(from_sqlite(1544), StoreError::ReadOnly);
        assert_eq!(from_sqlite(778), StoreError::Unavailable);
        assert_eq!(from_sqlite(1555), StoreError::Duplicate);
        assert_eq!(from_sqlite(13), StoreError::Full);
        assert_eq!(from_sqlite(26), StoreError::Corrupt);
        assert_eq!(from_sqlite(1), StoreError::Internal);
    }

    #[test]
    fn sqlstates_name_the_cause() {
        assert_eq!(from_sqlstate("53100"), StoreError::Full);
        assert_eq!(from_sqlstate("53300"), StoreError::Busy);
        assert_eq!(from_sqlstate("57P01"), StoreError::Unavailable);
        assert_eq!(from_sqlstate("57014"), StoreError::Busy);
        assert_eq!(from_sqlstate("40P01"), StoreError::Busy);
        assert_eq!(from_sqlstate("08006"), StoreError::Unavailable);
        assert_eq!(from_sqlstate("XX001"), StoreError::Corrupt);
        assert_eq!(from_sqlstate("42601"), StoreError::Internal);
        assert_eq!(from_sqlstate(""), StoreError::Internal);
    }
}
