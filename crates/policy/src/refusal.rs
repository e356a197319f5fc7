//! Why a hop was refused: a stable code for machines, a sentence for people, never the refused text itself.

use thiserror::Error;

use crate::address::AddressClass;

/// Why a URL, a host or its addresses may not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Not a URL.
    #[error("the address is not a valid URL")]
    Unparsable,
    /// Longer than [`crate::MAX_URL_BYTES`].
    #[error("the URL is longer than 8 KiB")]
    TooLong,
    /// Control characters, which parsers drop or keep as they like.
    #[error("the URL contains control characters")]
    ControlCharacter,
    /// A backslash before the query, which parsers read differently.
    #[error("the URL contains a backslash")]
    Backslash,
    /// Neither `http` nor `https`.
    #[error("only http and https URLs can be fetched")]
    Scheme,
    /// `http` where only `https` is allowed.
    #[error("plain http is switched off; use https")]
    PlainHttp,
    /// A user name or password in the URL.
    #[error("user names and passwords in URLs are refused")]
    Userinfo,
    /// No host, or one that DNS could not carry.
    #[error("the URL has no valid host")]
    NoHost,
    /// A port outside the configured ones.
    #[error("port {0} is not allowed")]
    Port(u16),
    /// A name reserved for local use.
    #[error("the host is a local name")]
    LocalName,
    /// On the blocklist.
    #[error("the domain is on the blocklist")]
    Blocklisted,
    /// The name has no addresses.
    #[error("the host has no address")]
    NoAddress,
    /// At least one address is not public.
    #[error("the host leads to a {0} address")]
    NotPublic(AddressClass),
    /// The gateway itself.
    #[error("the host leads back to this gateway")]
    Own,
}

impl Refusal {
    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unparsable => "url_invalid",
            Self::TooLong => "url_too_long",
            Self::ControlCharacter => "url_control_character",
            Self::Backslash => "url_backslash",
            Self::Scheme => "scheme_not_allowed",
            Self::PlainHttp => "http_not_allowed",
            Self::Userinfo => "userinfo_not_allowed",
            Self::NoHost => "host_invalid",
            Self::Port(_) => "port_not_allowed",
            Self::LocalName => "local_name",
            Self::Blocklisted => "domain_blocked",
            Self::NoAddress => "no_address",
            Self::NotPublic(_) => "address_not_public",
            Self::Own => "own_address",
        }
    }
}
