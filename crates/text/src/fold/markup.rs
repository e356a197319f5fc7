//! Markup inside a word: emphasis, inline tags, comments and line-end hyphens that a reader never sees.

/// Elements that change how letters look but do not end a word.
const INLINE: [&[u8]; 24] = [
    b"b", b"i", b"u", b"s", b"em", b"tt", b"strong", b"span", b"wbr", b"font", b"mark", b"small",
    b"big", b"sub", b"sup", b"code", b"kbd", b"ins", b"del", b"strike", b"abbr", b"bdi", b"bdo",
    b"nobr",
];

/// Longest tag or comment that is looked for inside a word.
const MAX_TAG: usize = 64;

/// Longest stretch of blanks around a line break after a hyphen.
const MAX_INDENT: usize = 16;

/// If the markup at `at` stands between two letters, where it ends.
pub(super) fn joint(text: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|before| text.get(before))?;
    if !is_letter(*before) {
        return None;
    }
    let end = broken_line(text, at).unwrap_or_else(|| skip_elements(text, at));
    let joins = end > at && text.get(end).copied().is_some_and(is_letter);
    joins.then_some(end)
}

/// Non-ASCII bytes count as letters: whatever punctuation there was outside ASCII has been folded by now.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

fn broken_line(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"-").map(skip_blanks)?;
    let line = rest
        .strip_prefix(b"\r\n")
        .or_else(|| rest.strip_prefix(b"\n"))?;
    Some(text.len() - skip_blanks(line).len())
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .take(MAX_INDENT)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    text.get(blanks..).unwrap_or_default()
}

fn skip_elements(text: &[u8], mut at: usize) -> usize {
    while let Some(len) = text.get(at..).and_then(element) {
        at += len;
    }
    at
}

/// Length of the emphasis, tag or comment that `rest` begins with.
fn element(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'*' | b'`', ..] => Some(1),
        [b'_', b'_', ..] | [b'~', b'~', ..] => Some(2),
        [b'<', b'!', b'-', b'-', ..] => {
            let window = rest.get(..rest.len().min(MAX_TAG))?;
            window
                .windows(3)
                .skip(4)
                .position(|end| end == b"-->")
                .map(|found| found + 7)
        }
        [b'<', tag @ ..] => inline_tag(tag).map(|len| len + 1),
        _ => None,
    }
}

fn inline_tag(tag: &[u8]) -> Option<usize> {
    let window = tag.get(..tag.len().min(MAX_TAG))?;
    let name = window.strip_prefix(b"/").unwrap_or(window);
    let len = name
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (name, after) = name.split_at_checked(len)?;
    let known = INLINE
        .iter()
        .any(|inline| inline.eq_ignore_ascii_case(name));
    if !known
        || !matches!(
            after.first(),
            Some(b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r')
        )
    {
        return None;
    }
    let close = memchr::memchr2(b'>', b'<', after)?;
    (after.get(close) == Some(&b'>')).then_some(window.len() - after.len() + close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Option<&str> {
        let at = text.find(|c: char| !c.is_alphabetic()).unwrap();
        joint(text.as_bytes(), at).map(|end| &text[end..])
    }

    #[test]
    fn markup_between_letters_is_skipped() {
        assert_eq!(joined("ig**no"), Some("no"));
        assert_eq!(joined("ig__no"), Some("no"));
        assert_eq!(joined("ig~~no"), Some("no"));
        assert_eq!(joined("ig`no"), Some("no"));
        assert_eq!(joined("ig<b>no"), Some("no"));
        assert_eq!(joined("ig</b><i>no"), Some("no"));
        assert_eq!(joined("ig<span class=\"x\">no"), Some("no"));
        assert_eq!(joined("ig<!-- x -->no"), Some("no"));
        assert_eq!(joined("ig<!---->no"), Some("no"));
        assert_eq!(joined("ig-\r\n  no"), Some("no"));
        assert_eq!(joined("ig- \nno"), Some("no"));
    }

    #[test]
    fn other_punctuation_is_not() {
        for text in [
            "ig_no", "ig-no", "ig<no", "ig<br>no", "ig<b no", "ig** no", "ig*", "ig<p>no",
            "ig - no",
        ] {
            assert_eq!(joined(text), None, "{text}");
        }
        let long = format!("ig<span {}>no", "x".repeat(80));
        assert_eq!(joined(&long), None);
    }
}
