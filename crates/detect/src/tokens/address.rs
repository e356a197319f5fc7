//! Mail and web addresses: one token each, whatever their value.

use super::Kind;

const MAX_MAIL: usize = 120;
const MAX_LINK: usize = 400;

/// The kind and length of a mail or web address that starts here.
pub(super) fn address(bytes: &[u8], start: usize, rest: &[u8]) -> Option<(Kind, usize)> {
    if rest.starts_with(b"http://") || rest.starts_with(b"https://") || rest.starts_with(b"www.") {
        let inside = |b: &&u8| {
            !matches!(
                b,
                0..=b' ' | b'"' | b'<' | b'>' | b')' | b']' | b'\'' | b'`'
            )
        };
        return Some((
            Kind::Link,
            rest.iter().take(MAX_LINK).take_while(inside).count(),
        ));
    }
    // Only the beginning of a run can begin an address: each run is looked at once.
    let inside = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+' | b'@' | b'[' | b']')
    };
    if start
        .checked_sub(1)
        .and_then(|i| bytes.get(i))
        .is_some_and(|b| inside(*b) && *b != b'[')
    {
        return None;
    }
    let mut at = None;
    let mut dot = false;
    let mut length = 0;
    for byte in rest.iter().take(MAX_MAIL) {
        match byte {
            b'@' if at.is_none() => at = Some(length),
            b'.' => dot |= at.is_some(),
            b if inside(*b) => {}
            _ => break,
        }
        length += 1;
    }
    (at? > 0 && dot).then_some((Kind::Mail, length))
}
