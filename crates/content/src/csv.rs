//! Values separated by commas, semicolons or tabs.

use crate::page::Hidden;
use crate::read::{finish, visible};
use crate::{Kind, Mode, Page};

const MAX_COLUMNS: usize = 256;

/// Reads a table. In markdown a small one becomes a table; a large one stays as it is.
pub(crate) fn read(text: &str, mode: Mode) -> Page {
    let mut page = Page::empty(Kind::Csv);
    let mut hidden = Hidden::default();
    let clean = visible(text, &mut page, &mut hidden);
    let rows = if mode == Mode::Markdown && clean.len() <= 256 * 1024 {
        rows(&clean)
    } else {
        None
    };
    page.content = match rows {
        Some(rows) => table(&rows),
        None => clean,
    };
    page.summary = page
        .content
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect();
    finish(page, hidden)
}

fn table(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        out.push('|');
        for column in 0..width {
            let cell = row.get(column).map(String::as_str).unwrap_or_default();
            out.push(' ');
            out.push_str(
                &cell
                    .replace(['\n', '\r'], " ")
                    .replace('|', "\\|")
                    .replace('<', "\\<"),
            );
            out.push_str(" |");
        }
        out.push('\n');
        if number == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Splits by the separator that the first line has most of; `None` if this is no table.
fn rows(text: &str) -> Option<Vec<Vec<String>>> {
    let first = text.lines().next()?;
    let separator = [',', ';', '\t']
        .into_iter()
        .max_by_key(|separator| first.matches(*separator).count())?;
    if !first.contains(separator) {
        return None;
    }
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut()?;
        if row.len() > MAX_COLUMNS {
            return None;
        }
        let cell = row.last_mut()?;
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            '\n' if !quoted => rows.push(vec![String::new()]),
            '\r' if !quoted => {}
            c if c == separator && !quoted => row.push(String::new()),
            c => cell.push(c),
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_tables() {
        let page = read("a,b\n\"x, \"\"y\"\"\",1|2\n", Mode::Markdown);
        assert_eq!(
            page.content,
            "| a | b |\n| --- | --- |\n| x, \"y\" | 1\\|2 |"
        );
        assert_eq!(read("a,b\n1,2\n", Mode::Text).content, "a,b\n1,2");
    }
}
