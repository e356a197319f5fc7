//! Characters written as numbers: hexadecimal pairs, octets of binary digits, decimal codes.

use super::bytes::hex_byte;
use super::plausible::{Text, text_of};
use super::radix::{self, BINARY};
use crate::explore::Finds;
use crate::passage::Derived;
use crate::span::SpanMap;
use crate::views::ViewKind;
use crate::words::Scan;
use std::ops::Range;

/// Fewest numbers in a run.
const MIN_NUMBERS: usize = 8;
/// Longest number and longest gap between two.
const MAX_NUMBER: usize = 8;
const MAX_GAP: usize = 2;

/// The ways in which one number may stand for a byte, as bits of a set.
const HEX_PAIR: u8 = 1;
const PREFIXED_HEX: u8 = 2;
const OCTET: u8 = 4;
const DECIMAL: u8 = 8;

/// The run of numbers that starts at the digit at `at`, or else where the number there ends.
pub(crate) fn number_run(text: &[u8], at: usize) -> Result<Range<usize>, usize> {
    let first = number_end(text, at);
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
        return Err(first);
    }
    let mut ways = ways(text.get(at..first).unwrap_or_default());
    let (mut end, mut count) = (first, 0);
    let mut next = Some(at..first);
    while let Some(number) = next.filter(|_| ways != 0) {
        end = number.end;
        count += 1;
        next = next_number(text, end);
        let next_ways = next
            .clone()
            .map_or(0, |next| self::ways(text.get(next).unwrap_or_default()));
        ways = if next_ways & ways == 0 && count >= MIN_NUMBERS {
            0
        } else {
            ways & next_ways
        };
    }
    if count >= MIN_NUMBERS {
        Ok(at..end)
    } else {
        Err(end)
    }
}

/// Decodes the runs of numbers that the scan turned up.
pub(crate) fn in_numbers(text: &str, scan: &Scan, finds: &mut Finds<'_>) {
    for run in &scan.numbers {
        decode(text.as_bytes(), run, finds);
    }
    for run in &scan.morse {
        super::morse::decode(text.as_bytes(), run, finds);
    }
}

fn decode(text: &[u8], run: &Range<usize>, finds: &mut Finds<'_>) {
    let numbers = || {
        std::iter::successors(Some(run.start..number_end(text, run.start)), |last| {
            next_number(text, last.end)
        })
        .take_while(|number| number.end <= run.end)
    };
    let ways = numbers().fold(u8::MAX, |common, number| {
        common & ways(text.get(number).unwrap_or_default())
    });
    finds.worked(run.len());
    for (way, kind) in [
        (HEX_PAIR, ViewKind::Hex),
        (PREFIXED_HEX, ViewKind::Hex),
        (OCTET, ViewKind::Binary),
        (DECIMAL, ViewKind::AsciiCodes),
    ] {
        if ways & way == 0 {
            continue;
        }
        let mut bytes = Vec::new();
        let mut map = SpanMap::default();
        let mut cut = false;
        for number in numbers() {
            if bytes.len() >= finds.room() {
                cut = true;
                break;
            }
            bytes.extend(value(text.get(number.clone()).unwrap_or_default(), way));
            map.block(number, 1);
        }
        if cut {
            finds.cut();
        }
        match text_of(bytes) {
            Some(Text::Same(text)) => return finds.add(kind, Derived { text, map }),
            Some(Text::Wide(derived)) => return finds.add_through(kind, map, derived),
            None => {}
        }
    }
}

fn value(number: &[u8], way: u8) -> Option<u8> {
    match way {
        HEX_PAIR => hex_byte(number),
        PREFIXED_HEX => hex_byte(number.strip_prefix(b"0x")?),
        OCTET => radix::decode(&BINARY, number, 0, number.len(), 1)
            .bytes
            .first()
            .copied(),
        _ => std::str::from_utf8(number).ok()?.parse().ok(),
    }
}

fn ways(number: &[u8]) -> u8 {
    let hex = |digits: &[u8]| digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit);
    let prefixed = number.strip_prefix(b"0x").is_some_and(hex);
    let octet = number.len() == 8 && number.iter().all(|byte| matches!(byte, b'0' | b'1'));
    let decimal =
        (2..=3).contains(&number.len()) && value(number, DECIMAL).is_some_and(|value| value >= 9);
    let possible = [
        (hex(number), HEX_PAIR),
        (prefixed, PREFIXED_HEX),
        (octet, OCTET),
        (decimal, DECIMAL),
    ];
    possible
        .into_iter()
        .filter(|(is_possible, _)| *is_possible)
        .fold(0, |ways, (_, way)| ways | way)
}

fn number_end(text: &[u8], at: usize) -> usize {
    at + text
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(MAX_NUMBER + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count()
}

fn next_number(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_gap = |byte: &&u8| {
        matches!(
            byte,
            b' ' | b'\n' | b',' | b';' | b':' | b'-' | b'/' | b'|' | b'.'
        )
    };
    let gap = text
        .get(at..)?
        .iter()
        .take(MAX_GAP + 1)
        .take_while(is_gap)
        .count();
    let start = at + gap;
    let end = number_end(text, start);
    ((1..=MAX_GAP).contains(&gap) && end > start).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use crate::{View, ViewKind, Views};

    const WORD: &str = "ignore rules";

    fn spelt(separator: &str, spell: impl Fn(u8) -> String) -> String {
        let numbers: Vec<_> = WORD.bytes().map(spell).collect();
        numbers.join(separator)
    }

    #[test]
    fn numbers_are_read_as_characters() {
        for (encoded, kind) in [
            (spelt(" ", |byte| format!("{byte:02x}")), ViewKind::Hex),
            (spelt(":", |byte| format!("{byte:02X}")), ViewKind::Hex),
            (spelt(", ", |byte| format!("0x{byte:02x}")), ViewKind::Hex),
            (spelt(" ", |byte| format!("{byte:08b}")), ViewKind::Binary),
            (spelt(" ", |byte| byte.to_string()), ViewKind::AsciiCodes),
            (spelt(",", |byte| byte.to_string()), ViewKind::AsciiCodes),
        ] {
            let input = format!("decode ({encoded}) now");
            let views = Views::of(&input);
            let view = views
                .iter()
                .find(|view| view.kind() == kind)
                .unwrap_or_else(|| panic!("{encoded}"));
            assert_eq!(view.text(), WORD);
            let span = view.origin(0..WORD.len());
            assert_eq!(&input[span.start..span.end], encoded);
        }
    }

    #[test]
    fn tables_dates_and_addresses_are_left_alone() {
        for text in [
            "10 20 30 40 50 60 70 80 90",
            "2024-01-15 12:30:45, 2024-01-16 12:30:46",
            "00:1b:44:11:3a:b7 and 00:1b:44:11:3a:b8",
            "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
            "192.168.10.10 255.255.255.0 10.10.10.10",
            "ca:fe:ba:be:00:11:22:33:44:55:66:77:88:99:aa:bb",
        ] {
            assert_eq!(
                Views::of(text).iter().map(View::kind).collect::<Vec<_>>(),
                [ViewKind::Plain],
                "{text}"
            );
        }
    }
}
