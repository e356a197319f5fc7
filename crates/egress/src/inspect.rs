//! Looks into what goes out (stage 6b) and into what comes back (stages 1 to 4). What cannot be looked into goes no further.

use crate::decode::{content_encoding, decoded};
use crate::held::Held;
use crate::http::{Headers, ResponseHead};
use crate::journal::Scanners;
use crate::refusal::Refusal;
use blastshield_audit::Fingerprint;
use blastshield_detect::{Decision, Detector, Kind, Profile};
use blastshield_leak::{Finding, Scope};
use blastshield_pipeline::{Mode, Raw, StageError, Verdict};
use blastshield_policy::{DomainList, Host};
use std::sync::Arc;
use url::Url;

/// Shorter texts are looked at where they are; longer ones aside.
const AT_ONCE: usize = 16 << 10;
/// Headers by which a client says who it is.
const CREDENTIALS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "x-api-key",
    "x-auth-token",
    "x-goog-api-key",
];

/// Looks into traffic.
pub(crate) struct Inspector {
    pub(crate) scanners: Scanners,
    pub(crate) detector: Arc<Detector>,
    pub(crate) profile: Profile,
    /// Hosts to which clients may say who they are.
    pub(crate) credential_hosts: DomainList,
    pub(crate) held: Arc<Held>,
}

/// How a response is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// All of it, before any of it goes on.
    Whole,
    /// Event by event.
    Events,
    /// Its first bytes say whether it is text after all.
    Sniff,
}

impl Inspector {
    /// Stage 6b on a request.
    ///
    /// # Errors
    /// When it holds what must not leave, or cannot be read.
    pub(crate) async fn outbound(
        &self,
        url: &str,
        host: &Host,
        headers: &Headers,
        body: &[u8],
        limit: usize,
    ) -> Result<(), Refusal> {
        let scanner = (self.scanners)();
        stop("url", &scanner.scan_with(url, Scope::OUTBOUND), url)?;
        let known = self.credential_hosts.covers(host);
        let mut lines = String::new();
        for (name, value) in headers.iter() {
            let says_who = CREDENTIALS.iter().any(|c| c.eq_ignore_ascii_case(name));
            if !(known && says_who) {
                lines.push_str(name);
                lines.push_str(": ");
                lines.push_str(&String::from_utf8_lossy(value));
                lines.push('\n');
            }
        }
        // Entity tags are full of long numbers that mean nothing.
        let scope = Scope::OUTBOUND.without(Scope::SNOWFLAKES);
        stop("headers", &scanner.scan_with(&lines, scope), &lines)?;
        if body.is_empty() {
            return Ok(());
        }
        let decoded = decoded(headers, body, limit).await?;
        self.outbound_text("body", decoded.into_owned()).await
    }

    /// Stage 6b on a body or message of any kind.
    pub(crate) async fn outbound_text(
        &self,
        place: &'static str,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        let scanner = (self.scanners)();
        aside(bytes.len(), move || {
            let text = String::from_utf8_lossy(&bytes);
            stop(place, &scanner.scan_with(&text, Scope::OUTBOUND), &text)?;
            if bytes.contains(&0) {
                // Wide characters: the same text with nothing between its letters.
                let narrow: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
                let narrow = String::from_utf8_lossy(&narrow);
                stop(place, &scanner.scan_with(&narrow, Scope::OUTBOUND), &narrow)?;
            }
            Ok(())
        })
        .await
    }

    /// Stages 1 to 4 on a whole body.
    ///
    /// # Errors
    /// When it attacks its reader, or cannot be read.
    pub(crate) async fn inbound(
        &self,
        headers: &Headers,
        url: Option<Url>,
        body: &[u8],
        limit: usize,
    ) -> Result<(), Refusal> {
        if body.is_empty() {
            return Ok(());
        }
        let decoded = decoded(headers, body, limit).await?.into_owned();
        let media = headers.one("content-type").map(str::to_owned);
        let (detector, profile) = (Arc::clone(&self.detector), self.profile);
        aside(decoded.len(), move || {
            let typed = media.as_deref().is_some_and(is_text);
            if !typed && !looks_like_text(&decoded) {
                return Ok(());
            }
            judge(
                &decoded,
                media.as_deref(),
                url.as_ref(),
                limit,
                &detector,
                profile,
            )
        })
        .await
    }

    /// Stage 4 on a piece of a text that is still going on.
    pub(crate) async fn inbound_piece(&self, text: String) -> Result<(), Refusal> {
        let (detector, profile) = (Arc::clone(&self.detector), self.profile);
        aside(text.len(), move || {
            let found = detector.assess(&text, Kind::ToolResult);
            if profile.decide(found.score) == Decision::Block {
                let mut flags: Vec<String> = found
                    .matches
                    .iter()
                    .map(|m| m.category.name().to_owned())
                    .collect();
                flags.sort();
                flags.dedup();
                return Err(Refusal::Injection {
                    score: tenths(found.score),
                    flags,
                    content: Fingerprint::of(&text),
                });
            }
            Ok(())
        })
        .await
    }
}

/// How to look at a response.
pub(crate) fn look(head: &ResponseHead) -> Look {
    let media = head.headers.one("content-type");
    let plain = content_encoding(&head.headers).is_none_or(|coding| coding == "identity");
    match media {
        Some(media) if essence(media) == "text/event-stream" && plain => Look::Events,
        Some(media) if is_text(media) => Look::Whole,
        // What is packed cannot be told by its first bytes.
        _ if !plain => Look::Whole,
        _ => Look::Sniff,
    }
}

fn essence(media: &str) -> String {
    let essence = media.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether a declared type is one that is read as text.
fn is_text(media: &str) -> bool {
    let essence = essence(media);
    let (kind, rest) = essence.split_once('/').unwrap_or_default();
    kind == "text"
        || [
            "json",
            "xml",
            "javascript",
            "ecmascript",
            "yaml",
            "toml",
            "graphql",
            "ndjson",
            "markdown",
            "html",
            "csv",
        ]
        .iter()
        .any(|word| rest.contains(word))
}

/// Whether a body of another declared type is text all the same.
pub(crate) fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let control = |b: &&u8| matches!(b, 0..=8 | 14..=31 | 127);
    let valid = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    !start.is_empty()
        && (valid || start.is_ascii())
        && start.iter().filter(control).count() * 50 <= start.len()
}

fn judge(
    bytes: &[u8],
    media: Option<&str>,
    url: Option<&Url>,
    limit: usize,
    detector: &Detector,
    profile: Profile,
) -> Result<(), Refusal> {
    let scanned = |media: Option<&str>| -> Result<Verdict, StageError> {
        Ok(Raw::new(bytes, media, url)
            .sized(limit)?
            .sanitised(Mode::Text, None)?
            .scanned(detector)
            .validated(None)?
            .judged_by(profile))
    };
    let verdict = scanned(media).or_else(|_| scanned(Some("text/plain")));
    match verdict {
        Ok(Verdict::Safe(_) | Verdict::Gray(_)) => Ok(()),
        Ok(Verdict::Blocked(blocked)) => Err(Refusal::Injection {
            score: tenths(blocked.report().score),
            flags: blocked.report().flags.clone(),
            content: Fingerprint::of(bytes),
        }),
        Err(_) => Err(Refusal::Uninspectable(
            "the answer cannot be read as the text that it claims to be",
        )),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "scores go from 0 to 20")]
fn tenths(score: f32) -> i64 {
    (f64::from(score) * 10.0).round() as i64
}

fn stop(place: &'static str, findings: &[Finding], text: &str) -> Result<(), Refusal> {
    if findings.is_empty() {
        return Ok(());
    }
    let mut rules: Vec<&'static str> = findings.iter().map(|found| found.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    Err(Refusal::Leak {
        place,
        rules,
        content: Fingerprint::of(text),
    })
}

/// Long work goes where it holds nobody up.
async fn aside(
    size: usize,
    work: impl FnOnce() -> Result<(), Refusal> + Send + 'static,
) -> Result<(), Refusal> {
    if size <= AT_ONCE {
        return work();
    }
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(Refusal::Internal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_say_how_to_look() {
        let of = |headers: &str| {
            look(
                &ResponseHead::parse(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes())
                    .unwrap(),
            )
        };
        assert_eq!(
            of("Content-Type: text/html; charset=utf-8\r\n"),
            Look::Whole
        );
        assert_eq!(of("Content-Type: application/ld+json\r\n"), Look::Whole);
        assert_eq!(of("Content-Type: text/event-stream\r\n"), Look::Events);
        assert_eq!(
            of("Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"),
            Look::Whole
        );
        assert_eq!(of("Content-Type: image/png\r\n"), Look::Sniff);
        assert_eq!(
            of("Content-Type: image/png\r\nContent-Encoding: gzip\r\n"),
            Look::Whole
        );
        assert_eq!(of(""), Look::Sniff);
    }

    #[test]
    fn text_is_known_by_its_bytes() {
        assert!(looks_like_text("Grüße".as_bytes()) && looks_like_text(b"<html>"));
        assert!(looks_like_text(b"\xff\xfeh\0i\0"));
        assert!(!looks_like_text(b"") && !looks_like_text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"));
        assert!(!looks_like_text(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]));
    }
}
