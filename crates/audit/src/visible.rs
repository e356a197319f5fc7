//! Texts that look like what they are: no character hides, reorders or steers, and what was cut is marked.

use std::fmt::Write as _;

/// Characters that hide, reorder or steer, written out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_control() || is_hidden(c) => {
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most `limit` bytes; what was cut is marked.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    const MARK: &str = "…[cut]";
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit.saturating_sub(MARK.len())));
        text.push_str(MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_stays_hidden() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[2Jc\nd\u{9b}e\u{200b}\u{e0041}"),
            "a<U+202E>b<U+001B>[2Jc\\nd<U+009B>e<U+200B><U+E0041>"
        );
        assert_eq!(visible("Grüße, 世界 🚨"), "Grüße, 世界 🚨");
    }
}
