//! Markdown links without their targets.

/// Keeps the text of links and drops where they lead.
pub(crate) fn without_targets(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        out.push(']');
        rest = match after.split_once(')') {
            Some((target, tail)) if !target.contains(char::is_whitespace) => tail,
            _ => {
                out.push('(');
                after
            }
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_and_targets_go() {
        assert_eq!(
            without_targets("see [the docs](https://a.example/x) and [b](c d) [e](f"),
            "see [the docs] and [b](c d) [e](f"
        );
        assert_eq!(without_targets("no links"), "no links");
    }
}
