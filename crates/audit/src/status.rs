//! The latest state in one file, `security-supervisor-status.json`: replaced as a whole, readable by its owner alone.

use crate::{LogError, Redact, clean, files};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The file.
pub const STATUS_NAME: &str = "security-supervisor-status.json";
const MAX_STATUS: u64 = 1024 * 1024;

/// Why there is no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// Not JSON.
    #[error("the status cannot be read")]
    Unfit,
    /// Nothing was written yet.
    #[error("there is no status yet")]
    Missing,
    /// The disk.
    #[error(transparent)]
    File(#[from] LogError),
}

/// Replaces the snapshot, redacted and bounded. A reader sees the old or the new one, also after a power cut.
///
/// # Errors
/// The old snapshot stands.
pub fn write(
    folder: &Path,
    redact: &dyn Redact,
    status: &Map<String, Value>,
) -> Result<(), StatusError> {
    let status = clean::report(redact, status);
    let mut bytes = serde_json::to_vec_pretty(&status).map_err(|_| StatusError::Unfit)?;
    bytes.push(b'\n');
    files::folder(folder).map_err(LogError::from)?;
    files::replace(folder, STATUS_NAME, &bytes).map_err(LogError::from)?;
    Ok(())
}

/// The status as [`write()`] would write it: redacted and bounded.
#[must_use]
pub fn redacted(redact: &dyn Redact, status: &Map<String, Value>) -> Map<String, Value> {
    clean::report(redact, status)
}

/// The latest snapshot.
///
/// # Errors
/// When there is none that can be read.
pub fn read(folder: &Path) -> Result<Value, StatusError> {
    let file = File::open(folder.join(STATUS_NAME)).map_err(|error| match error.kind() {
        ErrorKind::NotFound => StatusError::Missing,
        _ => LogError::from(error).into(),
    })?;
    let mut bytes = Vec::new();
    file.take(MAX_STATUS)
        .read_to_end(&mut bytes)
        .map_err(LogError::from)?;
    serde_json::from_slice(&bytes).map_err(|_| StatusError::Unfit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::Hunter;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    fn status(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_snapshot_is_replaced_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        assert_eq!(read(&data), Err(StatusError::Missing));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let data = &data;
                scope.spawn(move || {
                    for round in 0..10 {
                        let status = status(
                            &json!({"writer": writer, "round": round, "pad": "x".repeat(2000)}),
                        );
                        write(data, &Hunter, &status).unwrap();
                        assert_eq!(read(data).unwrap()["pad"].as_str().unwrap().len(), 2000);
                    }
                });
            }
        });
        let mode = std::fs::metadata(data.join(STATUS_NAME))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(&data).unwrap().count(),
            1,
            "nothing half-made is left"
        );
        assert_eq!(read(&data).unwrap()["round"], 9);
    }

    #[test]
    fn names_stay_and_secrets_go() {
        let folder = tempfile::tempdir().unwrap();
        let report = status(&json!({"env": {"OPENAI_API_KEY": "present"}, "note": "hunter2"}));
        write(folder.path(), &Hunter, &report).unwrap();
        assert_eq!(
            read(folder.path()).unwrap(),
            json!({"env": {"OPENAI_API_KEY": "present"}, "note": "[REDACTED]"})
        );
    }
}
