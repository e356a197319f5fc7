//! Places where a test may end a process. In a release build there are none.

/// Ends the process by SIGKILL if a test asked for it here.
#[cfg(debug_assertions)]
pub(crate) fn point(name: &str) {
    if armed::is(name) {
        armed::die();
    }
}

/// Nothing.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn point(_: &str) {}

/// Breaks down if a test asked for it here.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "that is what it is for")]
pub(crate) fn breakdown(name: &str) {
    if armed::is(name) {
        panic!("as a test wants it");
    }
}

/// Nothing.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn breakdown(_: &str) {}

#[cfg(debug_assertions)]
pub(crate) use armed::{arm, from_environment};

#[cfg(debug_assertions)]
mod armed {
    use std::sync::Mutex;

    static AT: Mutex<Option<String>> = Mutex::new(None);

    /// Core hands on to its workers what the test said, since they have no environment.
    pub(crate) fn from_environment() -> Option<String> {
        std::env::var("PROXY_TEST_FAULT").ok()
    }

    pub(crate) fn arm(name: Option<String>) {
        if let Ok(mut at) = AT.lock() {
            *at = name;
        }
    }

    pub(super) fn is(name: &str) -> bool {
        AT.lock().is_ok_and(|at| at.as_deref() == Some(name))
    }

    pub(super) fn die() -> ! {
        let own = rustix::process::getpid();
        let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        std::process::abort()
    }
}

/// What recovery calls between its steps, for tests that end the process there; nothing in a release build.
#[doc(hidden)]
#[must_use]
pub fn probe() -> Option<fn(&'static str)> {
    #[cfg(debug_assertions)]
    return Some(|name| point(&format!("recovery:{name}")));
    #[cfg(not(debug_assertions))]
    None
}
