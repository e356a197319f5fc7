//! Inputs made to be slow or to break a place. Work is counted in findings and bytes, never in time.

use crate::{Scanner, Scope, work};

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
    "sk-aB-1C-",
    "sk-a1 B2 ",
    "key:",
    "key:'",
    "--key ",
    "begin private key ",
    "begin private key\n-----END",
    "begin private key\nPrivate-MAC",
    "a1B/",
    "token=aB3xY9 ",
    "AAAA",
    "12.12.",
    "fe80::",
    "1-",
    "DE8",
    "curl -u ",
    "eyJhbGciOiJ",
    "eyJ.",
    "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQg\n",
    "%2541",
    "abandon 1 ",
    "?key=",
    "SOUL.md",
    "memory/owner/",
    "b_",
    "|",
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

/// Bytes looked at for one unit, repeated to so many bytes: everywhere, at the text and at what is decoded from it.
fn cost(scanner: &Scanner, unit: &str, size: usize) -> usize {
    let text = unit.repeat(size / unit.len());
    work::of(|| {
        let _ = scanner.scan_with(&text, Scope::ALL);
    })
}

/// Twice the text, at most a little more than twice the work; and never more than so many looks at each byte.
#[test]
fn work_grows_with_the_size_and_no_faster() {
    const SIZE: usize = 16 << 10;
    const MOST: usize = 100;
    let registered = Scanner::builder()
        .key([2; 32])
        .register("A", "sk-aB3 sk-aB3")
        .register("B", "abcabcabcabc")
        .build()
        .unwrap();
    for scanner in [Scanner::shipped(), registered] {
        for unit in UNITS {
            let (once, twice) = (cost(&scanner, unit, SIZE), cost(&scanner, unit, 2 * SIZE));
            assert!(
                twice <= once * 2 + once / 4 + 4096,
                "{unit:?}: {once}, then {twice}"
            );
            assert!(
                once <= SIZE * MOST,
                "{unit:?}: {} looks at each byte",
                once / SIZE
            );
        }
    }
}

/// Heads of every rule, as close together as they can stand, with and without the beginning of a body.
#[test]
fn heads_of_every_rule_cost_no_more() {
    const SIZE: usize = 4 << 10;
    const MOST: usize = 80;
    let scanner = Scanner::shipped();
    for rule in crate::rules::RULES.iter() {
        for start in &rule.starts {
            for unit in [
                start.clone(),
                format!(" {start}"),
                format!("{start}aB1-"),
                format!("{start}a1 B2 "),
                format!("{start}\n"),
            ] {
                let looks = cost(&scanner, &unit, SIZE) / SIZE;
                assert!(looks <= MOST, "{}: {unit:?}: {looks} looks", rule.id);
            }
        }
    }
}

#[test]
fn a_key_behind_decoys_is_still_found() {
    let key = ["ghp", "_", "8fK2mQ7xT4vL9pR3wZ6nB1cY5dJ0hG8sA2eU"].concat();
    let scanner = Scanner::shipped();
    for unit in UNITS
        .iter()
        .filter(|unit| !unit.starts_with("-----") && !unit.to_uppercase().contains("BEGIN"))
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
