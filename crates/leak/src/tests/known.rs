//! Registered values, ids and canaries, by value.

use super::sample;
use crate::{BuildError, Canary, Class, Scanner, Scope, Severity};

const VALUE: &str = "Blue+Harbour/42-tides";

fn scanner() -> Scanner {
    Scanner::builder()
        .key([9; 32])
        .register("WALLET_PASS", VALUE)
        .build()
        .unwrap()
}

fn names(scanner: &Scanner, text: &str) -> Vec<String> {
    let found = scanner.scan_with(text, Scope::REGISTERED | Scope::CANARIES);
    assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
    found
        .iter()
        .map(|finding| finding.name.as_deref().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_registered_value_is_found_in_every_spelling() {
    let scanner = scanner();
    let bytes = VALUE.as_bytes();
    let phases =
        (0..3).map(|lead| sample::base64(format!("{}{VALUE}tail", "~".repeat(lead)).as_bytes()));
    let binary = sample::base64(&[&[0xFF, 0x00, 0x81, 0x02][..], bytes, &[0xFE, 0x03]].concat());
    let mut forms: Vec<String> = phases.collect();
    forms.extend([
        VALUE.to_owned(),
        VALUE.to_uppercase(),
        format!("x{VALUE}y"),
        binary,
        sample::base64(bytes).replace('+', "-").replace('/', "_"),
        sample::hex(bytes),
        sample::hex(bytes).to_uppercase(),
        bytes.iter().map(|b| format!("%{b:02x}")).collect(),
        VALUE.replace('+', "%2B").replace('/', "%2F"),
        VALUE.chars().rev().collect(),
        VALUE.chars().map(|c| format!("{c}\u{200b}")).collect(),
        VALUE.chars().map(|c| format!("{c} ")).collect(),
        VALUE.chars().map(|c| format!("{c}--")).collect(),
        "Blue Harbour 42 tides".to_owned(),
        sample::base64(sample::base64(bytes).as_bytes()),
    ]);
    for form in forms {
        let text = format!("see {form} there");
        assert_eq!(names(&scanner, &text), ["WALLET_PASS"], "{form}");
    }
    assert!(names(&scanner, "Blue Harbour 43 tides").is_empty());
}

fn utf16(text: &str, little: bool) -> Vec<u8> {
    let bytes = |unit: u16| {
        if little {
            unit.to_le_bytes()
        } else {
            unit.to_be_bytes()
        }
    };
    text.encode_utf16().flat_map(bytes).collect()
}

fn each(text: &str, spell: impl Fn(u8) -> String) -> String {
    text.bytes().map(spell).collect()
}

fn rot13(text: &str) -> String {
    each(text, |b| {
        let turned = match b {
            b'a'..=b'z' => (b - b'a' + 13) % 26 + b'a',
            b'A'..=b'Z' => (b - b'A' + 13) % 26 + b'A',
            b => b,
        };
        char::from(turned).to_string()
    })
}

/// What people and programs do to a value on its way out, each with a name.
fn dressed(value: &str) -> Vec<(&'static str, String)> {
    let once = |text: &str| sample::base64(text.as_bytes());
    let hex = sample::hex(value.as_bytes());
    let pairs = |between: &str| each(value, |b| format!("{b:02x}{between}"));
    let safe = |text: String| text.replace('+', "-").replace('/', "_").replace('=', "");
    let wrapped = |text: &str, width: usize| {
        let lines = text.as_bytes().chunks(width);
        let lines: Vec<&str> = lines
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        lines.join("\n")
    };
    let mut forms = vec![
        ("as it is", value.to_owned()),
        ("in a word", format!("x{value}y")),
        ("hex", hex.clone()),
        ("hex in capitals", hex.to_uppercase()),
        ("hex after 0x", format!("0x{hex}")),
        ("hex with colons", pairs(":")),
        ("hex with spaces", pairs(" ")),
        ("hex escapes", each(value, |b| format!("\\x{b:02x}"))),
        ("unicode escapes", each(value, |b| format!("\\u{b:04x}"))),
        ("entities", each(value, |b| format!("&#{b};"))),
        ("hex entities", each(value, |b| format!("&#x{b:X};"))),
        ("percent", each(value, |b| format!("%{b:02X}"))),
        ("percent twice", each(value, |b| format!("%25{b:02x}"))),
        ("backwards", value.chars().rev().collect()),
        ("base64 backwards", once(value).chars().rev().collect()),
        (
            "backwards in base64",
            once(&value.chars().rev().collect::<String>()),
        ),
        ("rot13", rot13(value)),
        ("base64 of base64", once(&once(value))),
        ("base64 three times", once(&once(&once(value)))),
        ("hex of base64", sample::hex(once(value).as_bytes())),
        ("base64 of hex", once(&hex)),
        ("hex of hex", sample::hex(hex.as_bytes())),
        ("hex of UTF-16", sample::hex(&utf16(value, true))),
        ("base64 of UTF-16", sample::base64(&utf16(value, true))),
        (
            "base64 of UTF-16, the other way",
            sample::base64(&utf16(value, false)),
        ),
        (
            "base64 in lines",
            wrapped(&once(&format!("{}{value}", "lead ".repeat(20))), 64),
        ),
        ("hex in lines", wrapped(&hex, 16)),
        (
            "zero width",
            each(value, |b| format!("{}\u{200b}", char::from(b))),
        ),
        (
            "soft hyphens",
            each(value, |b| format!("{}\u{ad}", char::from(b))),
        ),
        (
            "full width",
            each(value, |b| {
                char::from_u32(u32::from(b) + 0xFEE0).unwrap().to_string()
            }),
        ),
        (
            "in a URL",
            format!("https://x.example/?q={}", safe(once(value))),
        ),
    ];
    for lead in 0..3 {
        let around = format!("{}{value}~tail", "~".repeat(lead));
        forms.push(("base64", once(&around)));
        forms.push(("base64 for URLs", safe(once(&around))));
        forms.push((
            "base64 of base64, shifted",
            once(&format!("{}{}", "~".repeat(lead), once(&around))),
        ));
    }
    forms
}

/// Of a value with enough letters and digits nothing else matters.
fn squeezed(value: &str) -> Vec<(&'static str, String)> {
    let mut forms = vec![
        ("capitals", value.to_uppercase()),
        ("in lines", each(value, |b| format!("{}\n", char::from(b)))),
    ];
    for between in [
        " ", ".", "-", "--", " - ", "_", "/", ", ", "|", "\t", "\", \"", "</b><b>",
    ] {
        let letters = "<b>".len();
        if between.bytes().filter(u8::is_ascii_alphabetic).count() < letters - 1 {
            forms.push((
                "cut",
                each(value, |b| format!("{}{between}", char::from(b))),
            ));
        }
    }
    forms
}

#[test]
fn a_registered_value_is_found_in_every_dress() {
    let values = [
        VALUE,
        "s3cr3t-Pa55word!",
        "0123456789abcdef0123456789abcdef",
        "correct horse battery staple",
        "k9#mQ2$vL7",
    ];
    let mut missed = Vec::new();
    for value in values {
        let scanner = Scanner::builder()
            .key([9; 32])
            .register("V", value)
            .build()
            .unwrap();
        let mut forms = dressed(value);
        if value.bytes().filter(u8::is_ascii_alphanumeric).count() >= 12 {
            forms.extend(squeezed(value));
        } else {
            // Too short to be told from ordinary letters when it is turned, or when it is part of a word.
            let turned = ["in a word", "backwards", "backwards in base64", "rot13"];
            forms.retain(|(dress, _)| !turned.contains(dress));
        }
        for (dress, form) in forms {
            if names(&scanner, &format!("see {form} there")).is_empty() {
                missed.push(format!("{value}: {dress}: {form}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_value_needs_a_key() {
    assert_eq!(
        Scanner::builder().register("A", VALUE).build().unwrap_err(),
        BuildError::NoKey
    );
    assert_eq!(
        Scanner::shipped().with_registered("A", VALUE).unwrap_err(),
        BuildError::NoKey
    );
}

#[test]
fn one_more_value_is_cheap_and_leaves_the_old_scanner_as_it_is() {
    let old = scanner();
    let new = old.with_registered("SECOND", "another-Value-77").unwrap();
    assert!(names(&old, "another-Value-77").is_empty());
    assert_eq!(names(&new, "another-Value-77"), ["SECOND"]);
    assert_eq!(new.with_registered("SHORT", "abc").unwrap().left_out(), 1);
}

#[test]
fn canaries_are_found_in_every_spelling_and_named_by_place() {
    let canary = Canary::new("memory", Severity::Critical, *b"0123456789abcdef").unwrap();
    let token = canary.token().to_owned();
    let scanner = Scanner::builder()
        .key([1; 32])
        .build()
        .unwrap()
        .with_canary(canary)
        .unwrap();
    let bare = token.rsplit('_').next().unwrap().to_owned();
    let forms = [
        token.clone(),
        token.to_lowercase(),
        token.to_uppercase(),
        bare,
        sample::base64(token.as_bytes()),
        sample::base64(format!("https://x.example/?q={token}").as_bytes()),
        sample::hex(token.as_bytes()),
        token.chars().map(|c| format!("{c} ")).collect(),
        token.chars().map(|c| format!("{c}\u{200d}")).collect(),
        token.chars().rev().collect(),
    ];
    for form in forms {
        let text = format!("and {form} then");
        let found = scanner.scan_with(&text, Scope::SECRETS);
        let leaks = scanner.leaks(&found);
        assert_eq!(
            found
                .iter()
                .filter(|finding| finding.class == Class::Canary)
                .count(),
            1,
            "{form}"
        );
        assert_eq!(
            (
                leaks[0].shown.as_str(),
                &*leaks[0].location,
                leaks[0].severity
            ),
            ("CANARY_M...", "memory", Severity::Critical)
        );
    }
}

#[test]
fn ids_and_lists_of_ones_own() {
    let scanner = Scanner::builder()
        .owner_ids(["152898962898431691", "jd42"])
        .internal_paths(["/srv/vault"])
        .internal_terms(["Project Falcon"])
        .build()
        .unwrap();
    let rules = |text: &str| {
        scanner
            .scan(text)
            .iter()
            .map(|finding| finding.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(rules("https://x.com/user/152898962898431691"), ["owner-id"]);
    assert_eq!(rules("ask jd42, not jd421"), ["owner-id"]);
    assert_eq!(
        rules("in /srv/vault/a on project falcon"),
        ["internal-path", "internal-term"]
    );
    assert!(rules("SOUL.md").is_empty());
}

#[test]
fn nothing_registered_shows_in_debug() {
    assert!(!format!("{:?}", scanner()).contains("Harbour"));
}
