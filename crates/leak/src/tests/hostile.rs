//! Inputs made to be slow or to break a place. Work is counted in findings and bytes, never in time.

use crate::{Scanner, Scope};

const UNITS: &[&str] = &[
    "sk-",
    " sk-aB3",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN ",
    "key=",
    "password: ",
    "token=\"",
    "@",
    "a@b.c",
    "://",
    "x://a:b@",
    "1 ",
    "1:",
    "::",
    "12-",
    "+1 ",
    "4111 ",
    "DE89 ",
    "%41",
    "&#65;",
    "\\u0041",
    "\u{200b}",
    "ａ",
    "abandon ",
    "a ",
    "ab ",
    "abc-",
    "aGVsbG8g",
    "6b6579",
    "curl -u a:",
    "AKIA",
    "ghp_",
    "basic ",
    "bearer ",
    "lnbc1",
    "\n",
    "\"",
    "é",
    "CANARY_",
    "private_key=",
    "xoxb-1-",
    "-ks ",
    " fx-",
];

#[test]
fn every_unit_repeated_is_read_to_its_end() {
    let scanner = Scanner::builder()
        .key([2; 32])
        .register("A", "sk-aB3 sk-aB3")
        .build()
        .unwrap();
    for unit in UNITS {
        let text = unit.repeat(20_000 / unit.len());
        for finding in scanner.scan_with(&text, Scope::ALL) {
            assert!(text.get(finding.span()).is_some(), "{unit}");
        }
    }
}

#[test]
fn a_key_behind_decoys_is_still_found() {
    let key = ["ghp", "_", "8fK2mQ7xT4vL9pR3wZ6nB1cY5dJ0hG8sA2eU"].concat();
    let scanner = Scanner::shipped();
    for unit in UNITS
        .iter()
        .filter(|unit| !unit.starts_with("-----") && !unit.contains("BEGIN"))
    {
        let text = format!("{}\n\n{key} .", unit.repeat(5_000 / unit.len()));
        let found = scanner.scan_with(&text, Scope::SECRETS);
        assert!(
            found.iter().any(
                |finding| text[finding.span()].contains("8fK2mQ7xT4vL9pR3wZ6nB1cY5dJ0hG8sA2eU")
            ),
            "{unit:?}"
        );
    }
}
