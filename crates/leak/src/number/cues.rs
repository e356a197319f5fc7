//! Words that say whose number it is.

/// How far back they may stand.
const BEFORE: usize = 40;

pub(super) const OWNERS: &[&str] = &[
    "discord",
    "snowflake",
    "owner",
    "user id",
    "userid",
    "user_id",
    "guild",
    "member id",
    "telegram",
];
pub(super) const PHONES: &[&str] = &[
    "phone",
    "tel",
    "call",
    "whatsapp",
    "mobile",
    "cell",
    "number is",
    "number:",
    "fax",
    "sms",
    "text me",
    "reach me",
    "contact",
    "signal:",
    "dial",
    "ring me",
    "handy",
    "móvil",
    "numéro",
    "numero",
    "my number",
    "one is",
];
pub(super) const CARDS: &[&str] = &[
    "card",
    "visa",
    "mastercard",
    "amex",
    "credit",
    "debit",
    "payment",
    "pan",
];

pub(super) const SSN: &[&str] = &["ssn", "social security", "ss#", "social-security"];

/// Whether one of the words stands shortly before, in the same line.
pub(super) fn near(text: &[u8], start: usize, words: &[&str]) -> bool {
    let before = text
        .get(start.saturating_sub(BEFORE)..start)
        .unwrap_or_default();
    let line = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(before, |at| before.get(at..).unwrap_or_default());
    words.iter().any(|word| {
        line.windows(word.len())
            .any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}
