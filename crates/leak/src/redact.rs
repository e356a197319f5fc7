//! The one way to speak of a secret: `[REDACTED]`, or a fingerprint with at most its last four characters.

use crate::Finding;
use std::borrow::Cow;

/// What stands in a report where a secret stood.
pub const REDACTED: &str = "[REDACTED]";

/// Values shorter than this show no character at all.
const TELLING: usize = 24;
/// Of values shorter than this, more than two characters would say too much.
const LONG: usize = 40;

/// A short name for a value, to recognise it by in an approval: `lnbc...[redacted]...abcd`. Shows the public scheme of
/// the value, if it has one, and at most its last four characters; nothing at all of a short value.
#[must_use]
pub fn fingerprint(value: &str) -> String {
    let value = value.trim();
    let count = value.chars().count();
    if count < TELLING {
        return REDACTED.to_owned();
    }
    let shown = if count < LONG { 2 } else { 4 };
    let tail: String = value.chars().skip(count - shown).collect();
    let safe: String = tail
        .chars()
        .map(|c| if c.is_ascii_graphic() { c } else { '?' })
        .collect();
    format!("{}...[redacted]...{safe}", scheme(value))
}

/// Beginnings that say what a value is and nothing of its secret part.
const SCHEMES: &[&str] = &[
    "lnbcrt",
    "lnbc",
    "lntbs",
    "lntb",
    "sk-ant-",
    "sk-proj-",
    "sk-svcacct-",
    "sk-admin-",
    "sk-or-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xai-",
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "pypi-",
    "eyJ",
    "-----BEGIN",
    "CANARY_",
    "xprv",
];

fn scheme(value: &str) -> &'static str {
    SCHEMES
        .iter()
        .find(|scheme| value.starts_with(**scheme))
        .copied()
        .unwrap_or_default()
}

/// The text with each finding replaced; the same text where there is none. Findings are in order and apart.
pub(crate) fn replace<'t>(text: &'t str, findings: &[Finding]) -> Cow<'t, str> {
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for finding in findings {
        out.push_str(text.get(from..finding.start).unwrap_or_default());
        out.push_str(REDACTED);
        from = finding.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invoice_shows_its_scheme_and_four_characters() {
        let invoice = format!("lnbc{}abcd", "q".repeat(200));
        assert_eq!(fingerprint(&invoice), "lnbc...[redacted]...abcd");
    }

    #[test]
    fn a_short_value_shows_nothing() {
        assert_eq!(fingerprint("hunter2"), REDACTED);
        assert_eq!(fingerprint(&"a1".repeat(11)), REDACTED);
        assert_eq!(fingerprint(&"a1".repeat(12)), "...[redacted]...a1");
    }

    #[test]
    fn a_fingerprint_cannot_steer_a_terminal() {
        let value = format!("{}\u{1b}[2J", "a".repeat(60));
        assert!(fingerprint(&value).is_ascii());
        assert!(!fingerprint(&value).contains('\u{1b}'));
    }
}
