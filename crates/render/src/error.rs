//! What can go wrong with a browser and with a page, split by whose fault it is. Nothing here repeats a URL or content.

use blastshield_web::{Fault, FetchError, Phase, Refusal};
use thiserror::Error;

/// Why there is no browser: the operator's machine or configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No executable under the usual names, or not where the options say.
    #[error("no Chromium found; install the package chromium or name its executable")]
    NotFound,
    /// Chromium's sandbox does not work for root.
    #[error(
        "Chromium cannot use its sandbox as root; run as another user, or switch the sandbox off explicitly"
    )]
    RootNeedsNoSandbox,
    /// The process could not be started.
    #[error("Chromium could not be started")]
    Spawn,
    /// No private directory for its profile.
    #[error("no temporary directory for Chromium's profile could be made")]
    Profile,
    /// No loopback port.
    #[error("no loopback port for Chromium's proxy could be opened")]
    Listen,
    /// It started, but ended or kept silent.
    #[error("Chromium started but does not answer")]
    Silent,
}

/// Why a page was not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The page itself could not be had: refused by policy or guard, unreachable, or unusable.
    #[error("{0}")]
    Fetch(FetchError),
    /// The page was not done in time.
    #[error("the page was not rendered in time")]
    Timeout,
    /// The rendered document is larger than allowed.
    #[error("the rendered page is larger than allowed")]
    TooLarge,
    /// The page and its parts moved more bytes than allowed.
    #[error("the page loads more than allowed")]
    TooMuchTraffic,
    /// A download, an empty answer, or a document that came from no origin.
    #[error("the address leads to no page")]
    NotAPage,
    /// The page made the browser's process for it fail, or flooded it.
    #[error("the page crashed while it was rendered")]
    Crashed,
    /// The selector to wait for is not valid CSS.
    #[error("the selector to wait for is not valid")]
    Selector,
    /// No turn came in time.
    #[error("all render slots are busy")]
    Busy,
    /// The browser ended or does not answer as agreed.
    #[error("the browser failed")]
    Browser,
    /// There is no browser.
    #[error("{0}")]
    Launch(LaunchError),
    /// The renderer is being shut down.
    #[error("the renderer is shutting down")]
    ShuttingDown,
}

impl RenderError {
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Fetch(FetchError::Refused { hop: 0, refusal })
    }

    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fetch(error) => error.code(),
            Self::Timeout => "render_timeout",
            Self::TooLarge => "render_too_large",
            Self::TooMuchTraffic => "render_traffic_limit",
            Self::NotAPage => "render_no_page",
            Self::Crashed => "render_crashed",
            Self::Selector => "render_selector_invalid",
            Self::Busy => "render_busy",
            Self::Browser => "render_browser_failed",
            Self::Launch(_) => "render_launch_failed",
            Self::ShuttingDown => "render_shutting_down",
        }
    }

    /// Whose fault it is. [`Fault::Operator`] is also ours: asking the same page elsewhere may help.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Fetch(error) => error.fault(),
            Self::Timeout => Fault::Network,
            Self::TooLarge | Self::TooMuchTraffic | Self::NotAPage | Self::Crashed => Fault::Peer,
            Self::Selector | Self::Busy | Self::Browser | Self::Launch(_) | Self::ShuttingDown => {
                Fault::Operator
            }
        }
    }

    /// Reads Chromium's name for a failed navigation.
    pub(crate) fn from_net_error(name: &str) -> Self {
        let name = name.strip_prefix("net::").unwrap_or(name);
        Self::Fetch(match name {
            "ERR_ABORTED" | "ERR_INVALID_URL" | "ERR_UNKNOWN_URL_SCHEME" => return Self::NotAPage,
            "ERR_TOO_MANY_REDIRECTS" => FetchError::TooManyRedirects,
            "ERR_INVALID_REDIRECT" | "ERR_UNSAFE_REDIRECT" => FetchError::BadRedirect,
            "ERR_TIMED_OUT" | "ERR_CONNECTION_TIMED_OUT" => FetchError::Timeout(Phase::Total),
            "ERR_CONTENT_DECODING_FAILED" => FetchError::Damaged,
            "ERR_CONTENT_LENGTH_MISMATCH" | "ERR_INCOMPLETE_CHUNKED_ENCODING" => {
                FetchError::Truncated
            }
            name if name.starts_with("ERR_CERT_") => FetchError::Certificate,
            name if name.starts_with("ERR_SSL_") => FetchError::Tls,
            name if name.starts_with("ERR_CONNECTION_")
                || name == "ERR_TUNNEL_CONNECTION_FAILED" =>
            {
                FetchError::Connect
            }
            _ => FetchError::Protocol,
        })
    }
}

impl From<LaunchError> for RenderError {
    fn from(error: LaunchError) -> Self {
        Self::Launch(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_navigations_are_read_by_cause() {
        for (name, error) in [
            (
                "net::ERR_CERT_DATE_INVALID",
                RenderError::Fetch(FetchError::Certificate),
            ),
            ("net::ERR_ABORTED", RenderError::NotAPage),
            (
                "net::ERR_TUNNEL_CONNECTION_FAILED",
                RenderError::Fetch(FetchError::Connect),
            ),
            ("anything at all", RenderError::Fetch(FetchError::Protocol)),
        ] {
            assert_eq!(RenderError::from_net_error(name), error);
        }
    }

    #[test]
    fn causes_keep_their_own_code_and_fault() {
        let refused = RenderError::refused(Refusal::Blocklisted);
        assert_eq!(refused.code(), "domain_blocked");
        assert_eq!(refused.fault(), Fault::Policy);
        assert_eq!(RenderError::Crashed.fault(), Fault::Peer);
    }
}
