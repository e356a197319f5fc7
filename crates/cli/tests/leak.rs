//! `blastshield leak` as people and programs use it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn blastshield(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_blastshield"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Assembled here, so that no scanner of a code host takes this file for a leak.
fn key() -> String {
    ["ghp", "_", "8fK2mQ7xT4vL9pR3wZ6nB1cY5dJ0hG8sA2eU"].concat()
}

#[test]
fn people_see_kind_and_place_and_never_the_value() {
    let output = blastshield(&["leak", "-"], &format!("hello\nmy token: {}\n", key()));
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    assert!(
        report.contains("-:2:11  github-token (credential)"),
        "{report}"
    );
    assert!(report.contains("1 scanned: 1 with findings"), "{report}");
    assert!(
        !report.contains("8fK2mQ7x") && report.contains("...[redacted]...A2eU"),
        "{report}"
    );
}

#[test]
fn clean_text_exits_zero_and_a_missing_file_two() {
    assert_eq!(
        blastshield(&["leak", "-"], "The harbour was quiet.")
            .status
            .code(),
        Some(0)
    );
    assert_eq!(
        blastshield(&["leak", "no-such-file"], "").status.code(),
        Some(2)
    );
}

#[test]
fn programs_get_one_document_a_file() {
    let output = blastshield(&["leak", "--json", "-"], &format!("x {}", key()));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["decision"], "block");
    assert_eq!(document["matches"][0]["kind"], "github-token");
    assert_eq!(document["matches"][0]["start"], 2);
    assert!(!text(&output.stdout).contains("8fK2mQ7x"));
}

#[test]
fn rows_are_answered_in_order() {
    let rows = format!(
        "{{\"id\":7,\"text\":\"key {}\"}}\n{{\"text\":\"fine\"}}\n",
        key()
    );
    for arguments in [&["leak", "--jsonl", "-"][..], &["leak", "--jsonl"]] {
        let output = blastshield(arguments, &rows);
        assert_eq!(output.status.code(), Some(1));
        let answers: Vec<Value> = text(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), 2);
        assert_eq!(
            (&answers[0]["id"], &answers[0]["decision"]),
            (&7.into(), &"block".into())
        );
        assert_eq!(answers[0]["matches"][0]["end"], 44);
        assert_eq!(
            (&answers[1]["id"], &answers[1]["decision"]),
            (&Value::Null, &"allow".into())
        );
    }
    let broken = blastshield(&["leak", "--jsonl", "-"], "{\"id\":1}\n");
    assert_eq!(broken.status.code(), Some(2));
}

#[test]
fn the_rule_list_in_the_docs_is_current() {
    let table = text(&blastshield(&["leak", "--rules", "--markdown"], "").stdout);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/leaks.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    assert!(
        docs.contains(table.trim()),
        "put the output of `blastshield leak --rules --markdown` into docs/leaks.md"
    );
}
