//! The entries of a memory file: headings, list items, paragraphs, code blocks.

use crate::hex::sha256;

/// Hexadecimal digits of an entry's hash.
const HASH_DIGITS: usize = 32;
/// More entries than this in one file are taken as one last entry.
const MAX_ENTRIES: usize = 16_384;

/// One entry of a memory file: its place and its hash, never its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First byte in the file.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// Its first line, counted from one.
    pub line: usize,
    /// Half of the SHA-256 of its text without the white space around it, in hexadecimal.
    pub hash: String,
}

/// Takes a memory file apart. Every character that is not white space belongs to exactly one entry.
///
/// A list item begins an entry, with its indented continuation; so do a heading and the first line after an empty one. A
/// fenced block of code is one entry.
#[must_use]
pub fn entries(text: &str) -> Vec<Entry> {
    let mut splitter = Splitter {
        text,
        found: Vec::new(),
        open: None,
    };
    let mut fence: Option<char> = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim();
        let marker = fence_marker(trimmed);
        match fence {
            Some(open) => {
                if marker == Some(open) {
                    fence = None;
                    splitter.extend(at + line.len());
                    splitter.close();
                } else {
                    splitter.extend(at + line.len());
                }
            }
            None if marker.is_some() => {
                fence = marker;
                splitter.begin(at, index + 1, at + line.len());
            }
            None if trimmed.is_empty() => splitter.close(),
            None if is_heading(trimmed) => {
                splitter.begin(at, index + 1, at + line.len());
                splitter.close();
            }
            None if is_item(trimmed) => splitter.begin(at, index + 1, at + line.len()),
            None if splitter.open.is_some() => splitter.extend(at + line.len()),
            None => splitter.begin(at, index + 1, at + line.len()),
        }
        at += line.len();
    }
    splitter.close();
    splitter.found
}

struct Splitter<'t> {
    text: &'t str,
    found: Vec<Entry>,
    /// Start, line and end of the entry being read.
    open: Option<(usize, usize, usize)>,
}

impl Splitter<'_> {
    fn begin(&mut self, start: usize, line: usize, end: usize) {
        if self.found.len() + 1 >= MAX_ENTRIES && self.open.is_some() {
            self.extend(end);
            return;
        }
        self.close();
        self.open = Some((start, line, end));
    }

    fn extend(&mut self, to: usize) {
        if let Some((_, _, end)) = &mut self.open {
            *end = to;
        }
    }

    fn close(&mut self) {
        if self.found.len() + 1 >= MAX_ENTRIES {
            // The last entry takes in all that follows.
            if let Some((start, line, _)) = self.open.take() {
                self.found.truncate(MAX_ENTRIES - 1);
                self.open = Some((start, line, self.text.len()));
                self.push();
            }
            return;
        }
        self.push();
    }

    fn push(&mut self) {
        let Some((start, line, end)) = self.open.take() else {
            return;
        };
        let whole = self.text.get(start..end).unwrap_or_default();
        let body = whole.trim();
        let start = start + (whole.len() - whole.trim_start().len());
        let mut hash = sha256(body);
        hash.truncate(HASH_DIGITS);
        self.found.push(Entry {
            start,
            end: start + body.len(),
            line,
            hash,
        });
    }
}

fn fence_marker(line: &str) -> Option<char> {
    ['`', '~']
        .into_iter()
        .find(|mark| line.chars().take_while(|c| c == mark).count() >= 3)
}

fn is_heading(line: &str) -> bool {
    let level = line.chars().take_while(|c| *c == '#').count();
    (1..=6).contains(&level) && line.chars().nth(level).is_none_or(char::is_whitespace)
}

fn is_item(line: &str) -> bool {
    let rest = match line.strip_prefix(['-', '*', '+', '•']) {
        Some(rest) => rest,
        None => {
            let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let count = line.len() - digits.len();
            match digits.strip_prefix(['.', ')']) {
                Some(rest) if (1..=9).contains(&count) => rest,
                _ => return false,
            }
        }
    };
    rest.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<(usize, &str)> {
        entries(text)
            .iter()
            .map(|entry| (entry.line, &text[entry.start..entry.end]))
            .collect()
    }

    #[test]
    fn bullets_paragraphs_headings_and_code_are_entries() {
        let text = "# Notes\nFirst\nparagraph.\n\n- one\n  more of one\n* two\n1. three\n\n```\n- not an item\n\n```\nlast";
        assert_eq!(
            split(text),
            [
                (1, "# Notes"),
                (2, "First\nparagraph."),
                (5, "- one\n  more of one"),
                (7, "* two"),
                (8, "1. three"),
                (10, "```\n- not an item\n\n```"),
                (14, "last"),
            ]
        );
    }

    #[test]
    fn white_space_around_an_entry_is_not_part_of_it() {
        assert_eq!(entries("- a\r\n\r\n")[0].hash, entries("  - a")[0].hash);
        assert!(entries(" \n\n").is_empty());
    }

    #[test]
    fn a_flood_of_entries_is_bounded() {
        let text = "- a\n".repeat(MAX_ENTRIES + 100);
        let found = entries(&text);
        assert!(found.len() <= MAX_ENTRIES);
        assert_eq!(found.last().unwrap().end, text.trim_end().len());
    }

    proptest! {
        #[test]
        fn every_visible_character_is_in_one_entry(text in "[-#`~ab1. \\n\\r]{0,200}") {
            let mut last = 0;
            for entry in entries(&text) {
                prop_assert!(text[last..entry.start].trim().is_empty());
                prop_assert!(entry.start < entry.end);
                last = entry.end;
            }
            prop_assert!(text[last..].trim().is_empty());
        }
    }
}
