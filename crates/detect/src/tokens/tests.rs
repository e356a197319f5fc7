use super::*;

fn cut(text: &str) -> Vec<(&str, Kind)> {
    tokens(text)
        .iter()
        .map(|t| (&text[t.bytes()], t.kind))
        .collect()
}

#[test]
fn words_marks_and_numbers() {
    assert_eq!(
        cut("ignore all, <|im 42"),
        [
            ("ignore", Kind::Word),
            ("all", Kind::Word),
            ("<|", Kind::Marks),
            ("im", Kind::Word),
            ("42", Kind::Number)
        ]
    );
}

#[test]
fn scripts_with_and_without_spaces() {
    assert_eq!(
        cut("忽略abc игнор"),
        [
            ("忽", Kind::Single),
            ("略", Kind::Single),
            ("abc", Kind::Word),
            ("игнор", Kind::WideWord)
        ]
    );
}

#[test]
fn marks_of_other_scripts_end_words() {
    assert_eq!(
        cut("दिखाओ। ¿cómo؟"),
        [("दिखाओ", Kind::WideWord), ("cómo", Kind::WideWord)]
    );
}

#[test]
fn addresses_are_one_token() {
    assert_eq!(
        cut("to a.b+c@evil.example: see https://x.example/a?b=c) @ noon"),
        [
            ("to", Kind::Word),
            ("a.b+c@evil.example", Kind::Mail),
            (":", Kind::Marks),
            ("see", Kind::Word),
            ("https://x.example/a?b=c", Kind::Link),
            ("noon", Kind::Word)
        ]
    );
}

#[test]
fn gaps_are_measured_in_half_words() {
    let at = |text| {
        tokens(text)
            .iter()
            .filter(|t| t.is_word())
            .map(|t| t.at)
            .collect::<Vec<_>>()
    };
    assert_eq!(at("one two three"), [0, 2, 4]);
    assert_eq!(at("忽略之前"), [0, 1, 2, 3]);
    assert_eq!(at("one. two"), [0, 6]);
    assert_eq!(at("one.two"), [0, 2]);
}

#[test]
fn eight_letters_are_counted_as_one_by_one() {
    for text in [
        "abcdefgh", "abc defg", " bcdefgh", "ABCZ019z", "abcdefg{", "@bcdefgh", "abc`efgh",
        "[bcdefgh", "12:45678", "abé1234", "/0123456",
    ] {
        let bytes: [u8; 8] = text.as_bytes()[..8].try_into().unwrap();
        assert_eq!(
            letters_of_eight(u64::from_le_bytes(bytes)),
            letters(&bytes),
            "{text}"
        );
    }
    for byte in 0..=255_u8 {
        let expected = if class(byte) == Class::Letter { 8 } else { 0 };
        assert_eq!(
            letters_of_eight(u64::from_le_bytes([byte; 8])),
            expected,
            "{byte}"
        );
    }
}

#[test]
fn tokens_never_overlap_and_always_advance() {
    for text in [
        "",
        "<<<",
        "a@b@c.d",
        "é忽a1 ",
        "x".repeat(200).as_str(),
        "....",
        "a@",
        "@a.b",
        "\u{1f600}x",
    ] {
        let list = tokens(text);
        assert!(
            list.windows(2).all(|pair| pair[0].end <= pair[1].start),
            "{text}"
        );
        assert!(
            list.iter()
                .all(|t| t.start < t.end && t.end as usize <= text.len()),
            "{text}"
        );
    }
}
