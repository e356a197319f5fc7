//! Every rule finds its example, by its own name, in its place; and does not find the near miss.

use super::sample::{self, Dice};
use crate::rules::RULES;
use crate::{Class, Scanner, Scope, rules};

#[test]
fn every_example_is_found_by_its_rule() {
    let scanner = Scanner::shipped();
    for (name, example) in sample::all() {
        for text in [
            example.clone(),
            format!("see: {example} (end)"),
            format!("\"{example}\",\n"),
            format!("<b>{example}</b>"),
        ] {
            let found = scanner.hits_for_tests(&text);
            assert!(
                found.iter().any(|(rule, _)| *rule == name),
                "{name} in {text}: {found:?}"
            );
            assert!(!scanner.scan(&text).is_empty(), "{name}");
        }
    }
}

#[test]
fn a_near_miss_is_not_found_by_its_rule() {
    let scanner = Scanner::shipped();
    let mut wrong = Vec::new();
    for rule in RULES.iter() {
        let example = sample::example(rule);
        let near = rule.near.clone().unwrap_or_else(|| {
            let cut = example
                .char_indices()
                .nth(example.chars().count() / 3)
                .unwrap()
                .0;
            example[..cut].to_owned()
        });
        let near = sample::fill(&near.replace(['{', '}'], ""), &mut Dice::new("near"));
        let found = scanner.hits_for_tests(&near);
        if found.iter().any(|(name, _)| *name == rule.id) {
            wrong.push(format!("{} in {near}", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_is_found_is_listed() {
    let listed = rules();
    for (name, example) in sample::all() {
        assert!(listed.iter().any(|rule| rule.id == name), "{name}");
        for finding in Scanner::shipped().scan_with(&example, Scope::ALL) {
            assert!(
                listed
                    .iter()
                    .any(|rule| rule.id == finding.rule && rule.class == finding.class),
                "{}",
                finding.rule
            );
        }
    }
}

#[test]
fn places_are_exact_and_findings_apart() {
    let scanner = Scanner::shipped();
    let text: String = sample::all()
        .into_iter()
        .map(|(_, example)| format!("é {example} ünd\n"))
        .collect();
    let findings = scanner.scan_with(&text, Scope::ALL);
    assert!(findings.len() > 100, "{}", findings.len());
    assert!(findings.windows(2).all(|two| two[0].end <= two[1].start));
    for finding in &findings {
        assert!(
            text.get(finding.span())
                .is_some_and(|part| !part.is_empty() && !part.contains("ünd")),
            "{finding:?}"
        );
    }
}

#[test]
fn a_scope_leaves_the_rest_out() {
    let scanner = Scanner::shipped();
    let text = "mail jane@mail.example.org about SOUL.md, ticket 609600098453295049";
    assert!(scanner.scan_with(text, Scope::SECRETS).is_empty());
    let classes: Vec<Class> = scanner
        .scan_with(text, Scope::OUTBOUND)
        .iter()
        .map(|finding| finding.class)
        .collect();
    assert_eq!(classes, [Class::Personal, Class::Internal, Class::Personal]);
    assert_eq!(scanner.scan(text).len(), 2);
    assert!(
        scanner
            .scan_with("https://x.com/user/status/1617545613950397152", Scope::ALL)
            .is_empty()
    );
}

#[test]
fn ordinary_text_is_clean() {
    let scanner = Scanner::shipped();
    for text in [
        include_str!("../../../../tests/benign/long/story.txt"),
        include_str!("../../../../tests/benign/long/code_file.txt"),
        include_str!("../../../../tests/benign/languages/manual_ru.txt"),
        include_str!("../../../../tests/benign/languages/manual_zh.txt"),
        "The key to the pass is a token of trust; the secret is to ask.",
        "commit 926f5061955b25f35309a481c50a98be0185f0e6 chore: update",
        "checksum = \"8e60d3430d3a69478ad0993f19238d2df97c507009a52b3c10addcd7f6bcb916\"",
        "\"integrity\": \"sha512-yvkRyxmFKEOQ4pNXCmJG5AEQNlXJS5LaONXo5/cLdTZdWvsZ1ioJEonLGAosKlMWE8lwUy/bJzMjcw8az73+Fg==\"",
        "596930a0-adb0-4901-902e-811231e086cf at 2026-11-16T03:20:00Z in v1.2.3.4",
        "let token = self.tokens.next_token()?; const KEY: &str = \"user.name\";",
    ] {
        let found = scanner.scan(text);
        let shown: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule, &text[finding.span()]))
            .collect();
        assert!(found.is_empty(), "{shown:?}");
    }
}

#[test]
fn redaction_leaves_nothing_of_any_example() {
    let scanner = Scanner::shipped();
    for (name, example) in sample::all() {
        let text = format!("before {example} after");
        let clean = scanner.redact(&text);
        assert!(
            clean.contains(crate::REDACTED) && clean.starts_with("before "),
            "{name}: {clean}"
        );
        assert!(scanner.scan(&clean).is_empty(), "{name}: {clean}");
    }
    assert!(matches!(
        scanner.redact("nothing here"),
        std::borrow::Cow::Borrowed(_)
    ));
}
