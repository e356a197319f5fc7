//! Counts what one page moves and what it was refused; ends its streams once the allowance is used up.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use blastshield_policy::Host;
use blastshield_web::{FetchError, Meter};
use url::Url;

/// Hosts whose failures are remembered.
const MAX_FAILURES: usize = 256;

/// The ledger of one page.
pub(crate) struct Traffic {
    bytes_left: AtomicU64,
    requests_left: AtomicU64,
    refused: AtomicU64,
    overrun: AtomicBool,
    failures: Mutex<HashMap<String, FetchError>>,
}

impl Traffic {
    pub(crate) fn new(bytes: u64, requests: u64) -> Self {
        Self {
            bytes_left: AtomicU64::new(bytes),
            requests_left: AtomicU64::new(requests),
            refused: AtomicU64::new(0),
            overrun: false.into(),
            failures: Mutex::default(),
        }
    }

    /// Takes bytes from the allowance.
    pub(crate) fn spend(&self, bytes: usize) -> io::Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        take(&self.bytes_left, bytes).map_err(|()| {
            self.overrun.store(true, Ordering::Relaxed);
            io::Error::other(FetchError::WireLimit)
        })
    }

    /// Takes one request from the allowance.
    pub(crate) fn begin_request(&self) -> bool {
        take(&self.requests_left, 1).is_ok()
    }

    pub(crate) fn count_refusal(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How much was refused.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Whether the page wanted more bytes than it may have.
    pub(crate) fn is_overrun(&self) -> bool {
        self.overrun.load(Ordering::Relaxed)
    }

    /// Remembers why a host was not reached.
    pub(crate) fn note(&self, host: &Host, port: u16, error: FetchError) {
        if let Ok(mut failures) = self.failures.lock()
            && failures.len() < MAX_FAILURES
        {
            failures.insert(format!("{host} {port}"), error);
        }
    }

    /// Why the host of this URL was not reached, if that was so.
    pub(crate) fn failure(&self, url: &Url) -> Option<FetchError> {
        let host = Host::of(url).ok()?;
        let port = url.port_or_known_default()?;
        let failures = self.failures.lock().ok()?;
        failures.get(&format!("{host} {port}")).copied()
    }
}

fn take(allowance: &AtomicU64, amount: u64) -> Result<(), ()> {
    allowance
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(amount)
        })
        .map(mem::drop)
        .map_err(mem::drop)
}

/// A page's ledger, as each of its streams has it.
pub(crate) struct Share(pub(crate) Arc<Traffic>);

impl Meter for Share {
    fn received(&mut self, bytes: usize) -> io::Result<()> {
        self.0.spend(bytes)
    }

    fn sent(&mut self, bytes: usize) -> io::Result<()> {
        self.0.spend(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_policy::Refusal;
    use blastshield_web::Metered;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn streams_of_one_page_share_its_allowance() {
        let traffic = Arc::new(Traffic::new(8, 1));
        let mut out = Vec::new();
        let mut first = Metered::new(&b"12345"[..], Share(Arc::clone(&traffic)));
        assert!(first.read_to_end(&mut out).await.is_ok());
        assert!(!traffic.is_overrun());
        let mut second = Metered::new(&b"12345"[..], Share(Arc::clone(&traffic)));
        assert!(second.read_to_end(&mut out).await.is_err());
        assert!(traffic.is_overrun());
    }

    #[test]
    fn requests_are_counted_down() {
        let traffic = Traffic::new(0, 2);
        assert!(traffic.begin_request() && traffic.begin_request());
        assert!(!traffic.begin_request());
    }

    #[test]
    fn failures_are_found_by_host_and_port_in_every_spelling() {
        let traffic = Traffic::new(0, 0);
        let refused = FetchError::Refused {
            hop: 0,
            refusal: Refusal::Own,
        };
        traffic.note(&Host::parse("127.0.0.1").unwrap(), 80, refused);
        let failure = |url: &str| traffic.failure(&Url::parse(url).unwrap());
        assert_eq!(failure("http://2130706433/x"), Some(refused));
        assert_eq!(failure("http://127.0.0.1:81/x"), None);
    }
}
