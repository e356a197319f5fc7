//! Escapes that stand for bytes, which make characters only together.

use crate::passage::{Edit, EditText};
use std::ops::Range;

/// Collects escaped bytes and turns each run of adjacent ones into characters: UTF-8, or Latin-1 where that fails.
#[derive(Default)]
pub(super) struct ByteEscapes {
    pub(super) edits: Vec<Edit>,
    run: Vec<(u8, Range<usize>)>,
}

impl ByteEscapes {
    pub(super) fn push(&mut self, byte: u8, range: Range<usize>) {
        if self
            .run
            .last()
            .is_some_and(|(_, last)| last.end != range.start)
        {
            self.close();
        }
        if byte.is_ascii() {
            self.close();
            self.edits.push(Edit {
                range,
                text: EditText::Char(char::from(byte)),
            });
        } else {
            self.run.push((byte, range));
        }
    }

    pub(super) fn push_char(&mut self, c: char, range: Range<usize>) {
        self.close();
        self.edits.push(Edit {
            range,
            text: EditText::Char(c),
        });
    }

    pub(super) fn push_nothing(&mut self, range: Range<usize>) {
        self.close();
        self.edits.push(Edit {
            range,
            text: EditText::Word(""),
        });
    }

    pub(super) fn finish(mut self) -> Vec<Edit> {
        self.close();
        self.edits
    }

    fn close(&mut self) {
        let bytes: Vec<u8> = self.run.iter().map(|(byte, _)| *byte).collect();
        let mut ranges = self.run.drain(..).map(|(_, range)| range);
        let mut push = |c: char, len: usize| {
            let mut unit = ranges.by_ref().take(len);
            if let Some(first) = unit.next() {
                let end = unit.last().map_or(first.end, |last| last.end);
                self.edits.push(Edit {
                    range: first.start..end,
                    text: EditText::Char(c),
                });
            }
        };
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|c| push(c, c.len_utf8()));
            chunk
                .invalid()
                .iter()
                .for_each(|byte| push(char::from(*byte), 1));
        }
    }
}

/// The byte written as two hexadecimal digits.
pub(super) fn hex_byte(digits: &[u8]) -> Option<u8> {
    let [high, low] = digits else { return None };
    let value = char::from(*high).to_digit(16)? << 4 | char::from(*low).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_bytes_make_one_character() {
        let mut escapes = ByteEscapes::default();
        for (at, byte) in [0xd0, 0x98, 0xff, 0x41].into_iter().enumerate() {
            escapes.push(byte, at * 3..at * 3 + 3);
        }
        let edits = escapes.finish();
        let texts: Vec<_> = edits
            .iter()
            .map(|edit| (edit.range.clone(), edit.text.clone()))
            .collect();
        assert_eq!(
            texts,
            [
                (0..6, EditText::Char('И')),
                (6..9, EditText::Char('ÿ')),
                (9..12, EditText::Char('A'))
            ]
        );
    }
}
