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

const BYTES: [Byte; 256] = bytes(b"\\`*_[]<~");
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

/// How much of a text that begins with a word can be copied as it is: whole words with one space between them, and
/// nothing in them to be escaped. Not at the start of a line.
pub(crate) fn plain_length(text: &str, escape: bool) -> usize {
    let table = if escape { &BYTES } else { &BYTES_OF_CODE };
    let bytes = text.as_bytes();
    // Where the word begins that is being read.
    let mut word = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
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
}
