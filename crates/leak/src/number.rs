//! Numbers that belong to persons: phones, cards, accounts, ids. Each is judged by its checksum or by the words before it.

mod cues;
mod forms;

use crate::check;
use cues::{CARDS, OWNERS, PHONES, near};
pub(crate) use forms::iban;
use forms::{card, health, phone, ssn};
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

/// In the path of a URL numbers name pages, not persons.
pub(crate) fn in_path(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(512)..at).unwrap_or_default();
    let word = before
        .iter()
        .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'<' | b'>' | b'\''));
    let word = word.map_or(before, |place| before.get(place..).unwrap_or_default());
    memchr::memmem::find(word, b"://").is_some() && !word.contains(&b'?')
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
