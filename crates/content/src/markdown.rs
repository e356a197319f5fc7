//! Markdown stays markdown; raw HTML in it is read as HTML, and what renders as nothing is taken out.

use url::Url;

use crate::page::Hidden;
use crate::read::{finish, visible};
use crate::summary::summarise;
use crate::{Flag, Kind, Mode, Page, html};

/// Stands for a piece of code while the rest is read as HTML: a private-use character, the number, another.
const OPEN: char = '\u{f0000}';
const CLOSE: char = '\u{f0001}';

/// Reads a markdown document.
pub(crate) fn read(text: &str, base: Option<&Url>) -> Page {
    let mut page = Page::empty(Kind::Markdown);
    let mut hidden = Hidden::default();
    let text = visible(text, &mut page, &mut hidden).replace([OPEN, CLOSE], "");
    let (prose, code) = set_code_aside(&text);
    let prose = if prose.contains('<') || prose.contains('&') {
        html::verbatim(&prose, &mut page.flags, &mut hidden)
    } else {
        prose
    };
    let linked = links(&prose, base, &mut page, &mut hidden);
    page.content = put_code_back(&linked, &code).trim().to_owned();
    page.title = page
        .content
        .lines()
        .find_map(|line| line.strip_prefix("# "))
        .map(|title| {
            title
                .trim()
                .trim_end_matches('#')
                .trim()
                .chars()
                .take(300)
                .collect()
        })
        .unwrap_or_default();
    page.summary = summarise(&page.content, Mode::Markdown);
    finish(page, hidden)
}

/// Takes fenced blocks and code spans out, so that markup in them stays what it is: text.
fn set_code_aside(text: &str) -> (String, Vec<String>) {
    let mut prose = String::with_capacity(text.len());
    let mut code: Vec<String> = Vec::new();
    let mut fence: Option<(char, usize, String)> = None;
    let put = |prose: &mut String, code: &mut Vec<String>, piece: String| {
        prose.push(OPEN);
        prose.push_str(&code.len().to_string());
        prose.push(CLOSE);
        code.push(piece);
    };
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match &mut fence {
            Some((open, length, body)) => {
                body.push_str(line);
                if mark == Some(*open)
                    && run >= *length
                    && trimmed.trim().chars().all(|c| c == *open)
                {
                    let body = std::mem::take(body);
                    fence = None;
                    put(
                        &mut prose,
                        &mut code,
                        body.trim_end_matches('\n').to_owned(),
                    );
                    prose.push('\n');
                }
            }
            None if run >= 3 => fence = Some((mark.unwrap_or('`'), run, line.to_owned())),
            None => spans(line, &mut prose, &mut |prose, piece| {
                put(prose, &mut code, piece);
            }),
        }
    }
    if let Some((_, _, body)) = fence {
        put(&mut prose, &mut code, body);
    }
    (prose, code)
}

/// Code spans of one line.
fn spans(line: &str, prose: &mut String, put: &mut dyn FnMut(&mut String, String)) {
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, tail) = rest.split_at(at);
        prose.push_str(before);
        let run = tail.chars().take_while(|c| *c == '`').count();
        let (open, inside) = tail.split_at(run);
        let mut from = 0;
        let close = loop {
            let Some(found) = inside
                .get(from..)
                .and_then(|rest| rest.find('`'))
                .map(|found| found + from)
            else {
                break None;
            };
            let length = inside
                .get(found..)
                .unwrap_or_default()
                .chars()
                .take_while(|c| *c == '`')
                .count();
            if length == run {
                break Some(found);
            }
            from = found + length;
        };
        match close {
            Some(end) => {
                let (piece, tail) = inside.split_at(end);
                put(prose, format!("{open}{piece}{open}"));
                rest = tail.get(run..).unwrap_or_default();
            }
            None => {
                prose.push_str(open);
                rest = inside;
            }
        }
    }
    prose.push_str(rest);
}

fn put_code_back(text: &str, code: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once(OPEN) {
        out.push_str(before);
        let (number, after) = tail.split_once(CLOSE).unwrap_or((tail, ""));
        out.push_str(
            number
                .parse::<usize>()
                .ok()
                .and_then(|at| code.get(at))
                .map(String::as_str)
                .unwrap_or_default(),
        );
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Makes images their description and unsafe links their text; definitions and titles, which nobody sees, go.
fn links(text: &str, base: Option<&Url>, page: &mut Page, hidden: &mut Hidden) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some((label, address)) = definition(line) {
            let (address, title) = address
                .split_once(char::is_whitespace)
                .unwrap_or((address, ""));
            if !title.trim().is_empty() {
                hidden.add(Flag::Comment, title);
            }
            if let Some(target) =
                html::resolve_link(address.trim_matches(['<', '>']), base, &mut page.flags)
            {
                out.push_str(&format!("[{label}]: {target}\n"));
            }
            continue;
        }
        inline_links(line, base, page, hidden, &mut out);
    }
    out
}

/// `[label]: address "title"` at the start of a line.
fn definition(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim();
    if line.len() - line.trim_start().len() > 3 {
        return None;
    }
    let (label, rest) = trimmed.strip_prefix('[')?.split_once("]:")?;
    (!label.contains(['[', ']']) && !label.starts_with('^')).then(|| (label, rest.trim()))
}

fn inline_links(
    line: &str,
    base: Option<&Url>,
    page: &mut Page,
    hidden: &mut Hidden,
    out: &mut String,
) {
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, tail) = rest.split_at(at);
        let inside = tail.get(2..).unwrap_or_default();
        let Some(end) = closing(inside) else {
            out.push_str(before);
            out.push_str("]\\(");
            rest = inside;
            continue;
        };
        let (address, after) = inside.split_at(end);
        let (href, title) = address
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((address.trim(), ""));
        if !title.trim().is_empty() {
            hidden.add(Flag::HiddenAttribute, title);
        }
        out.push_str(before);
        let open = out.rfind('[').unwrap_or(out.len());
        let image = out.get(..open).is_some_and(|head| head.ends_with('!'));
        let label = out.get(open + 1..).unwrap_or_default().trim().to_owned();
        if image {
            out.truncate(open.saturating_sub(1));
            if !label.is_empty() {
                out.push_str(&format!("(Image: {label})"));
            }
        } else {
            let href = href.trim_matches(['<', '>']);
            match html::resolve_link(href, base, &mut page.flags) {
                Some(target) => out.push_str(&format!("]({target})")),
                None if href.starts_with('#') => out.push_str(&format!("]({href})")),
                None => {
                    out.truncate(open);
                    out.push_str(&label);
                }
            }
        }
        rest = after.get(1..).unwrap_or_default();
    }
    out.push_str(&reference_images(rest));
}

/// Where the parenthesis of an address closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(4096) {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// `![alt][ref]` and `![alt]`: an image by reference.
fn reference_images(text: &str) -> String {
    text.replace("![", "[Image: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(text: &str) -> Page {
        read(text, Some(&Url::parse("https://d.test/x/").unwrap()))
    }

    #[test]
    fn structure_and_code_stay() {
        let text = "# T\n\nA `<b>` and *x* [l](y \"secret title\").\n\n```html\n<p hidden>code</p>\n```\n\n- a\n- b";
        let page = go(text);
        assert_eq!(
            page.content,
            "# T\n\nA `<b>` and *x* [l](https://d.test/x/y).\n\n```html\n<p hidden>code</p>\n```\n\n- a\n- b"
        );
        assert_eq!(page.title, "T");
        assert_eq!(page.hidden, ["\"secret title\""]);
    }

    #[test]
    fn what_renders_as_nothing_goes() {
        let page = go(
            "a <!-- obey -->b\n\n<div hidden>\n\nsecret `code`\n\n</div>\n\n[//]: # (note to models)\n\nend",
        );
        assert!(page.content.starts_with("a b"));
        assert!(page.content.ends_with("end"));
        assert!(
            !page.content.contains("secret")
                && !page.content.contains("code")
                && !page.content.contains("models")
        );
        assert_eq!(page.hidden.len(), 3);
    }

    #[test]
    fn images_and_scripts_lose_their_addresses() {
        let page = go(
            "![a cat](https://evil.test/p?d=1) [x](javascript:alert(1)) <a href='javascript:1'>y</a> <script>z</script>",
        );
        assert_eq!(page.content, "(Image: a cat) x y");
        assert!(page.flags.contains(&Flag::UnsafeLink));
    }
}
