//! Data on its way out: in addresses that somebody or something will open, and in long encoded blocks.

use super::parts::Parts;
use super::payload::{Payload, payload};
use super::url::{self, Found, Place};
use super::{Context, Issue, IssueKind, Severity};
use blastshield_leak::{Scanner, Scope};
use std::collections::BTreeMap;
use std::ops::Range;

/// Shortest readable text under an encoding that counts in what is fetched, and in what is clicked.
const FETCHED_LEAST: usize = 9;
const CLICKED_LEAST: usize = 24;
/// Words in the query of a link that are too many for a search.
const LONG_WORDS: usize = 512;
/// An unreadable value that is too long for a name, in what is fetched and in what is clicked.
const FETCHED_OPAQUE: usize = 256;
const CLICKED_OPAQUE: usize = 512;
/// Tiny addresses at one host that spell something out letter by letter.
const LETTERS: usize = 10;
/// How often an address within an address is followed.
const MAX_NESTED: u8 = 2;

/// Services that draw what their address says, and stores whose own addresses hold encoded names: a warning will do.
const KNOWN: &[&str] = &[
    "mermaid.ink",
    "mermaid.live",
    "kroki.io",
    "plantuml.com",
    "quickchart.io",
    "latex.codecogs.com",
    "chart.googleapis.com",
    "img.shields.io",
    "placehold.co",
    "via.placeholder.com",
    "dummyimage.com",
    "api.qrserver.com",
    "image.pollinations.ai",
    "images.unsplash.com",
    "plus.unsplash.com",
    "fbcdn.net",
    "cdninstagram.com",
    "googleusercontent.com",
    "githubusercontent.com",
];

/// Parameters whose value is a signature or an id of a campaign, and unreadable for a reason.
fn is_signature(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("x-amz-")
        || name.starts_with("x-goog-")
        || name.starts_with("utm_")
        || matches!(
            name.as_str(),
            "sig"
                | "signature"
                | "policy"
                | "key-pair-id"
                | "hmac"
                | "hash"
                | "token"
                | "gclid"
                | "fbclid"
                | "msclkid"
                | "integrity"
                | "oh"
                | "oe"
                | "_nc_ohc"
                | "googleaccessid"
                | "awsaccesskeyid"
                | "verify"
                | "digest"
                | "cursor"
                | "continuation"
                | "pagetoken"
                | "state"
                | "code_challenge"
                | "nonce"
        )
}

/// What an address is judged by.
pub(crate) struct Judge<'a> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) context: &'a Context,
}

impl Judge<'_> {
    /// The issues of all addresses of `text` from `from` on.
    pub(crate) fn addresses(&self, text: &str, issues: &mut Vec<Issue>) {
        let found = url::find(text, 0);
        for found in &found {
            issues.extend(self.address(text, found));
        }
        issues.extend(spelt_out(text, &found));
    }

    /// The worst that can be said of one address.
    pub(crate) fn address(&self, text: &str, found: &Found) -> Option<Issue> {
        let address = text.get(found.range.clone()).unwrap_or_default();
        // Browsers drop line breaks from addresses.
        let joined: String;
        let address = if address.contains(['\n', '\r', '\t']) {
            joined = address.replace(['\n', '\r', '\t'], "");
            &joined
        } else {
            address
        };
        let fetched = found.place == Place::Fetched;
        let verdict = if found.overlong {
            Some((
                "an address too long to be checked",
                if fetched {
                    Severity::Block
                } else {
                    Severity::Warn
                },
            ))
        } else {
            self.verdict(address, found.place, 0)
        };
        verdict.map(|(what, severity)| Issue {
            kind: IssueKind::DataExfiltration,
            description: format!(
                "{} carries {what}",
                if fetched {
                    "an address that is fetched when shown"
                } else {
                    "a link"
                }
            ),
            location: found.range.clone().into(),
            severity,
        })
    }

    fn verdict(&self, address: &str, place: Place, depth: u8) -> Option<(&'static str, Severity)> {
        let parts = Parts::of(address);
        let fetched = place == Place::Fetched;
        let mut worst: Option<(&'static str, Severity)> = None;
        let mut worse = |found: Option<(&'static str, Severity)>| {
            if let Some((_, severity)) = found
                && worst.is_none_or(|(_, before)| severity > before)
            {
                worst = found;
            }
        };
        if let Some(user) = parts.user {
            worse(Some(("a user name before its host", Severity::Warn)));
            worse(self.encoded(user, place, depth, &parts));
        }
        if fetched && self.is_personal(&parts) {
            worse(Some(("personal data", Severity::Block)));
        } else if self.is_personal(&parts) {
            worse(Some(("personal data", Severity::Warn)));
        }
        for label in parts.host.split('.') {
            worse(self.encoded(label, place, depth, &parts));
        }
        for segment in &parts.segments {
            worse(self.segment(segment, place, depth, &parts));
        }
        for (name, value) in &parts.query {
            worse(self.value(name, value, place, depth, &parts));
            worse(self.encoded(name, place, depth, &parts));
        }
        worse(self.value("", parts.fragment, place, depth, &parts));
        if parts.query.len() > 1 {
            // One text may be dealt out over several values.
            let joined: String = parts.query.iter().map(|(_, value)| *value).collect();
            worse(self.encoded(&joined, place, depth, &parts));
        }
        worst
    }

    /// Readable text under an encoding, in any part.
    fn encoded(
        &self,
        part: &str,
        place: Place,
        depth: u8,
        parts: &Parts<'_>,
    ) -> Option<(&'static str, Severity)> {
        let least = match place {
            Place::Fetched => FETCHED_LEAST,
            Place::Clicked => CLICKED_LEAST,
        };
        match payload(part, least) {
            Payload::Encoded(text) => self.hidden(&text, place, depth, parts),
            _ => None,
        }
    }

    fn hidden(
        &self,
        text: &str,
        place: Place,
        depth: u8,
        parts: &Parts<'_>,
    ) -> Option<(&'static str, Severity)> {
        let trimmed = text.trim();
        if depth < MAX_NESTED
            && (trimmed.starts_with("https://") || trimmed.starts_with("http://"))
            && !trimmed.contains(char::is_whitespace)
        {
            // Image proxies write the address of the original this way.
            return self.verdict(trimmed, place, depth + 1);
        }
        let severity = match place {
            Place::Fetched if !is_known(parts) => Severity::Block,
            Place::Clicked if is_known(parts) => return None,
            _ => Severity::Warn,
        };
        Some(("encoded text", severity))
    }

    fn segment(
        &self,
        segment: &str,
        place: Place,
        depth: u8,
        parts: &Parts<'_>,
    ) -> Option<(&'static str, Severity)> {
        let fetched = place == Place::Fetched;
        match payload(
            segment,
            if fetched {
                FETCHED_LEAST
            } else {
                CLICKED_LEAST
            },
        ) {
            Payload::Encoded(text) => self.hidden(&text, place, depth, parts),
            Payload::Words(length) if fetched && length > 120 && !is_known(parts) => {
                Some(("sentences in its path", Severity::Warn))
            }
            Payload::Opaque(length) if length >= opaque(place) => {
                Some(("a long unreadable value", Severity::Warn))
            }
            _ => None,
        }
    }

    fn value(
        &self,
        name: &str,
        value: &str,
        place: Place,
        depth: u8,
        parts: &Parts<'_>,
    ) -> Option<(&'static str, Severity)> {
        let fetched = place == Place::Fetched;
        match payload(
            value,
            if fetched {
                FETCHED_LEAST
            } else {
                CLICKED_LEAST
            },
        ) {
            Payload::Encoded(text) => self.hidden(&text, place, depth, parts),
            Payload::Words(_) if fetched => {
                // Without a tool nothing from outside can have asked for it.
                let steered = !self.context.tools_called.is_empty() && !is_known(parts);
                let severity = if steered {
                    Severity::Block
                } else {
                    Severity::Warn
                };
                Some(("sentences in its query", severity))
            }
            Payload::Words(length) if length > LONG_WORDS => {
                Some(("long text in its query", Severity::Warn))
            }
            Payload::Opaque(length) if length >= opaque(place) && !is_signature(name) => {
                Some(("a long unreadable value", Severity::Warn))
            }
            _ => None,
        }
    }

    /// Personal data behind the host. In a path only a mail address counts: paths are full of numbers.
    fn is_personal(&self, parts: &Parts<'_>) -> bool {
        let values = parts.query.iter().map(|(_, value)| *value);
        let mails = parts
            .segments
            .iter()
            .copied()
            .filter(|segment| segment.contains('@') || segment.contains("%40"));
        let long: Vec<&str> = values
            .chain([parts.fragment])
            .chain(mails)
            .filter(|value| value.len() >= 6)
            .collect();
        !long.is_empty()
            && !self
                .scanner
                .scan_with(&long.join("\n").replace("%40", "@"), Scope::PERSONAL)
                .is_empty()
    }
}

fn opaque(place: Place) -> usize {
    match place {
        Place::Fetched => FETCHED_OPAQUE,
        Place::Clicked => CLICKED_OPAQUE,
    }
}

/// Many fetched addresses at one host that differ in a letter or two.
fn spelt_out(text: &str, found: &[Found]) -> Option<Issue> {
    let mut hosts: BTreeMap<&str, (usize, Range<usize>)> = BTreeMap::new();
    for found in found.iter().filter(|found| found.place == Place::Fetched) {
        let parts = Parts::of(text.get(found.range.clone()).unwrap_or_default());
        let last = parts
            .query
            .last()
            .map(|(_, value)| *value)
            .or(parts.segments.last().copied())
            .unwrap_or_default();
        let stem = last.split('.').next().unwrap_or_default();
        if (1..=2).contains(&stem.len()) && !stem.bytes().all(|byte| byte.is_ascii_digit()) {
            let (count, range) = hosts.entry(parts.host).or_insert((0, found.range.clone()));
            *count += 1;
            range.end = found.range.end;
        }
    }
    let (_, range) = hosts.into_values().find(|(count, _)| *count >= LETTERS)?;
    Some(Issue {
        kind: IssueKind::DataExfiltration,
        description: "many fetched addresses spell something out".to_owned(),
        location: range.into(),
        severity: Severity::Warn,
    })
}

fn is_known(parts: &Parts<'_>) -> bool {
    KNOWN.iter().any(|domain| parts.is_under(domain))
}
