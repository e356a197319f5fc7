//! What stands around a marker and shows nothing: rules, and empty lines in all their spellings.

use super::MAX_SIGNS;
use crate::glyph::{self, JOINT, NOTHING, SPACE};

/// Bytes looked back over to find an empty line.
const MAX_BLANK: usize = 64;

/// Three dashes, stars or dots in a row, white space aside.
pub(super) fn is_rule(chars: impl Iterator<Item = char>) -> bool {
    let mut looks = chars.map(glyph::look).take(MAX_SIGNS);
    let mut joints = 0;
    for look in &mut looks {
        match look {
            JOINT => joints += 1,
            SPACE | NOTHING => {}
            _ => break,
        }
    }
    joints >= 3
}

/// Whether an empty line ends `before`, written out or escaped.
pub(super) fn after_empty_line(before: &str) -> bool {
    let tail = before
        .get(before.ceil_char_boundary(before.len().saturating_sub(MAX_BLANK))..)
        .unwrap_or_default();
    let mut breaks = 0;
    let mut rest = tail;
    while let Some((shorter, is_break)) = without_blank(rest) {
        breaks += usize::from(is_break);
        rest = shorter;
    }
    // A text begins on a line of its own.
    let from_the_start = rest.is_empty() && tail.len() == before.len();
    breaks + usize::from(from_the_start) >= 2
}

/// `text` without the blank at its end, and whether that was a line break.
fn without_blank(text: &str) -> Option<(&str, bool)> {
    for (escape, is_break) in [
        ("\\n", true),
        ("\\r", false),
        ("\\t", false),
        ("&#10;", true),
        ("&#xa;", true),
        ("&#xA;", true),
        ("%0A", true),
        ("%0a", true),
        ("<br>", true),
    ] {
        if let Some(shorter) = text.strip_suffix(escape) {
            return Some((shorter, is_break));
        }
    }
    let last = text.chars().next_back()?;
    let is_break = matches!(
        last,
        '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    );
    let is_blank = is_break || matches!(glyph::look(last), SPACE | NOTHING);
    is_blank.then(|| (text.strip_suffix(last).unwrap_or_default(), is_break))
}
