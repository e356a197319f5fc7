//! What must hold of a match besides its form: checksums, structure, and no blanks.

use crate::{check, value};
use serde::Deserialize;

/// What must hold of a match besides its form.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Check {
    /// It is not blanked out.
    #[default]
    Filled,
    /// Nothing.
    Any,
    /// Not blanked out, and letters and digits are mixed as in a key.
    Keyed,
    /// Not blanked out, and of many different characters.
    Varied,
    /// Upper and lower case mixed as nobody writes.
    Tangled,
    Github,
    Aws,
    Azure,
    Sas,
    Gitlab,
    Slack,
    Discord,
    Mailchimp,
    Basic,
    Bearer,
    Chosen,
    Bech32,
    Base58,
    Hexkey,
    Solana,
}

/// So much of a long text tells whether it is drawn at random.
const TELLING: usize = 160;

impl Check {
    /// Whether it holds of a secret, given what stands before and after it.
    pub(crate) fn holds(self, secret: &[u8], before: &[u8], after: &[u8]) -> bool {
        crate::work::looked(secret.len());
        let Ok(text) = std::str::from_utf8(secret) else {
            return false;
        };
        let digits = || secret.iter().any(u8::is_ascii_digit);
        match self {
            Check::Any => true,
            Check::Filled => !blank(text),
            Check::Keyed => {
                let told = text
                    .get(..text.floor_char_boundary(TELLING))
                    .unwrap_or(text);
                !blank(told) && keyed(told)
            }
            Check::Varied => {
                let upper = secret.iter().any(u8::is_ascii_uppercase);
                let lower = secret.iter().filter(|b| b.is_ascii_lowercase()).count() > 3;
                !blank(text) && (upper && lower || digits()) && check::entropy(secret) > 3.2
            }
            Check::Tangled => !blank(text) && tangled(text),
            Check::Github => !blank(text) || check::github(secret),
            Check::Aws => {
                !text.ends_with("EXAMPLE")
                    && (digits() || text.ends_with("ZZZZ") || check::entropy(secret) > 3.4)
            }
            Check::Azure => {
                digits()
                    && check::entropy(secret) > 3.2
                    && !before.ends_with(b",")
                    && !before.ends_with(b"@")
            }
            Check::Sas => {
                before
                    .windows(3)
                    .any(|w| matches!(w, b"sv=" | b"se=" | b"sr=" | b"sp="))
                    || after.starts_with(b"&s")
            }
            Check::Gitlab => !blank(text) && text.len() >= 24,
            Check::Slack => slack(text),
            Check::Discord => discord(text),
            // A token that ships in every copy of an app is no secret.
            Check::Mailchimp => !contains_nocase(before, b"sdk.initialize"),
            Check::Basic => check::base64(secret, 512).is_some_and(|bytes| {
                bytes.contains(&b':')
                    && bytes.len() > 4
                    && bytes.iter().all(|b| (32..127).contains(b))
            }),
            Check::Bearer => {
                !blank(text)
                    && (value::looks_random(text) || text.matches('.').count() == 2 && digits())
            }
            Check::Chosen => value::looks_chosen(text),
            Check::Bech32 => {
                let bare = secret.strip_prefix(b"lightning:").unwrap_or(secret);
                check::bech32(bare) || bare.len() >= 150
            }
            Check::Base58 => check::base58check(secret).is_some(),
            Check::Hexkey => check::entropy(secret) > 2.8,
            Check::Solana => check::base58(secret).is_some_and(|bytes| bytes.len() == 64),
        }
    }
}

fn contains_nocase(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len())
        .any(|window| window.eq_ignore_ascii_case(word))
}

/// Blanked out for an example.
pub(crate) fn blank(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [
        "xxxxx",
        "****",
        ".....",
        "example",
        "your",
        "placeholder",
        "redacted",
        "_here",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Letters and digits, and no order to be seen.
fn keyed(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    letters > 0
        && (digits >= 2
            && check::entropy(text.as_bytes()) > if text.len() < 40 { 2.9 } else { 3.3 }
            && !identifier(text)
            || tangled(text))
}

/// Words joined by dashes and underscores, with a number here and there.
fn identifier(text: &str) -> bool {
    let mut pieces = 0;
    let plain = text.split(['-', '_', '.']).all(|piece| {
        pieces += 1;
        let letters = piece.bytes().filter(u8::is_ascii_alphabetic).count();
        letters == piece.len()
            && (piece.bytes().all(|b| b.is_ascii_lowercase())
                || piece.bytes().all(|b| b.is_ascii_uppercase()))
            || letters == 0 && piece.len() <= 4
    });
    plain && pieces >= 3
}

/// Upper and lower case in turns.
fn tangled(text: &str) -> bool {
    let mut changes = 0;
    let mut last = None;
    for b in text.bytes().filter(u8::is_ascii_alphanumeric) {
        let kind = (b.is_ascii_uppercase(), b.is_ascii_digit());
        if last.is_some_and(|last| last != kind) {
            changes += 1;
        }
        last = Some(kind);
    }
    changes * 4 >= text.len() && check::entropy(text.as_bytes()) > 3.0
}

fn slack(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let short =
        matches!(text.as_bytes().get(3), Some(b'a' | b'r')) && digits >= 2 && text.len() >= 15;
    !blank(text) && (digits >= 4 && text.len() >= 18 || short)
}

/// The first part of a bot's token is its id in base64.
fn discord(text: &str) -> bool {
    let Some(head) = text.split('.').next() else {
        return false;
    };
    let printable = check::base64(head.as_bytes(), 64)
        .is_some_and(|bytes| bytes.iter().filter(|b| b.is_ascii_digit()).count() * 2 > bytes.len());
    (printable || matches!(head.len(), 24 | 26)) && tangled(text)
}
