//! The child's audit trail: one line for each call, added and never changed; names, hashes and lengths.

use crate::report::clean;
use crate::workspace::{LOGS, Workspace, WorkspaceError};
use blastshield_audit::{Fingerprint, Time};
use blastshield_leak::Scanner;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;

const MAX_NAME: usize = 64;
const MAX_PLACE: usize = 200;
/// Lines that wait at most before they are written.
const BUFFER: usize = 16 << 10;

/// An open `logs/audit.jsonl`.
#[derive(Debug)]
pub struct Trail {
    file: File,
    waiting: Vec<u8>,
    lines: u64,
}

impl Trail {
    /// Opens the trail of a workspace to add to it.
    ///
    /// # Errors
    /// When it is no plain file or cannot be written.
    pub fn open(workspace: &Workspace) -> Result<Self, WorkspaceError> {
        let logs = workspace.folder().child(LOGS)?;
        Ok(Self {
            file: logs.append("audit.jsonl")?,
            waiting: Vec::new(),
            lines: 0,
        })
    }

    /// Notes a tool call: what was called, on which place, and of its content hash and length.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn call(
        &mut self,
        tool: &str,
        place: &str,
        content: Option<&Fingerprint>,
        redact: &Scanner,
        now: Time,
    ) -> Result<(), WorkspaceError> {
        let content = content
            .map(|content| json!({"sha256": content.sha256.to_string(), "length": content.length}));
        let line = json!({
            "time": now.to_string(),
            "tool": clean(tool, redact, MAX_NAME),
            "place": clean(place, redact, MAX_PLACE),
            "content": content,
        });
        self.line(&line)
    }

    /// Notes something that is no call.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn event(&mut self, what: &str, redact: &Scanner, now: Time) -> Result<(), WorkspaceError> {
        self.line(&json!({"time": now.to_string(), "event": clean(what, redact, MAX_PLACE)}))
    }

    fn line(&mut self, line: &Value) -> Result<(), WorkspaceError> {
        self.waiting.extend_from_slice(line.to_string().as_bytes());
        self.waiting.push(b'\n');
        self.lines += 1;
        if self.waiting.len() >= BUFFER {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), WorkspaceError> {
        if !self.waiting.is_empty() {
            self.file.write_all(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// How many lines this session added.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Writes what waits and makes it last.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn flush(&mut self) -> Result<(), WorkspaceError> {
        self.write()?;
        self.file.sync_data()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn lines_are_added_and_hold_no_content() {
        let place = tempfile::tempdir().unwrap();
        let workspace = Workspace::lay_out(Folder::open(place.path()).unwrap()).unwrap();
        let scanner = Scanner::shipped();
        for _ in 0..2 {
            let mut trail = Trail::open(&workspace).unwrap();
            let print = Fingerprint::of("the content");
            trail
                .call(
                    "web_fetch",
                    "moltbook.com/threads/1",
                    Some(&print),
                    &scanner,
                    Time::from_millis(1),
                )
                .unwrap();
            trail
                .event("started\nforged line", &scanner, Time::from_millis(2))
                .unwrap();
            trail.flush().unwrap();
        }
        let text = std::fs::read_to_string(place.path().join("logs/audit.jsonl")).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert!(!text.contains("the content"));
        for line in text.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok());
        }
    }
}
