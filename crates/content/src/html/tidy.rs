//! Cuts what would make the tokenizer slow: it compares every attribute of a tag with all before it.

use std::borrow::Cow;

/// Attributes that a tag may have; what follows them in the tag is dropped.
const MAX_ATTRIBUTES: usize = 400;
/// Separators in one quoted value. A longer value is emptied: quotes that open in a script or a comment would otherwise
/// make a tag with thousands of attributes look like a value.
const MAX_SEPARATORS: usize = 3000;

/// The same document, with no tag of more than a few hundred attributes.
pub(crate) fn tidy(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some(found) = find(bytes, at, b'<') {
        at = found + 1;
        if bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            at = scan_tag(bytes, at, &mut cuts);
        }
    }
    if cuts.is_empty() {
        return Cow::Borrowed(html);
    }
    let mut out = String::with_capacity(html.len());
    let mut copied = 0;
    for (from, to) in cuts {
        out.push_str(html.get(copied..from).unwrap_or_default());
        copied = to;
    }
    out.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    memchr::memchr(wanted, bytes.get(from..)?).map(|at| at + from)
}

/// Follows a tag to its `>` and gives where it ends; what is too much in it goes to `cuts`.
fn scan_tag(bytes: &[u8], tag: usize, cuts: &mut Vec<(usize, usize)>) -> usize {
    let mut attributes = 0;
    let mut cut = None;
    let mut at = tag;
    let mut after_space = false;
    let mut value_may_follow = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'>' => break,
            b'"' | b'\'' if value_may_follow => {
                let Some(close) = find(bytes, at + 1, byte) else {
                    // An unclosed quote may be one in a script: go on behind it.
                    return at + 1;
                };
                if cut.is_none()
                    && has_many_separators(bytes.get(at + 1..close).unwrap_or_default())
                {
                    cuts.push((at + 1, close));
                }
                at = close;
                value_may_follow = false;
                after_space = true;
            }
            b'=' => {
                value_may_follow = true;
                after_space = false;
            }
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c | b'/' => after_space = true,
            _ => {
                if after_space && !value_may_follow {
                    attributes += 1;
                    if attributes > MAX_ATTRIBUTES && cut.is_none() {
                        cut = Some(at);
                    }
                }
                after_space = false;
                value_may_follow = false;
            }
        }
        at += 1;
    }
    if let Some(cut) = cut {
        cuts.push((cut, at));
    }
    at
}

fn has_many_separators(value: &[u8]) -> bool {
    value.len() > MAX_SEPARATORS
        && value
            .iter()
            .filter(|byte| {
                matches!(
                    byte,
                    b' ' | b'\n' | b'\t' | b'\r' | 0x0c | b'/' | b'=' | b'"' | b'\''
                )
            })
            .count()
            > MAX_SEPARATORS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_documents_are_not_copied() {
        let html = "<p class='a > b' title=\"x <y\">1 < 2</p><script>if (a<b && c=\"</script>";
        assert!(matches!(tidy(html), Cow::Borrowed(_)));
    }

    #[test]
    fn attributes_beyond_the_limit_go() {
        let many: String = (0..5000).map(|n| format!(" a{n}=\"v > {n}\"")).collect();
        let tidied = tidy(&format!("<p{many}>text</p>")).into_owned();
        assert!(tidied.len() < many.len() / 5);
        assert!(tidied.ends_with(">text</p>"));
    }

    #[test]
    fn a_quote_in_a_script_hides_no_attributes() {
        let many: String = (0..50_000).map(|n| format!(" a{n}=1")).collect();
        let tidied =
            tidy(&format!("<script>'<a x=\"'</script><p{many}>text</p>\"<p>")).into_owned();
        assert!(tidied.len() < many.len() / 5);
        let data = "x".repeat(100_000);
        assert!(matches!(
            tidy(&format!("<img src=\"data:{data}\">")),
            Cow::Borrowed(_)
        ));
    }
}
