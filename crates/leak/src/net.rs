//! Network addresses: IPv4, IPv6, hardware.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// An IPv4 address that begins at `start`.
pub(crate) fn v4(text: &[u8], start: usize) -> Option<Range<usize>> {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    if before
        .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'@' | b'/'))
    {
        return None;
    }
    let window = text.get(start..text.len().min(start + 16))?;
    let length = window
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b'.')
        .count();
    let mut candidate = std::str::from_utf8(window.get(..length)?).ok()?;
    candidate = candidate.trim_end_matches('.');
    let address: Ipv4Addr = candidate.parse().ok()?;
    let end = start + candidate.len();
    if text
        .get(end)
        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    {
        return None;
    }
    // In a URL or a path it says where a service is, not where a person is. With a port or a path it is an endpoint.
    let next = text.get(end + 1);
    let port = text.get(end) == Some(&b':') && next.is_some_and(u8::is_ascii_digit);
    let path = text.get(end) == Some(&b'/') && next.is_some_and(u8::is_ascii_alphabetic);
    if port || path {
        return None;
    }
    // Documentation networks are nobody's.
    let documentation = matches!(
        address.octets(),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _]
    );
    let lead = text
        .get(start.saturating_sub(12)..start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let version =
        lead.windows(3).any(|w| w == b"ver") || lead.ends_with(b"v") || lead.ends_with(b"build ");
    (!documentation && !version).then_some(start..end)
}

/// Longer than any address.
const MOST: usize = 48;

fn part(b: &u8) -> bool {
    b.is_ascii_hexdigit() || matches!(b, b':' | b'.')
}

/// An IPv6 or hardware address around the colon at `colon`, and where to look on: other colons of one stretch need no
/// second look.
pub(crate) fn around(text: &[u8], colon: usize) -> (Option<(&'static str, Range<usize>)>, usize) {
    let before = text
        .get(colon.saturating_sub(MOST)..colon)
        .unwrap_or_default();
    let start = colon - before.iter().rev().take_while(|b| part(b)).count();
    let after = text
        .get(colon..text.len().min(colon + MOST))
        .unwrap_or_default();
    let end = colon + after.iter().take_while(|b| part(b)).count();
    (address(text, colon, start, end), end)
}

fn address(
    text: &[u8],
    colon: usize,
    mut start: usize,
    mut end: usize,
) -> Option<(&'static str, Range<usize>)> {
    // `IPs: ::1`: a colon that belongs to the sentence.
    if start == colon && text.get(colon + 1) != Some(&b':') {
        return None;
    }
    while end > start && text.get(end - 1) == Some(&b'.') {
        end -= 1;
    }
    if text.get(end - 1) == Some(&b':') && text.get(end.checked_sub(2)?) != Some(&b':') {
        end -= 1;
    }
    let glued = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    if glued(start.checked_sub(1)) || glued(Some(end)) || end - start < 2 {
        return None;
    }
    if text.get(start) == Some(&b':') && text.get(start + 1) != Some(&b':') {
        start += 1;
    }
    let candidate = std::str::from_utf8(text.get(start..end)?).ok()?;
    if hardware(candidate.as_bytes(), b':') {
        return Some(("mac-address", start..end));
    }
    let address: Ipv6Addr = candidate.parse().ok()?;
    // `::` alone is an operator in many languages; it counts between spaces only.
    if candidate == "::" {
        let spaced = |at: Option<usize>| {
            at.and_then(|at| text.get(at))
                .is_none_or(|b| b.is_ascii_whitespace() || *b == b'/')
        };
        if !spaced(start.checked_sub(1)) || !spaced(Some(end)) {
            return None;
        }
        let lead = text
            .get(start.saturating_sub(24)..start)?
            .to_ascii_lowercase();
        let named = [&b"ip"[..], b"unspecified", b"address", b"host"]
            .iter()
            .any(|word| lead.windows(word.len()).any(|w| w == *word));
        return (named || text.get(end) == Some(&b'/')).then_some(("ip-address", start..end));
    }
    let plain = !candidate.bytes().any(|b| b.is_ascii_digit()) && candidate.len() < 12;
    if plain {
        return None;
    }
    let groups = address
        .segments()
        .iter()
        .filter(|segment| **segment != 0)
        .count();
    (groups > 1 || candidate.len() > 4 || address.is_loopback())
        .then_some(("ip-address", start..end))
}

/// Six pairs of hex digits.
pub(crate) fn hardware(text: &[u8], separator: u8) -> bool {
    text.len() == 17
        && text.iter().enumerate().all(|(place, b)| {
            if place % 3 == 2 {
                *b == separator
            } else {
                b.is_ascii_hexdigit()
            }
        })
        && !text
            .iter()
            .all(|b| matches!(b, b'F' | b'f' | b'0') || *b == separator)
}

/// Three groups of four hex digits between dots, with a digit in them.
pub(crate) fn dotted(text: &[u8]) -> bool {
    text.len() == 14
        && text.iter().enumerate().all(|(place, b)| {
            if place % 5 == 4 {
                *b == b'.'
            } else {
                b.is_ascii_hexdigit()
            }
        })
        && text.iter().any(u8::is_ascii_digit)
        && text.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, &str)> {
        text.bytes().enumerate().find_map(|(at, b)| match b {
            b':' => around(text.as_bytes(), at)
                .0
                .map(|(rule, place)| (rule, &text[place])),
            b if b.is_ascii_digit() => {
                v4(text.as_bytes(), at).map(|place| ("ip-address", &text[place]))
            }
            _ => None,
        })
    }

    #[test]
    fn addresses() {
        assert_eq!(found("from 10.1.2.3."), Some(("ip-address", "10.1.2.3")));
        assert_eq!(
            found("Connect to [2001:db8::1]:8080"),
            Some(("ip-address", "2001:db8::1"))
        );
        assert_eq!(found("connecting from ::1"), Some(("ip-address", "::1")));
        assert_eq!(
            found("mac 00:1A:2B:3C:4D:5E"),
            Some(("mac-address", "00:1A:2B:3C:4D:5E"))
        );
        assert_eq!(
            found("Server IP: 2400:c401::5054:ff:fe1b:b031."),
            Some(("ip-address", "2400:c401::5054:ff:fe1b:b031"))
        );
    }

    #[test]
    fn look_alikes() {
        for text in [
            "Time 12:34:56",
            "Version 1.2.3.4",
            "300.168.1.1",
            "2001::25de::cade",
            "std::vec::Vec",
            "a::b",
            "FF:FF:FF:FF:FF:FF",
            "192.0.2.7",
            "std:: x",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
