//! Which part of a text can be copied as it is, word by word and space by space.

/// White space that is joined to one space.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{a0}' | '\u{c}')
}

/// What a byte can mean inside of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Plain,
    Blank,
    /// Other white space, or the first byte of it.
    Gap,
    /// Markup, unless it is escaped.
    Mark,
}

const MARKS: [u8; 8] = *b"\\`*_[]<~";
const BYTES: [Byte; 256] = bytes(&MARKS);
const BYTES_OF_CODE: [Byte; 256] = bytes(b"");

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn bytes(marks: &[u8]) -> [Byte; 256] {
    let mut table = [Byte::Plain; 256];
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = Byte::Mark;
        at += 1;
    }
    table[b' ' as usize] = Byte::Blank;
    let gaps = b"\n\t\r\x0c\xc2";
    let mut at = 0;
    while at < gaps.len() {
        table[gaps[at] as usize] = Byte::Gap;
        at += 1;
    }
    table
}

/// Bytes that are looked at together.
const PIECE: usize = 32;

/// How much of a text that begins with a word can be copied as it is: whole words with one space between them, and
/// nothing in them to be escaped. Not at the start of a line.
pub(crate) fn plain_length(text: &str, escape: bool) -> usize {
    let table = if escape { &BYTES } else { &BYTES_OF_CODE };
    let bytes = text.as_bytes();
    // Where the word begins that is being read.
    let mut word = 0_usize;
    let mut at = 0;
    let mut next_piece = 0;
    while let Some(&byte) = bytes.get(at) {
        if at >= next_piece && byte != b' ' {
            let calm = calm_start(bytes.get(at..).unwrap_or_default(), escape);
            if let Some(blank) = calm.iter().rposition(|byte| *byte == b' ') {
                word = at + blank + 1;
            }
            at += calm.len();
            next_piece = at + PIECE;
            if !calm.is_empty() {
                continue;
            }
        }
        match table.get(usize::from(byte)) {
            Some(Byte::Blank) if at > word => word = at + 1,
            Some(Byte::Gap) if byte == 0xc2 && bytes.get(at + 1) != Some(&0xa0) => at += 1,
            Some(Byte::Gap) if at > word => return at,
            Some(Byte::Blank | Byte::Gap | Byte::Mark) => return word.saturating_sub(1),
            Some(Byte::Plain) | None => {}
        }
        at += 1;
    }
    if at > word {
        at
    } else {
        word.saturating_sub(1)
    }
}

/// The pieces at the start in which no byte needs care and no space follows a space, not even in the next piece.
fn calm_start(bytes: &[u8], escape: bool) -> &[u8] {
    let mut calm = 0;
    while let Some(piece) = bytes.get(calm..).and_then(<[u8]>::first_chunk) {
        let is_calm = if escape {
            is_calm(piece, |byte| is_gap(byte) | is_mark(byte))
        } else {
            is_calm(piece, is_gap)
        };
        if !is_calm {
            break;
        }
        calm += PIECE;
    }
    bytes.get(..calm).unwrap_or_default()
}

/// Without a way out in the midst, so that the piece is looked at as a whole.
#[inline]
fn is_calm(piece: &[u8; PIECE + 1], needs_care: impl Fn(u8) -> bool) -> bool {
    let pairs = piece.iter().zip(piece.iter().skip(1));
    pairs.fold(true, |calm, (&byte, &next)| {
        calm & !needs_care(byte) & !((byte == b' ') & (next == b' '))
    })
}

/// Whether a byte may be white space other than a blank.
#[inline]
fn is_gap(byte: u8) -> bool {
    (byte < b' ') | (byte == 0xc2)
}

#[inline]
fn is_mark(byte: u8) -> bool {
    MARKS.iter().fold(false, |any, mark| any | (*mark == byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_copied_up_to_what_needs_care() {
        for (text, escape, length) in [
            ("one two three", true, 13),
            ("one two ", true, 7),
            ("one  two", true, 3),
            ("one\ntwo", true, 3),
            ("one two*three four", true, 3),
            ("one two*three four", false, 18),
            ("*one", true, 0),
            ("né\u{a0}x", true, 3),
            ("", true, 0),
        ] {
            assert_eq!(plain_length(text, escape), length, "{text:?}");
        }
    }

    /// What [`plain_length`] says, told slowly: the longest start that is words with one space between them.
    fn told_slowly(text: &str, escape: bool) -> usize {
        let ends = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .filter(|end| {
                let after = text.get(*end..).unwrap();
                let ends_here = after.is_empty() || after.starts_with(is_space);
                let words = text.get(..*end).unwrap().split(' ');
                let plain = |word: &str| {
                    let marked = escape && word.bytes().any(|byte| MARKS.contains(&byte));
                    !word.is_empty() && !word.contains(is_space) && !marked
                };
                ends_here && words.into_iter().all(plain)
            });
        ends.max().unwrap_or(0)
    }

    proptest::proptest! {
        #[test]
        fn pieces_change_nothing(text in "([a-z]{1,9}| |[a-z]{30,70} ?|é|©|\u{a0}|\n|\\*|  ){0,40}", escape: bool) {
            let text = text.trim_start_matches(is_space);
            proptest::prop_assert_eq!(plain_length(text, escape), told_slowly(text, escape));
        }
    }
}
