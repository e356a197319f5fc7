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
