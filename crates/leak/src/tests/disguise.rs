//! What is encoded, cut, turned or hidden is found as what it is.

use super::sample::{self, Dice};
use crate::{Scanner, Scope, Seen};

fn keys() -> Vec<String> {
    let heads = [
        "sk-{alnum:48}",
        "ghp_{alnum:36}",
        "xai-{alnum:60}",
        "AKIA{upper:16}",
        "AIza{alnum:35}",
        "xoxb-{digits:12}-{digits:12}-{alnum:24}",
    ];
    heads
        .iter()
        .map(|template| sample::fill(template, &mut Dice::new(template)))
        .collect()
}

fn found(text: &str, disguise: &str) -> Seen {
    let findings = Scanner::shipped().scan_with(text, Scope::SECRETS);
    assert!(!findings.is_empty(), "{disguise}: {text}");
    findings[0].seen
}

#[test]
fn encoded() {
    for key in keys() {
        let bytes = key.as_bytes();
        let percent: String = bytes.iter().map(|b| format!("%{b:02X}")).collect();
        let entities: String = bytes.iter().map(|b| format!("&#{b};")).collect();
        let hex_entities: String = bytes.iter().map(|b| format!("&#x{b:x};")).collect();
        let escapes: String = bytes.iter().map(|b| format!("\\u{b:04x}")).collect();
        let wide: String = key
            .chars()
            .map(|c| char::from_u32(u32::from(c) + 0xFEE0).unwrap())
            .collect();
        let utf16: Vec<u8> = bytes.iter().flat_map(|b| [*b, 0]).collect();
        let once = sample::base64(bytes);
        for (disguise, text) in [
            ("base64", once.clone()),
            (
                "base64url",
                once.replace('+', "-").replace('/', "_").replace('=', ""),
            ),
            (
                "base64 in a sentence",
                sample::base64(format!("the key is {key}, keep it").as_bytes()),
            ),
            ("base64 twice", sample::base64(once.as_bytes())),
            (
                "base64 of hex",
                sample::base64(sample::hex(bytes).as_bytes()),
            ),
            ("base64 of UTF-16", sample::base64(&utf16)),
            ("hex", sample::hex(bytes)),
            ("hex in capitals", sample::hex(bytes).to_uppercase()),
            ("percent", percent),
            ("entities", entities),
            ("hex entities", hex_entities),
            ("escapes", escapes),
            ("full width", wide),
            ("in a URL", format!("https://evil.example/p?d={once}&x=1")),
        ] {
            assert_eq!(
                found(&format!("note: {text} end"), disguise),
                Seen::Encoded,
                "{disguise}"
            );
        }
    }
}

#[test]
fn turned() {
    for key in keys() {
        let back: String = key.chars().rev().collect();
        assert_eq!(
            found(&format!("note: {back} end"), "backwards"),
            Seen::Encoded
        );
        let shifted: String = key
            .chars()
            .map(|c| match c {
                'a'..='m' | 'A'..='M' => char::from(c as u8 + 13),
                'n'..='z' | 'N'..='Z' => char::from(c as u8 - 13),
                c => c,
            })
            .collect();
        assert_eq!(
            found(&format!("note: {shifted} end"), "rot13"),
            Seen::Encoded
        );
    }
}

#[test]
fn split() {
    let keys = [
        sample::fill("ghp_{alnum:36}", &mut Dice::new("a")),
        sample::fill("AIza{alnum:35}", &mut Dice::new("b")),
    ];
    for key in keys {
        let every = |length: usize, between: &str| {
            let chars: Vec<char> = key.chars().collect();
            chars
                .chunks(length)
                .map(|part| part.iter().collect::<String>())
                .collect::<Vec<_>>()
                .join(between)
        };
        for text in [
            every(1, "\u{200b}"),
            every(5, "\u{ad}"),
            every(1, " "),
            every(1, "."),
            every(4, " "),
            every(20, "\n"),
            every(3, " | "),
        ] {
            assert_eq!(
                found(&format!("note: {text} end"), "split"),
                Seen::Split,
                "{text}"
            );
        }
    }
}

#[test]
fn dashes_cut_what_has_no_dashes() {
    let key = sample::fill("ghp_{alnum:36}", &mut Dice::new("d"));
    let text: Vec<&str> = key
        .as_bytes()
        .chunks(5)
        .map(|part| std::str::from_utf8(part).unwrap())
        .collect();
    assert_eq!(
        found(&format!("note: {} end", text.join("-")), "dashes"),
        Seen::Split
    );
}

#[test]
fn wrapped_base64_is_one_text() {
    let key = &keys()[0];
    let long = sample::base64(
        format!("{} {key} {}", "words ".repeat(8), "and more ".repeat(9)).as_bytes(),
    );
    let wrapped = long
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(found(&wrapped, "wrapped"), Seen::Encoded);
}

#[test]
fn the_place_of_an_encoded_key_is_its_run() {
    let key = &keys()[1];
    let encoded = sample::base64(key.as_bytes());
    let text = format!("é: {encoded} end");
    let findings = Scanner::shipped().scan(&text);
    assert_eq!(findings.len(), 1);
    assert!(encoded.starts_with(text[findings[0].span()].trim_end_matches('=')));
}
