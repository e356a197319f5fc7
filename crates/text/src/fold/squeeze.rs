//! The last step of the fold: lower-case ASCII, single white space, no markup inside words.

use super::markup;
use crate::span::SpanMap;
use crate::table::ByteTable;

const PLAIN: u8 = 0;
const SPACE: u8 = 1;
const MARKUP: u8 = 2;

static CLASS: ByteTable<u8> = ByteTable::new(classes());

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const fn classes() -> [u8; 256] {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        classes[byte] = SPACE;
        byte += 1;
    }
    classes[0x7f] = SPACE;
    classes[b'*' as usize] = MARKUP;
    classes[b'_' as usize] = MARKUP;
    classes[b'~' as usize] = MARKUP;
    classes[b'`' as usize] = MARKUP;
    classes[b'<' as usize] = MARKUP;
    classes[b'-' as usize] = MARKUP;
    classes
}

/// Squeezes a cleaned text. Non-ASCII characters are copied.
pub(super) fn squeeze(input: &str) -> (String, SpanMap) {
    let bytes = input.as_bytes();
    let mut out = String::with_capacity(input.len());
    let mut map = SpanMap::default();
    let copy = |out: &mut String, map: &mut SpanMap, start: usize, end: usize| {
        out.push_str(input.get(start..end).unwrap_or_default());
        map.copy(start, end - start);
    };
    let (mut run, mut at) = (0, 0);
    let mut calm_until = 0;
    while let Some(&byte) = bytes.get(at) {
        if at >= calm_until {
            at += calm_stretch(bytes.get(at..).unwrap_or_default());
            calm_until = at + CHUNK;
            continue;
        }
        match CLASS.of(byte) {
            PLAIN => at += 1,
            SPACE if is_single_space(bytes, at, byte) => at += 1,
            SPACE => {
                let (end, breaks) = space_run(bytes, at);
                copy(&mut out, &mut map, run, at);
                out.push(if breaks { '\n' } else { ' ' });
                map.block(at..end, 1);
                (run, at) = (end, end);
            }
            _ => match markup::joint(bytes, at) {
                Some(end) => {
                    copy(&mut out, &mut map, run, at);
                    (run, at) = (end, end);
                }
                None => at += 1,
            },
        }
    }
    copy(&mut out, &mut map, run, at);
    out.make_ascii_lowercase();
    (out, map)
}

/// Bytes judged at once.
const CHUNK: usize = 32;

/// How many bytes at the start of `rest` need no change, in whole chunks. Judges all bytes of a chunk without a branch.
fn calm_stretch(rest: &[u8]) -> usize {
    let chunks = rest.as_chunks::<CHUNK>().0;
    let nexts = rest.get(1..).unwrap_or_default().as_chunks::<CHUNK>().0;
    chunks
        .iter()
        .zip(nexts)
        .take_while(|(chunk, next)| is_calm(chunk, next))
        .count()
        * CHUNK
}

/// Whether none of `chunk` may need a change, given the byte after each.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch per byte would undo the speed of judging them together"
)]
fn is_calm(chunk: &[u8; CHUNK], next: &[u8; CHUNK]) -> bool {
    let restless = |byte: u8, next: u8| {
        let control = (byte < b' ') & (byte != b'\n') | (byte == 0x7f);
        let spaces = (byte <= b' ') & (next <= b' ');
        let hyphen = (byte == b'-') & (next <= b' ');
        let doubled = ((byte == b'_') | (byte == b'~')) & (byte == next);
        control | spaces | hyphen | doubled | (byte == b'*') | (byte == b'`') | (byte == b'<')
    };
    !chunk
        .iter()
        .zip(next)
        .fold(false, |any, (byte, next)| any | restless(*byte, *next))
}

#[inline]
fn is_single_space(bytes: &[u8], at: usize, byte: u8) -> bool {
    let next = bytes.get(at + 1).map_or(PLAIN, |next| CLASS.of(*next));
    next != SPACE && (byte == b' ' || byte == b'\n')
}

/// End of the run of white space at `at`, and whether it holds a line break.
fn space_run(bytes: &[u8], at: usize) -> (usize, bool) {
    let rest = bytes.get(at..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| CLASS.of(**byte) == SPACE)
        .count();
    let run = rest.get(..len).unwrap_or_default();
    (
        at + len,
        run.iter()
            .any(|byte| matches!(byte, b'\n' | b'\r' | 0x0b | 0x0c)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(input: &str) -> String {
        squeeze(input).0
    }

    #[test]
    fn white_space_runs_become_one() {
        assert_eq!(squeezed("A  b\t\tc\td"), "a b c d");
        assert_eq!(squeezed("a \r\n\r\n b\rc"), "a\nb\nc");
        assert_eq!(squeezed("a\0b\u{1b}c\u{7f}"), "a b c ");
        assert_eq!(squeezed("a b\nc"), "a b\nc");
    }

    #[test]
    fn markup_inside_words_goes_and_elsewhere_stays() {
        assert_eq!(squeezed("ig**no**re the *rules*"), "ignore the *rules*");
        assert_eq!(squeezed("ig<b>n</b>ore"), "ignore");
        assert_eq!(squeezed("instruc-\ntions"), "instructions");
        assert_eq!(
            squeezed("snake_case __init__ <b>bold</b> a - b"),
            "snake_case __init__ <b>bold</b> a - b"
        );
    }

    #[test]
    fn the_place_of_a_change_in_a_long_text_does_not_matter() {
        for at in 0..100 {
            for (odd, plain) in [
                ("  ", " "),
                (" \n", "\n"),
                ("\t", " "),
                ("x**x", "xx"),
                ("x__x", "xx"),
                ("x-\nx", "xx"),
                ("x<b>x", "xx"),
            ] {
                let (before, after) = ("a".repeat(at), "b".repeat(100 - at));
                assert_eq!(
                    squeezed(&format!("{before}{odd}{after}")),
                    format!("{before}{plain}{after}")
                );
            }
        }
    }

    #[test]
    fn the_map_knows_what_was_dropped() {
        let (text, map) = squeeze("an ig**no**re  x");
        let at = text.find("ignore").unwrap();
        let span = map.span(at..at + 6);
        assert_eq!((span.start, span.end), (3, 13));
        let gap = map.span(at + 6..at + 7);
        assert_eq!((gap.start, gap.end), (13, 15));
    }
}
