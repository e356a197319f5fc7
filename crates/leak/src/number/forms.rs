//! How numbers of each kind are written and checked.

use super::Number;
use super::cues::{PHONES, SSN, near};
use crate::check;
use std::ops::Range;

/// Groups as cards are printed.
pub(super) fn card(number: &Number) -> bool {
    match number.groups.as_slice() {
        [_] => true,
        [4, rest @ ..] if rest.iter().all(|group| *group == 4) => true,
        [4, 6, 5 | 4] => true,
        [4, 4, 4, 4, _] => true,
        _ => false,
    }
}

pub(super) fn phone(text: &[u8], start: usize, number: &Number, prev: Option<u8>) -> bool {
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

pub(super) fn ssn(text: &[u8], number: &Number, start: usize) -> bool {
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

/// The British health number's check digit.
pub(super) fn health(digits: &[u8]) -> bool {
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
