//! Why a request goes no further, in words and codes that say what to do. Content is named by hash and length.

use crate::decide::Rule;
use crate::hello::HelloError;
use crate::http::{ChunkError, HeadError};
use blastshield_audit::Fingerprint;
use blastshield_web::FetchError;
use serde_json::{Value, json};
use thiserror::Error;

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A head without one meaning.
    #[error("{0}")]
    Head(HeadError),
    /// A body without one meaning.
    #[error("{0}")]
    Chunk(ChunkError),
    /// A request that no proxy serves.
    #[error("{0}")]
    Target(&'static str),
    /// The body is compressed on the way, or the method cannot have one.
    #[error("{0}")]
    NotOffered(&'static str),
    /// Missing or wrong credentials.
    #[error(
        "this proxy needs a name and a token: set them in the proxy address, as in http://name:token@host:port"
    )]
    Credentials,
    /// Everything is closed.
    #[error("the owner has closed all ways out; only the owner can open them again")]
    Lockdown,
    /// On a blocklist.
    #[error("this host is on the blocklist")]
    Blocked(Rule),
    /// On no list, and nobody is asked.
    #[error("this host is not on the allowlist of this agent")]
    Unlisted,
    /// The owner has not answered yet.
    #[error(
        "this host is not on the allowlist; the owner was asked and has not answered yet: try again later"
    )]
    Pending(String),
    /// The owner said no.
    #[error("the owner said no to this host: do not try again, and do without it")]
    Denied(String),
    /// The owner said nothing in time.
    #[error("the owner did not answer in time, which means no: ask the owner before trying again")]
    Expired(String),
    /// The owner cannot be asked.
    #[error("this host is not on the allowlist, and the owner cannot be asked: {0}")]
    NoOwner(&'static str),
    /// The port, name or address may not be reached.
    #[error("{0}")]
    Address(blastshield_policy::Refusal),
    /// The host cannot be reached.
    #[error("{0}")]
    Unreachable(FetchError),
    /// Something that must not leave.
    #[error("the {place} holds what must not leave; nothing was sent")]
    Leak {
        /// Where: `host`, `url`, `headers`, `body`, `message`.
        place: &'static str,
        /// Ids of the rules.
        rules: Vec<&'static str>,
        /// All of it.
        content: Fingerprint,
    },
    /// An answer that attacks its reader.
    #[error("the answer was held back: it reads like an attack on its reader")]
    Injection {
        /// On the detector's scale, in tenths.
        score: i64,
        /// Categories.
        flags: Vec<String>,
        /// The answer.
        content: Fingerprint,
    },
    /// Something that cannot be looked into.
    #[error("{0}")]
    Uninspectable(&'static str),
    /// More than is carried.
    #[error("the {0} is larger than allowed")]
    TooLarge(&'static str),
    /// Too slow.
    #[error("{0}")]
    Timeout(&'static str),
    /// No room.
    #[error("{0}")]
    Busy(&'static str),
    /// TLS that does not fit the request.
    #[error("{0}")]
    Tls(&'static str),
    /// No TLS where there must be.
    #[error("{0}")]
    Hello(HelloError),
    /// An answer without one meaning.
    #[error("the host's answer is not valid HTTP: {0}")]
    Answer(HeadError),
    /// The other side went away.
    #[error("the connection ended early")]
    Gone,
    /// Everything was closed while it was under way.
    #[error("everything was closed")]
    Cut,
    /// Our own fault.
    #[error("something went wrong here; nothing was let through")]
    Internal,
}

impl Refusal {
    /// The status that says so.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Head(HeadError::TooLong(_) | HeadError::TooMany) => 431,
            Self::Head(_) | Self::Chunk(_) | Self::Target(_) => 400,
            Self::NotOffered(_) => 501,
            Self::Credentials => 407,
            Self::TooLarge("request") => 413,
            Self::Timeout("the request took too long to arrive") => 408,
            Self::Timeout(_) => 504,
            Self::Busy(_) => 503,
            Self::Internal => 500,
            Self::Unreachable(_) | Self::Answer(_) | Self::Gone | Self::TooLarge(_) => 502,
            _ => 403,
        }
    }

    /// A stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Head(_) | Self::Chunk(_) => "malformed_request",
            Self::Target(_) => "target_not_served",
            Self::NotOffered(_) => "not_offered",
            Self::Credentials => "proxy_credentials_needed",
            Self::Lockdown => "lockdown",
            Self::Cut => "cut",
            Self::Blocked(_) => "host_blocked",
            Self::Unlisted => "host_not_allowed",
            Self::Pending(_) => "approval_pending",
            Self::Denied(_) => "approval_denied",
            Self::Expired(_) => "approval_timeout",
            Self::NoOwner(_) => "approval_unavailable",
            Self::Address(refusal) => refusal.code(),
            Self::Unreachable(error) => error.code(),
            Self::Leak { .. } => "leak_blocked",
            Self::Injection { .. } => "content_blocked",
            Self::Uninspectable(_) => "not_inspectable",
            Self::TooLarge(_) => "too_large",
            Self::Timeout(_) => "timeout",
            Self::Busy(_) => "busy",
            Self::Tls(_) | Self::Hello(_) => "tls_refused",
            Self::Answer(_) => "malformed_answer",
            Self::Gone => "connection_lost",
            Self::Internal => "internal",
        }
    }

    /// What it rests on.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        match self {
            Self::Head(_)
            | Self::Chunk(_)
            | Self::Target(_)
            | Self::NotOffered(_)
            | Self::Credentials => Rule::Protocol,
            Self::Lockdown | Self::Cut => Rule::Lockdown,
            Self::Blocked(rule) => *rule,
            Self::Unlisted => Rule::Unlisted,
            Self::Pending(_) | Self::Denied(_) | Self::Expired(_) | Self::NoOwner(_) => Rule::Owner,
            Self::Address(_) => Rule::Address,
            Self::Leak { .. } => Rule::Leak,
            Self::Injection { .. } | Self::Uninspectable(_) => Rule::Injection,
            Self::Tls(_) | Self::Hello(_) => Rule::Tls,
            Self::TooLarge(_) | Self::Timeout(_) | Self::Busy(_) => Rule::Limit,
            Self::Unreachable(_) | Self::Answer(_) | Self::Gone | Self::Internal => Rule::Origin,
        }
    }

    /// The approval that it waits for, or waited for.
    #[must_use]
    pub fn approval(&self) -> Option<&str> {
        match self {
            Self::Pending(id) | Self::Denied(id) | Self::Expired(id) => Some(id),
            _ => None,
        }
    }

    /// The body that says so.
    #[must_use]
    pub fn body(&self) -> Value {
        let details = match self {
            Self::Pending(id) | Self::Denied(id) | Self::Expired(id) => json!({"approvalId": id}),
            Self::Leak {
                place,
                rules,
                content,
            } => {
                json!({"place": place, "rules": rules, "content": print(content)})
            }
            Self::Injection {
                score,
                flags,
                content,
            } => {
                json!({"score": *score as f64 / 10.0, "flags": flags, "content": print(content)})
            }
            _ => json!({}),
        };
        json!({"error": {"code": self.code(), "message": self.to_string(), "details": details}})
    }

    /// The whole answer.
    #[must_use]
    pub fn answer(&self) -> Vec<u8> {
        let status = self.status();
        let reason = match status {
            400 => "Bad Request",
            403 => "Forbidden",
            407 => "Proxy Authentication Required",
            408 => "Request Timeout",
            413 => "Content Too Large",
            431 => "Request Header Fields Too Large",
            501 => "Not Implemented",
            502 => "Bad Gateway",
            503 => "Service Unavailable",
            504 => "Gateway Timeout",
            _ => "Internal Server Error",
        };
        let body = self.body().to_string();
        let more = match self {
            Self::Credentials => "Proxy-Authenticate: Basic realm=\"blastshield\"\r\n",
            Self::Busy(_) => "Retry-After: 1\r\n",
            Self::Pending(_) => "Retry-After: 30\r\n",
            _ => "",
        };
        format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

fn print(content: &Fingerprint) -> Value {
    json!({"sha256": content.sha256.to_string(), "length": content.length})
}

impl From<HeadError> for Refusal {
    fn from(error: HeadError) -> Self {
        Self::Head(error)
    }
}

impl From<ChunkError> for Refusal {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

impl From<HelloError> for Refusal {
    fn from(error: HelloError) -> Self {
        Self::Hello(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_what_to_do_and_repeats_nothing() {
        let refusal = Refusal::Pending("k7f39xq2".to_owned());
        let answer = String::from_utf8(refusal.answer()).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"]["code"], "approval_pending");
        assert_eq!(body["error"]["details"]["approvalId"], "k7f39xq2");
        let leak = Refusal::Leak {
            place: "body",
            rules: vec!["x"],
            content: Fingerprint::of("secret words"),
        };
        assert!(!leak.body().to_string().contains("secret words"));
        assert_eq!(leak.body()["error"]["details"]["content"]["length"], 12);
    }
}
