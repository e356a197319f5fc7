//! Work that takes a processor for as long as its text is.

use crate::error::ApiError;

/// Shorter texts are looked at at once; others beside the requests.
const AT_ONCE: usize = 16 << 10;

/// Runs work on a text of so many bytes. If it breaks down, nothing is let through.
pub(crate) async fn work<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    if length <= AT_ONCE {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        tracing::error!(target: "security", "a check broke down; nothing is let through");
        ApiError::Internal
    })
}
