//! Numbers that belong to persons: phones, cards, accounts, ids. Each is judged by its checksum or by the words before it.

use crate::check;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Card,
    Phone,
    Snowflake,
    Ssn,
    Health,
    Passport,
    Bank,
}

/// Digits with at most this many separators between two of them make one number.
const GAP: usize = 2;
const LONGEST: usize = 40;
/// No number of a person has fewer digits.
const FEWEST: usize = 7;
/// How far back the words that explain a number may stand.
const BEFORE: usize = 40;

/// A number as it is written.
struct Number {
    digits: SmallVec<[u8; LONGEST]>,
    end: usize,
    /// Lengths of its groups.
    groups: SmallVec<[usize; LONGEST / 2]>,
}

/// Its digits, as [`read`] would read them, until there are enough.
fn count(window: &[u8]) -> usize {
    let (mut digits, mut gap) = (0, 0);
    for byte in window {
        match byte {
            b'0'..=b'9' => {
                digits += 1;
                gap = 0;
            }
            b' ' | b'-' | b'.' | b'(' | b')' | b'/' if gap < GAP => gap += 1,
            _ => break,
        }
        if digits == FEWEST {
            break;
        }
    }
    crate::work::looked(window.len());
    digits
}

fn read(text: &[u8], start: usize) -> Number {
    let mut number = Number {
        digits: SmallVec::new(),
        end: start,
        groups: smallvec![0],
    };
    let mut gap = 0;
    for (place, byte) in text.iter().enumerate().skip(start).take(LONGEST) {
        match byte {
            b'0'..=b'9' => {
                if gap > 0 {
                    number.groups.push(0);
                }
                number.digits.push(byte - b'0');
                if let Some(group) = number.groups.last_mut() {
                    *group += 1;
                }
                number.end = place + 1;
                gap = 0;
            }
            b' ' | b'-' | b'.' | b'(' | b')' | b'/' if gap < GAP => gap += 1,
            _ => break,
        }
    }
    number
}

/// What the number that begins at `start` is, and where it ends. `bare` lets long numbers count without a word beside.
pub(crate) fn look(text: &[u8], start: usize, bare: bool) -> (Option<(Kind, Range<usize>)>, usize) {
    let window = text
        .get(start..text.len().min(start + LONGEST))
        .unwrap_or_default();
    let first = window.iter().take_while(|b| b.is_ascii_digit()).count();
    let few = |count: usize| count < FEWEST;
    // The whole window is counted first because that takes a few steps only.
    if few(window.iter().filter(|b| b.is_ascii_digit()).count()) || few(count(window)) {
        return (None, start + first.max(1));
    }
    let number = read(text, start);
    let found = judge(text, start, &number, bare);
    let end = found.as_ref().map_or(start + first, |(_, place)| place.end);
    (found, end.max(start + 1))
}

fn judge(text: &[u8], start: usize, number: &Number, bare: bool) -> Option<(Kind, Range<usize>)> {
    let digits = number.digits.as_slice();
    let prev = start.checked_sub(1).and_then(|at| text.get(at)).copied();
    let next = text.get(number.end).copied();
    let word = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let first = number.groups.first().copied().unwrap_or_default();
    let alone = number.groups.len() == 1;
    let place = start..number.end;
    // A long first group is a number of its own, whatever follows it.
    if (17..=19).contains(&first)
        && !word(prev)
        && !text
            .get(start + first)
            .is_some_and(u8::is_ascii_alphanumeric)
    {
        let own = start..start + first;
        let decimal = matches!(prev, Some(b'.'))
            || text.get(start + first) == Some(&b'.')
                && text.get(start + first + 1).is_some_and(u8::is_ascii_digit);
        if !decimal
            && !in_path(text, start)
            && (bare || near(text, start, OWNERS) || prev == Some(b'@'))
        {
            return Some((Kind::Snowflake, own));
        }
    }
    if digits.len() == 8
        && alone
        && prev.is_some_and(|b| b.is_ascii_uppercase())
        && !word(next)
        && near(text, start, &["passport"])
    {
        return Some((Kind::Passport, start - 1..number.end));
    }
    if word(prev) || word(next) && !next.is_some_and(|b| matches!(b, b'x' | b'e')) {
        // `one is415-555-0132`: a phone written on to a word.
        let attached =
            prev.is_some_and(|b| b.is_ascii_lowercase()) && number.groups.as_slice() == [3, 3, 4];
        return (attached && !word(next) && near(text, start, PHONES))
            .then_some((Kind::Phone, place));
    }
    let decimal = prev == Some(b'.')
        || next == Some(b'.') && text.get(number.end + 1).is_some_and(u8::is_ascii_digit);
    if !decimal
        && (12..=19).contains(&digits.len())
        && card(number)
        && check::luhn(digits)
        && check::issued(digits)
        && !in_path(text, start)
    {
        let odd = digits.len() == 15 && digits.first() == Some(&1)
            || digits.len() == 13
            || digits.len() > 16;
        if !odd || near(text, start, CARDS) || start == 0 && number.end == text.len() {
            return Some((Kind::Card, place));
        }
    }
    if phone(text, start, number, prev) {
        let from = if prev == Some(b'+') || prev == Some(b'(') {
            start - 1
        } else {
            start
        };
        let from = if prev == Some(b'(')
            && from.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'+')
        {
            from - 1
        } else {
            from
        };
        return Some((Kind::Phone, from..number.end));
    }
    if digits.len() == 9 && ssn(text, number, start) {
        return Some((Kind::Ssn, place));
    }
    if alone || number.groups.len() <= 3 {
        if digits.len() == 10 && health(digits) && near(text, start, &["nhs", "health"]) {
            return Some((Kind::Health, place));
        }
        if matches!(digits.len(), 8 | 9) && near(text, start, &["passport"]) {
            let letter = start;
            return Some((Kind::Passport, letter..number.end));
        }
        if (8..=17).contains(&digits.len())
            && alone
            && near(
                text,
                start,
                &[
                    "bank account",
                    "account number",
                    "routing",
                    "account no",
                    "acct",
                ],
            )
        {
            return Some((Kind::Bank, place));
        }
    }
    None
}

const OWNERS: &[&str] = &[
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
const PHONES: &[&str] = &[
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
const CARDS: &[&str] = &[
    "card",
    "visa",
    "mastercard",
    "amex",
    "credit",
    "debit",
    "payment",
    "pan",
];

/// Whether one of the words stands shortly before, in the same line.
fn near(text: &[u8], start: usize, words: &[&str]) -> bool {
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

/// Groups as cards are printed.
fn card(number: &Number) -> bool {
    match number.groups.as_slice() {
        [_] => true,
        [4, rest @ ..] if rest.iter().all(|group| *group == 4) => true,
        [4, 6, 5 | 4] => true,
        [4, 4, 4, 4, _] => true,
        _ => false,
    }
}

fn phone(text: &[u8], start: usize, number: &Number, prev: Option<u8>) -> bool {
    let count = number.digits.len();
    let before = start.checked_sub(2).and_then(|at| text.get(at)).copied();
    let plus = prev == Some(b'+') || prev == Some(b'(') && before == Some(b'+');
    if plus {
        let zero = number.digits.first() == Some(&0);
        let sum = start
            .checked_sub(2)
            .and_then(|at| text.get(at))
            .is_some_and(u8::is_ascii_alphanumeric);
        return !zero
            && !sum
            && (8..=15).contains(&count)
            && !text
                .get(number.end)
                .is_some_and(|b| b.is_ascii_alphabetic());
    }
    if !(7..=15).contains(&count) {
        return false;
    }
    let shaped = matches!(
        number.groups.as_slice(),
        [3, 3, 4] | [1, 3, 3, 4] | [2, 3, 3, 4]
    );
    if shaped && prev == Some(b'(') {
        return true;
    }
    if number.groups.len() == 1 && count < 9 || dated(number) {
        return false;
    }
    near(text, start, PHONES)
        && !near(
            text,
            start,
            &[
                "isbn", "issn", "rfc", "pid", "port", "version", "order", "invoice", "card",
                "credit", "account",
            ],
        )
}

/// A day or a time, not a phone.
fn dated(number: &Number) -> bool {
    matches!(number.groups.as_slice(), [4, 2, 2, ..] | [2, 2, 4, ..])
        || number.groups.iter().any(|group| *group > 11)
}

fn ssn(text: &[u8], number: &Number, start: usize) -> bool {
    let area = number
        .digits
        .iter()
        .take(3)
        .fold(0_u16, |sum, digit| sum * 10 + u16::from(*digit));
    let group = number
        .digits
        .iter()
        .skip(3)
        .take(2)
        .fold(0_u16, |sum, digit| sum * 10 + u16::from(*digit));
    let serial = number
        .digits
        .iter()
        .skip(5)
        .fold(0_u16, |sum, digit| sum * 10 + u16::from(*digit));
    if area == 0 || area == 666 || area >= 900 || group == 0 || serial == 0 {
        return false;
    }
    match number.groups.as_slice() {
        [3, 2, 4] => {
            text.get(start + 3) == Some(&b'-')
                || text.get(start + 3) == Some(&b' ') && near(text, start, SSN)
        }
        [3, 6] | [5, 4] | [9] => near(text, start, SSN),
        _ => false,
    }
}

const SSN: &[&str] = &["ssn", "social security", "ss#", "social-security"];

/// The British health number's check digit.
fn health(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .take(9)
        .zip((2..=10).rev())
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    let expected = (11 - sum % 11) % 11;
    digits
        .last()
        .is_some_and(|last| u32::from(*last) == expected)
}

/// In the path of a URL numbers name pages, not persons.
pub(crate) fn in_path(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(512)..at).unwrap_or_default();
    let word = before
        .iter()
        .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'<' | b'>' | b'\''));
    let word = word.map_or(before, |place| before.get(place..).unwrap_or_default());
    memchr::memmem::find(word, b"://").is_some() && !word.contains(&b'?')
}

/// An account number that begins at `start`, two letters before its digits.
pub(crate) fn iban(text: &[u8], start: usize) -> Option<Range<usize>> {
    if start
        .checked_sub(1)
        .and_then(|at| text.get(at))
        .is_some_and(u8::is_ascii_alphanumeric)
    {
        return None;
    }
    let length = check::iban_length(text.get(start..start + 2)?)?;
    let mut account = Vec::with_capacity(length);
    let mut spaces = 0;
    for (place, byte) in text.iter().enumerate().skip(start).take(length + 12) {
        match byte {
            b'A'..=b'Z' | b'0'..=b'9' => account.push(*byte),
            b' ' | b'-' if !account.is_empty() && account.len() < length && spaces < 10 => {
                spaces += 1;
                continue;
            }
            _ => return None,
        }
        if account.len() == length {
            let after = text.get(place + 1).is_some_and(u8::is_ascii_alphanumeric);
            return (!after && check::mod97(&account)).then_some(start..place + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(Kind, &str)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit()) {
                let (found, next) = look(bytes, at, false);
                if let Some((kind, place)) = found {
                    return Some((kind, &text[place]));
                }
                at = next;
            } else {
                at += 1;
            }
        }
        None
    }

    #[test]
    fn phones() {
        for text in [
            "+49 30 1234567",
            "+1 (415) 555-0132",
            "(415) 555-0132",
            "tel:+975-17123456",
            "My number is 090-1234-5678",
        ] {
            assert!(matches!(found(text), Some((Kind::Phone, _))), "{text}");
        }
        for text in [
            "192.0.2.7 port 11 pid 5849",
            "ISBN 978-0-4-20-1992",
            "RFC 3139397",
            "2026-11-16 03:20",
            "call it version 1.2.3",
            "1+12345678",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn cards_and_ids() {
        assert_eq!(
            found("pay with 4111 1111 1111 1111 now"),
            Some((Kind::Card, "4111 1111 1111 1111"))
        );
        assert_eq!(found("pay with 4111 1111 1111 1112 now"), None);
        assert_eq!(found("ssn 078-05-1123"), Some((Kind::Ssn, "078-05-1123")));
        assert_eq!(
            found("my discord id is 980949298127959057"),
            Some((Kind::Snowflake, "980949298127959057"))
        );
        assert_eq!(found("tracking 609600098453295049 shipped"), None);
    }

    #[test]
    fn a_bare_number_counts_where_the_caller_says_so() {
        let text = b"tracking 609600098453295049 shipped";
        assert!(matches!(look(text, 9, true).0, Some((Kind::Snowflake, _))));
        let text = b"https://x.com/user/status/1617545613950397152";
        assert_eq!(look(text, 26, true).0, None);
    }

    #[test]
    fn accounts() {
        assert_eq!(iban(b"DE89 3704 0044 0532 0130 00", 0), Some(0..27));
        assert_eq!(iban(b"DE89 3704 0044 0532 0130 01", 0), None);
        assert_eq!(iban(b"XDE89370400440532013000", 1), None);
    }
}
