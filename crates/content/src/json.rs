//! JSON, indented and otherwise as it is.

use std::fmt::Write as _;

use serde_json::Value;

use crate::page::Hidden;
use crate::read::{finish, visible};
use crate::{ContentError, Kind, Page};

/// Reads a JSON document, or one per line. Nesting is bounded by the parser (128 levels).
pub(crate) fn read(text: &str) -> Result<Page, ContentError> {
    let mut page = Page::empty(Kind::Json);
    let mut hidden = Hidden::default();
    let text = text.trim_start_matches(")]}'").trim();
    let pretty = match serde_json::from_str::<Value>(text) {
        Ok(value) => pretty(&value),
        Err(error) => lines(text).ok_or(if error.to_string().contains("recursion limit") {
            ContentError::TooDeep
        } else {
            ContentError::Malformed { format: "JSON" }
        })?,
    };
    page.content = visible(&pretty, &mut page, &mut hidden);
    page.summary = lead(&page.content);
    Ok(finish(page, hidden))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// JSON lines: every line a document.
fn lines(text: &str) -> Option<String> {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line.trim_start_matches('\u{1e}')).ok()?;
        let _ = writeln!(out, "{value}");
    }
    (!out.is_empty()).then_some(out)
}

fn lead(content: &str) -> String {
    let first: String = content
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(200)
        .collect();
    if content.chars().nth(200).is_some() {
        format!("{first}…")
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_lines() {
        assert_eq!(
            read("{\"a\":[1,\"x\"]}").unwrap().content,
            "{\n  \"a\": [\n    1,\n    \"x\"\n  ]\n}"
        );
        assert_eq!(
            read("{\"a\":1}\n{\"a\":2}\n").unwrap().content,
            "{\"a\":1}\n{\"a\":2}"
        );
    }

    #[test]
    fn nonsense_and_depth_are_refused() {
        assert_eq!(read("{"), Err(ContentError::Malformed { format: "JSON" }));
        assert_eq!(read(&"[".repeat(100_000)), Err(ContentError::TooDeep));
    }
}
