//! Removes characters that nobody sees and keeps those that scripts and emoji need.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::Flag;

/// Appends `text` to `out` without control, bidi and zero-width characters; says in `flags` what was removed.
/// Returns how many characters were removed.
pub(crate) fn clean_into(text: &str, out: &mut String, flags: &mut BTreeSet<Flag>) -> usize {
    if all_visible(text) {
        out.push_str(text);
        return 0;
    }
    let mut removed = 0;
    let mut before = out.chars().next_back().unwrap_or(' ');
    let mut rest = text.chars().peekable();
    out.reserve(text.len());
    while let Some(c) = rest.next() {
        match verdict(c, before, rest.peek().copied()) {
            Verdict::Keep => {
                out.push(c);
                before = c;
            }
            Verdict::Drop => {}
            Verdict::Remove(flag) => {
                flags.insert(flag);
                removed += 1;
            }
        }
    }
    removed
}

/// The same for a whole text, which is mostly given back as it is, with the number of characters removed.
pub(crate) fn cleaned<'a>(text: &'a str, flags: &mut BTreeSet<Flag>) -> (Cow<'a, str>, usize) {
    if all_visible(text) {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::new();
    let removed = clean_into(text, &mut out, flags);
    (Cow::Owned(out), removed)
}

/// The same for a whole text.
pub(crate) fn clean(text: &str, flags: &mut BTreeSet<Flag>) -> String {
    cleaned(text, flags).0.into_owned()
}

/// Whether every character is one of those that are kept wherever they stand.
fn all_visible(text: &str) -> bool {
    // Without a way out in the midst, a piece is looked at as a whole.
    let mut pieces = text.as_bytes().chunks(64);
    pieces.all(|piece| {
        piece
            .iter()
            .fold(true, |all, byte| all & is_printable(*byte))
    }) || text.chars().all(is_ordinary)
}

fn is_printable(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) | (byte == b'\n') | (byte == b'\t')
}

/// The blocks of common scripts and their punctuation, without what may be invisible.
fn is_ordinary(c: char) -> bool {
    matches!(c, ' '..='~' | '\n' | '\t' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{34e}' | '\u{350}'..='\u{61b}'
        | '\u{61d}'..='\u{115e}' | '\u{2010}'..='\u{2029}' | '\u{2030}'..='\u{205f}' | '\u{2070}'..='\u{3163}'
        | '\u{3165}'..='\u{fdff}')
}

enum Verdict {
    Keep,
    /// Without a remark: ordinary typography that carries no text.
    Drop,
    Remove(Flag),
}

fn verdict(c: char, before: char, after: Option<char>) -> Verdict {
    use Verdict::{Drop, Keep, Remove};
    if c < '\u{ad}' {
        return match c {
            '\n' | '\t' => Keep,
            '\0' => Remove(Flag::NulBytes),
            c if c.is_control() => Drop,
            _ => Keep,
        };
    }
    match c {
        '\u{ad}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{200b}' => Drop,
        '\u{200c}' | '\u{200d}' if joins(before) && after.is_some_and(joins) => Keep,
        '\u{200d}' if pictographic(before) && after.is_some_and(pictographic) => Keep,
        '\u{fe0e}' | '\u{fe0f}'
            if pictographic(before) || matches!(before, '0'..='9' | '#' | '*') =>
        {
            Keep
        }
        '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Remove(Flag::BidiControl),
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Remove(Flag::InvisibleCharacters),
        _ => Keep,
    }
}

/// Scripts in which a joiner or non-joiner changes what is written.
fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17ff}' | '\u{1800}'..='\u{180a}' | '\u{1810}'..='\u{18af}'
        | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{11fff}')
}

fn pictographic(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (String, Vec<Flag>) {
        let mut flags = BTreeSet::new();
        let out = clean(text, &mut flags);
        (out, flags.into_iter().collect())
    }

    #[test]
    fn ordinary_characters_are_kept_wherever_they_stand() {
        for c in ('\0'..=char::MAX).filter(|c| is_ordinary(*c)) {
            for (before, after) in [
                (' ', None),
                ('a', Some('a')),
                ('क', Some('क')),
                ('👩', Some('👩')),
            ] {
                assert!(matches!(verdict(c, before, after), Verdict::Keep), "{c:?}");
            }
        }
    }

    #[test]
    fn scripts_and_emoji_keep_their_joiners() {
        for text in ["می‌خواهم", "क्‍ष", "👨‍👩‍👧 ❤️ 1️⃣", "日本語 עברית"]
        {
            assert_eq!(told(text), (text.to_owned(), vec![]));
        }
    }

    #[test]
    fn joiners_between_latin_letters_go() {
        assert_eq!(
            told("i\u{200c}g\u{200d}n"),
            ("ign".into(), vec![Flag::InvisibleCharacters])
        );
        assert_eq!(told("a\u{e0041}\u{fe01}b").0, "ab");
    }

    #[test]
    fn overrides_are_removed_and_told() {
        assert_eq!(
            told("a\u{202e}b\u{2067}c"),
            ("abc".into(), vec![Flag::BidiControl])
        );
        assert_eq!(told("a\0b\u{1b}c"), ("abc".into(), vec![Flag::NulBytes]));
    }
}
