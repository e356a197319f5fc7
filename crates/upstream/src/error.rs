//! What can go wrong with a configured service, and whose fault it is.
//!
//! No variant can carry a key, an address or a piece of an answer: there is no field for one.

use std::time::Duration;

/// Who has to act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Whoever asked: the request itself is wrong.
    Caller,
    /// Whoever runs this program: a setting is wrong or missing.
    Operator,
    /// The configured service.
    Service,
    /// This program: it is busy or out of something.
    Us,
}

/// A client cannot be built from its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A base address is not usable.
    #[error("a base address must be http or https with a host, without user, query or fragment")]
    BaseUrl,
    /// A setting is needed and empty.
    #[error("{what} is missing")]
    Missing {
        /// Which setting.
        what: &'static str,
    },
    /// A setting has a value that cannot be used.
    #[error("{what} has a value that cannot be used")]
    Unusable {
        /// Which setting.
        what: &'static str,
    },
    /// A rate class is none of the known words.
    #[error(
        "the rate class must be free, base, pro or a number of requests per second from 1 to 1000"
    )]
    RateClass,
    /// The HTTP client itself cannot be set up.
    #[error("the TLS client cannot be set up")]
    Tls,
}

/// One exchange with a service failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No connection: wrong address, not running, or its certificate is not trusted.
    #[error("the service cannot be reached")]
    Unreachable,
    /// The whole exchange took longer than allowed.
    #[error("the service did not answer in time")]
    Timeout,
    /// The answer is larger than allowed.
    #[error("the service answered with more than {limit} bytes")]
    TooLarge {
        /// The limit that was passed.
        limit: usize,
    },
    /// The answer broke off or is not HTTP.
    #[error("the service's answer broke off or is not HTTP")]
    Broken,
    /// The answer is compressed although that was not asked for.
    #[error("the service compressed its answer although asked not to")]
    Encoded,
    /// The service wants to send us elsewhere; a key must not follow.
    #[error("the service answered with a redirect ({status}); configure its final address")]
    Redirected {
        /// The HTTP status.
        status: u16,
    },
    /// The service does not accept our credentials.
    #[error("the service refuses the configured credentials ({status})")]
    Denied {
        /// The HTTP status.
        status: u16,
    },
    /// Too many requests.
    #[error("the service limits the rate of requests")]
    RateLimited {
        /// How long the service asks us to wait, if it says.
        retry_after: Option<Duration>,
    },
    /// The service does not take the request as it is.
    #[error("the service rejects the request ({status})")]
    Rejected {
        /// The HTTP status.
        status: u16,
    },
    /// The service is in trouble.
    #[error("the service failed ({status})")]
    Failed {
        /// The HTTP status.
        status: u16,
    },
}

impl CallError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(self) -> Fault {
        match self {
            Self::Redirected { .. } | Self::Denied { .. } | Self::Rejected { .. } => {
                Fault::Operator
            }
            Self::Unreachable
            | Self::Timeout
            | Self::TooLarge { .. }
            | Self::Broken
            | Self::Encoded
            | Self::RateLimited { .. }
            | Self::Failed { .. } => Fault::Service,
        }
    }

    /// Whether the same request may do better a moment later.
    pub(crate) fn passing(self) -> bool {
        matches!(
            self,
            Self::Unreachable | Self::Broken | Self::RateLimited { .. } | Self::Failed { .. }
        )
    }
}
