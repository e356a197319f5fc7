//! Tokens that were cut in pieces, or turned around.

use crate::view::{self, View};
use smallvec::SmallVec;
use std::ops::Range;

/// Letters and digits that are looked at behind a head.
const BODY: usize = 96;
/// Bytes in which they must stand.
const REACH: usize = 288;
/// A longer piece is one of two or three, not one of many.
const SHORT: usize = 10;
/// A shorter run cannot be a token.
const SHORTEST: usize = 20;

fn in_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn separator(b: u8) -> bool {
    b.is_ascii_whitespace()
        || matches!(
            b,
            b'-' | b'.'
                | b'_'
                | b','
                | b';'
                | b':'
                | b'|'
                | b'/'
                | b'\\'
                | b'+'
                | b'~'
                | b'*'
                | b'"'
                | b'\''
                | b'`'
        )
}

/// The head at `at` and what follows it without its separators, if that looks like the body of a key in pieces: letters of
/// both cases and digits, in pieces of one length.
pub(crate) fn pieces(text: &[u8], at: Range<usize>) -> Option<View> {
    if at
        .start
        .checked_sub(1)
        .and_then(|before| text.get(before))
        .is_some_and(u8::is_ascii_alphanumeric)
    {
        return None;
    }
    let rest = text.get(at.end..text.len().min(at.end + REACH))?;
    if !rest.first()?.is_ascii_alphanumeric() && !separator(*rest.first()?) {
        return None;
    }
    // A quick no for prose and for decoys.
    let near = rest.get(..rest.len().min(48))?;
    let digits = near.iter().filter(|b| b.is_ascii_digit()).count();
    let upper = near.iter().filter(|b| b.is_ascii_uppercase()).count();
    let lower = near.iter().filter(|b| b.is_ascii_lowercase()).count();
    if digits < 2 || upper < 2 || lower < 2 {
        return None;
    }
    let mut places: SmallVec<[usize; BODY]> = SmallVec::new();
    let mut lengths: SmallVec<[usize; BODY]> = SmallVec::new();
    let mut gap = 0;
    let mut seen = 0;
    for (place, b) in rest.iter().enumerate() {
        seen = place + 1;
        if b.is_ascii_alphanumeric() {
            if gap > 0 || lengths.is_empty() {
                if over(&lengths) {
                    break;
                }
                lengths.push(0);
            }
            gap = 0;
            places.push(at.end + place);
            if let Some(length) = lengths.last_mut() {
                *length += 1;
            }
        } else if separator(*b) && gap < 4 {
            gap += 1;
        } else {
            break;
        }
        if places.len() == BODY {
            break;
        }
    }
    crate::work::looked(seen);
    if !even(&lengths, &mut places) {
        return None;
    }
    // A word after the last piece is no piece.
    let gap = places
        .windows(2)
        .rposition(|two| matches!(two, [last, next] if next - last > 1));
    if let Some(cut) = gap.map(|gap| gap + 1) {
        let tail = places.get(cut..).unwrap_or_default();
        if tail
            .iter()
            .all(|place| text.get(*place).is_some_and(u8::is_ascii_lowercase))
        {
            places.truncate(cut);
        }
    }
    Some(view::joined(text, at.chain(places)))
}

/// Whether no further piece can matter: the last one was not like the others, or there are three long ones.
fn over(lengths: &[usize]) -> bool {
    match lengths {
        [_, second, .., last] if *second <= SHORT => last != second,
        [_, second, _, ..] => *second > SHORT,
        _ => false,
    }
}

/// Whether the pieces between the first and the last have one length, or are few and long. Words that follow the last
/// piece are cut off.
fn even(lengths: &[usize], places: &mut SmallVec<[usize; BODY]>) -> bool {
    if lengths.len() < 2 {
        return false;
    }
    let (first, second) = (
        lengths.first().copied().unwrap_or_default(),
        lengths.get(1).copied().unwrap_or_default(),
    );
    if lengths.len() > 2 && second <= SHORT {
        let same = 1 + lengths
            .iter()
            .skip(1)
            .take_while(|length| **length == second)
            .count();
        let tail = lengths
            .get(same)
            .copied()
            .filter(|length| *length < second)
            .unwrap_or_default();
        let total = first + (same - 1) * second + tail;
        places.truncate(total);
        return same >= 4 && total >= SHORTEST - 4;
    }
    // Two or three long pieces.
    let long = lengths
        .iter()
        .take(3)
        .take_while(|length| **length >= 8)
        .count();
    let total: usize = lengths.iter().take(long).sum();
    places.truncate(total);
    long >= 2 && total >= SHORTEST
}

/// The run around a turned head, if it is long enough to be a token and the head stands at its end.
pub(crate) fn token(text: &[u8], at: Range<usize>, back: bool) -> Option<Range<usize>> {
    const MOST: usize = 256;
    let word = |place: Option<usize>| {
        place
            .and_then(|place| text.get(place))
            .is_some_and(|b| in_token(*b))
    };
    if back {
        if word(Some(at.end)) {
            return None;
        }
        let before = text.get(at.start.saturating_sub(MOST)..at.start)?;
        let start = at.start - before.iter().rev().take_while(|b| in_token(**b)).count();
        (at.end - start >= SHORTEST).then_some(start..at.end)
    } else {
        if word(at.start.checked_sub(1)) {
            return None;
        }
        let after = text.get(at.end..text.len().min(at.end + MOST))?;
        let end = at.end + after.iter().take_while(|b| in_token(**b)).count();
        (end - at.start >= SHORTEST).then_some(at.start..end)
    }
}

/// A run in which every so many characters the same separator stands: without it.
pub(crate) fn strided(text: &[u8], run: Range<usize>) -> Option<View> {
    let bytes = text.get(run.clone())?;
    for length in 1..=8_usize {
        let Some(sign) = bytes.get(length).filter(|b| !b.is_ascii_alphanumeric()) else {
            continue;
        };
        let stride = length + 1;
        let count = (length..bytes.len())
            .step_by(stride)
            .take_while(|place| bytes.get(*place) == Some(sign))
            .count();
        let covered = count * stride + length;
        if count >= 5 && count * length >= 16 && covered + stride >= bytes.len() {
            let keep = (0..bytes.len())
                .filter(|place| (place + 1) % stride != 0)
                .map(|place| run.start + place);
            return Some(view::joined(text, keep));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_in_pieces_is_joined() {
        let head = "gh".to_owned() + "p_";
        for text in [
            "U-28dP9-suENm-zNoC2-QxjMG-fpVZK-vPhbE-O47pk",
            "U28dP9suENmzNoC2Qx\njMGfpVZKvPhbEO47pk",
            "U 28dP9 suENm zNoC2 QxjMG fpVZK vPhbE O47pk and more",
        ] {
            let whole = format!("{head}{text}");
            let view = pieces(whole.as_bytes(), 0..4).unwrap();
            assert_eq!(
                view.text,
                format!("{head}U28dP9suENmzNoC2QxjMGfpVZKvPhbEO47pk"),
                "{text}"
            );
        }
        assert!(
            pieces(
                b"ghp_the Quick 12 Brown fox jumps over 13 Lazy dogs every day",
                0..4
            )
            .is_none()
        );
    }

    #[test]
    fn a_strided_run_is_joined() {
        let view = strided(b"s-k---4-n-o-P-S-X-s-I-Y-x-v-z-y-i-F-S-V", 0..39).unwrap();
        assert_eq!(view.text, "sk-4noPSXsIYxvzyiFSV");
        assert!(strided(b"a-long-name-of-a-thing-in-a-path", 0..32).is_none());
    }
}
