//! Requests as a person reads them, with nothing that could steer a terminal.

use crate::scan::visible;
use comfy_table::{Table, presets};
use serde_json::Value;
use std::io::{self, Write};

pub(super) fn whole(request: &Value) -> String {
    let state = match text(request, "/state").as_str() {
        "pending" => format!("Time left: {}", left(request)),
        _ => outcome(request),
    };
    format!("{}\n\n{state}", shown(request))
}

/// The message, line by line, with nothing that could steer a terminal.
pub(super) fn shown(request: &Value) -> String {
    let lines: Vec<String> = raw(request, "/owner/shown")
        .lines()
        .map(visible::line)
        .collect();
    lines.join("\n")
}

pub(super) fn outcome(request: &Value) -> String {
    let by = text(request, "/owner/decided_by");
    let scope = text(request, "/owner/scope");
    let scope = if scope.is_empty() {
        scope
    } else {
        format!(" ({scope})")
    };
    let (id, state) = (text(request, "/id"), text(request, "/state"));
    if by.is_empty() {
        return format!("{id}: {state}");
    }
    format!("{id}: {state}{scope} through {by}")
}

/// What a request is about, in a few words: its host or its first detail.
pub(super) fn about(request: &Value) -> String {
    let host = text(request, "/owner/host");
    if !host.is_empty() {
        return host;
    }
    let shown = raw(request, "/owner/shown");
    let details = shown
        .lines()
        .skip_while(|line| !line.starts_with("Details"));
    let first = details.filter_map(|line| line.strip_prefix("  ")).next();
    let line: String = visible::line(first.unwrap_or_default());
    line.chars().take(60).collect()
}

pub(super) fn ago(request: &Value) -> String {
    let made = request
        .get("created_ms")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    format!("{} ago", span(now_ms() - made))
}

pub(super) fn left(request: &Value) -> String {
    let until = request
        .get("expires_ms")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    match text(request, "/state").as_str() {
        "pending" => span(until - now_ms()),
        _ => String::new(),
    }
}

pub(super) fn span(ms: i64) -> String {
    let seconds = (ms / 1000).max(0);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

pub(super) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

fn raw<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(super) fn text(value: &Value, pointer: &str) -> String {
    visible::line(raw(value, pointer))
}

pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(header);
    table
}

pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
