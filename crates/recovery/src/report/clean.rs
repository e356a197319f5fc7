//! Words that come from elsewhere, fit for a report.

use blastshield_leak::Scanner;

/// Redacted, in one line, and at most so many characters.
pub(crate) fn clean(text: &str, redact: &Scanner, most: usize) -> String {
    // Cut before it is searched: a hostile text may be long, and what is cut cannot leak. A secret on the edge loses its
    // end and may pass unseen, so the edge itself is cut again.
    let bounded: String = text.chars().take(most * 4).collect();
    let redacted = redact.redact(&bounded);
    let line: String = redacted
        .chars()
        .map(|c| {
            if c.is_control() || is_invisible(c) {
                ' '
            } else {
                c
            }
        })
        .collect();
    let line = without_paths(&line);
    if line.chars().count() > most {
        let mut cut: String = line.chars().take(most - 1).collect();
        cut.push('…');
        return cut;
    }
    line
}

/// Characters that turn or hide what stands around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' | '\u{ad}' | '\u{61c}' | '\u{180e}')
}

/// Paths of the system say where things lie: only their last step stays. What follows a name, as in an address, is no
/// such path.
pub(super) fn without_paths(line: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "\"'`()<>[]{},;|".contains(c);
    let mut out = String::with_capacity(line.len());
    let mut before = ' ';
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let follows = rest.clone().next().unwrap_or(' ');
        let free = !before.is_alphanumeric() && !"/.-_~%".contains(before);
        let begins = c == '/' && (free || out.ends_with("://"));
        if begins && (follows.is_alphanumeric() || "._~".contains(follows)) {
            let path: String = rest.clone().take_while(|c| !ends(*c)).collect();
            rest.nth(path.chars().count().saturating_sub(1));
            let last = path.trim_end_matches('/').rsplit('/').next();
            out.push_str("…/");
            out.push_str(last.unwrap_or_default());
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}
