//! A stream lets go only what stands before the first finding, however it is cut, and all of a clean text.

use super::sample::{self, Dice};
use crate::{Canary, Scanner, Scope, Severity, Stream};
use proptest::prelude::*;

/// What a stream let go of pieces, and whether it found something.
fn run(scanner: &Scanner, pieces: &[&str]) -> (String, bool) {
    let mut stream = Stream::new(scanner.clone(), Scope::OUTBOUND);
    let mut text = String::new();
    let mut found = false;
    for piece in pieces {
        let released = stream.push(piece);
        assert!(!found || released.text.is_empty());
        text.push_str(&released.text);
        found |= !released.findings.is_empty();
    }
    let released = stream.finish();
    assert!(!found || released.text.is_empty());
    (
        text + &released.text,
        found || !released.findings.is_empty(),
    )
}

/// The promise: what went out is what stood before the first finding of the whole text, or less.
fn check(scanner: &Scanner, text: &str, cuts: &[usize]) {
    let whole = scanner.scan_with(text, Scope::OUTBOUND);
    let mut pieces = Vec::new();
    let mut from = 0;
    for cut in cuts {
        pieces.push(&text[from..*cut]);
        from = *cut;
    }
    pieces.push(&text[from..]);
    let (out, found) = run(scanner, &pieces);
    assert!(text.starts_with(&out), "{cuts:?} {text}");
    match whole.first() {
        Some(first) => {
            assert!(found, "{cuts:?} {text}");
            assert!(
                out.len() <= first.start,
                "{cuts:?}: {:?} of {text}",
                &text[first.start..out.len()]
            );
        }
        None => {
            assert!(!found, "{cuts:?} {text}");
            assert_eq!(out, text, "{cuts:?}");
        }
    }
}

fn boundaries(text: &str) -> Vec<usize> {
    (1..text.len())
        .filter(|at| text.is_char_boundary(*at))
        .collect()
}

#[test]
fn no_secret_goes_out_in_two_halves() {
    let scanner = Scanner::shipped();
    for (_, example) in sample::all() {
        let short = if example.len() > 400 {
            &example[..example.floor_char_boundary(400)]
        } else {
            &example
        };
        let text = format!("The morning was calm, and then: {short} – that is all.");
        let all = boundaries(&text);
        let step = if all.len() > 200 { 3 } else { 1 };
        for cut in all.iter().step_by(step) {
            check(&scanner, &text, &[*cut]);
        }
    }
}

#[test]
fn one_character_at_a_time() {
    let scanner = Scanner::shipped();
    for (_, example) in sample::all() {
        let text = format!("Say: {example} please.");
        let text = &text[..text.floor_char_boundary(300)];
        check(&scanner, text, &boundaries(text));
    }
}

#[test]
fn disguises_and_registered_values_over_every_boundary() {
    let canary = Canary::new("notes", Severity::Warn, *b"fedcba9876543210").unwrap();
    let token = canary.token().to_owned();
    let scanner = Scanner::builder()
        .key([3; 32])
        .register("PASS", "Quiet-Lantern_88x")
        .canary(canary)
        .build()
        .unwrap();
    let key = sample::fill("ghp_{alnum:36}", &mut Dice::new("s"));
    let spaced = |text: &str, between: &str| {
        text.chars()
            .map(|c| format!("{c}{between}"))
            .collect::<String>()
    };
    for secret in [
        sample::base64(key.as_bytes()),
        sample::hex(key.as_bytes()),
        spaced(&key, " "),
        spaced(&key, "\u{200b}"),
        key.chars().rev().collect(),
        format!("{} {}", &key[..20], &key[20..]),
        "Quiet-Lantern_88x".to_owned(),
        spaced("Quiet-Lantern_88x", " "),
        "quiet lantern 88x".to_owned(),
        spaced(&token, "."),
        sample::base64(token.as_bytes()),
    ] {
        let text = format!("It begins here: {secret} and ends.");
        assert!(
            !scanner.scan_with(&text, Scope::OUTBOUND).is_empty(),
            "{secret}"
        );
        for cut in boundaries(&text) {
            check(&scanner, &text, &[cut]);
        }
        check(&scanner, &text, &boundaries(&text));
    }
}

#[test]
fn clean_text_goes_out_soon_and_whole() {
    let scanner = Scanner::shipped();
    let story = include_str!("../../../../tests/benign/long/story.txt");
    let mut stream = Stream::new(scanner, Scope::OUTBOUND);
    let (mut given, mut got, mut most) = (0, String::new(), 0);
    for word in story.split_inclusive(' ') {
        given += word.len();
        got.push_str(&stream.push(word).text);
        most = most.max(given - got.len());
    }
    got.push_str(&stream.finish().text);
    assert_eq!(got, story);
    assert!(most < 400, "{most} bytes waited");
}

#[test]
fn what_never_ends_is_stopped() {
    let mut stream = Stream::with_limit(Scanner::shipped(), Scope::SECRETS, 4096);
    let mut overflow = false;
    for _ in 0..10_000 {
        let released = stream.push("a1B2");
        assert!(released.text.is_empty());
        overflow |= released.overflow;
    }
    assert!(overflow && stream.stopped());
    assert!(stream.push("more ").text.is_empty());
}

#[test]
fn places_count_from_the_beginning() {
    let scanner = Scanner::shipped();
    let lead = "All is well on the quay today. ".repeat(400);
    let text = format!("{lead}write to jane@mail.example.org now");
    let mut stream = Stream::new(scanner, Scope::OUTBOUND);
    let mut findings = Vec::new();
    for piece in text.as_bytes().chunks(37) {
        findings.extend(stream.push(std::str::from_utf8(piece).unwrap()).findings);
    }
    findings.extend(stream.finish().findings);
    assert_eq!(&text[findings[0].span()], "jane@mail.example.org");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn however_it_is_cut(which in 0_usize..1000, seeds in proptest::collection::vec(0_usize..100_000, 0..12)) {
        let scanner = Scanner::shipped();
        let all = sample::all();
        let (_, example) = &all[which % all.len()];
        let text = format!("Dear reader, on 12 May we met; here: {example} and so on, until the end.");
        let places = boundaries(&text);
        let mut cuts: Vec<usize> = seeds.iter().map(|seed| places[seed % places.len()]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        check(&scanner, &text, &cuts);
    }

    #[test]
    fn nothing_panics_and_places_are_right(text in "\\PC{0,200}", cut in 0_usize..200) {
        let scanner = Scanner::shipped();
        for finding in scanner.scan_with(&text, Scope::ALL) {
            prop_assert!(text.get(finding.span()).is_some());
        }
        let cut = text.floor_char_boundary(cut);
        let (out, _) = run(&scanner, &[&text[..cut], &text[cut..]]);
        prop_assert!(text.starts_with(&out));
    }
}
