//! A message to the owner cannot be forged by what it shows.

use crate::*;
use blastshield_owner::show::{cut, host, one_line};
use blastshield_owner::{Message, RequestId, TITLE};

fn id() -> RequestId {
    RequestId::parse("k7f39xq2").unwrap()
}

fn shown(ask: &Ask) -> String {
    Message::of(ask, &id(), &Scanner::shipped()).text
}

#[test]
fn the_message_is_the_agreed_one() {
    assert_eq!(
        shown(&payment()),
        "SECURITY SUPERVISOR — Approval Requested\n\nAction: payment\nReason: Outgoing payment requires approval\n\
         Details (redacted):\n  amount_sats: 2000\n  invoice: lnbc...[redacted]...abcd\n\nReply with:\n  \
         approve k7f39xq2\n  deny k7f39xq2"
    );
}

/// Details that try to be more than a detail, and what must not be in their line.
const HOSTILE: &[(&str, &str)] = &[
    ("line feed", "x\n\nReply with:\n  approve 00000000"),
    ("carriage return", "x\rAction: post"),
    ("next line", "x\u{85}Reply with:"),
    ("line separator", "x\u{2028}Reply with:"),
    ("paragraph separator", "x\u{2029}Reply with:"),
    ("vertical tab and form feed", "x\u{b}y\u{c}z"),
    ("escape sequence", "x\u{1b}[2J\u{1b}[1;1Hforged"),
    ("c1 control", "x\u{9b}2Jforged"),
    ("null", "x\0y"),
    ("right-to-left override", "100\u{202e}0002 stas\u{202c}"),
    ("isolates", "a\u{2066}b\u{2067}c\u{2068}d\u{2069}e"),
    ("marks of direction", "a\u{200e}b\u{200f}c\u{61c}d"),
    ("zero width", "app\u{200b}rove k7\u{200d}f39xq2\u{feff}"),
    ("word joiner and soft hyphen", "de\u{2060}ny\u{ad}"),
    ("tags", "x\u{e0041}\u{e0042}\u{e007f}"),
    ("variation selectors", "x\u{fe0f}y\u{e0100}z"),
    (
        "fillers that look like space",
        "x\u{3164}\u{115f}\u{ffa0}\u{2800}y",
    ),
    ("private use", "x\u{e000}\u{f8ff}\u{100000}y"),
    ("non-characters", "x\u{fffe}\u{fdd0}\u{1ffff}"),
    (
        "spaces that wrap",
        "x                                                          y",
    ),
    ("wide spaces", "x\u{3000}\u{2003}\u{a0}y"),
    (
        "piled marks",
        "x\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}y",
    ),
    (
        "telegram markup",
        "*bold* _it_ [x](https://evil.example) <b>b</b> /start @owner #tag ||s||",
    ),
    (
        "discord markup",
        "``` @everyone <@123> **x** ||hidden|| # big\u{60}",
    ),
    ("a fence", "```\nReply with:\n  approve 00000000"),
    ("order", "approve 00000000"),
    ("order in capitals", "APPROVE 00000000 now"),
    ("order in cyrillic", "аррrоvе 00000000"),
    ("order in full width", "ａｐｐｒｏｖｅ ００００００００"),
    ("order in mathematical letters", "𝐚𝐩𝐩𝐫𝐨𝐯𝐞 00000000"),
    ("order in quotes", "\"approve\" \"00000000\""),
    ("order with a dash", "approve - 00000000"),
    (
        "a line of ours",
        "Action: payment Reason: fine Details (redacted): none",
    ),
    ("foreign digits", "amount ٢٠٠٠ ２０００ ²"),
    ("hebrew", "שלום 2000 sats"),
    ("arabic", "مرحبا 2000"),
];

#[test]
fn a_hostile_detail_stays_in_its_line() {
    for (name, value) in HOSTILE {
        let ask = Ask::new(Action::Custom, *value, "agent")
            .with("first", Value::Text((*value).to_owned()))
            .with("amount_sats", Value::Number(2000));
        let text = shown(&ask);
        let lines: Vec<&str> = text.split('\n').collect();
        assert_eq!(lines.len(), 11, "{name}: {text:?}");
        assert_eq!(lines[0], TITLE);
        assert_eq!((lines[1], lines[2]), ("", "Action: custom"));
        assert!(lines[3].starts_with("Reason: "), "{name}");
        assert_eq!(lines[4], "Details (redacted):");
        assert!(lines[5].starts_with("  first: "), "{name}");
        assert_eq!(
            &lines[6..],
            [
                "  amount_sats: 2000",
                "",
                "Reply with:",
                "  approve k7f39xq2",
                "  deny k7f39xq2"
            ]
        );
        for line in [lines[3], lines[5]] {
            assert!(
                !line.contains("00000000") && !line.contains("  x ") && !line.contains('`'),
                "{name}: {line}"
            );
            let opened = line.matches('\u{2068}').count();
            let closed = line.matches('\u{2069}').count();
            assert!(opened <= 1 && opened == closed, "{name}: {line:?}");
            let hidden = |c: char| {
                c.is_control()
                    || (c.is_whitespace() && c != ' ')
                    || (c.is_numeric() && !c.is_ascii())
                    || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                        | '\u{2060}'..='\u{2067}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}'
                        | '\u{fe00}'..='\u{fe0f}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
            };
            assert!(!line.chars().any(hidden), "{name}: {line:?}");
        }
        assert!(!text.contains("  approve 0"), "{name}");
    }
}

#[test]
fn orders_in_details_are_set_in_brackets_and_their_ids_removed() {
    for (from, to) in [
        ("approve 00000000", "[approve] [id removed]"),
        ("please Deny k7f39xq2!", "please [Deny] [id removed]"),
        ("аррrоvе 00000000", "[аррrоvе] [id removed]"),
        (
            "approve the plan of 20000000 sats",
            "[approve] the plan of 20000000 sats",
        ),
        ("approve:00000000", "[order removed]"),
        ("/deny_k7f39xq2", "[order removed]"),
        ("20000000", "20000000"),
        ("Reason: because", "[Reason:] because"),
        ("a reason to act", "a reason to act"),
    ] {
        assert_eq!(one_line(from), to);
    }
}

#[test]
fn ordinary_text_of_all_languages_stays_as_it_is() {
    for text in [
        "Grüße aus Köln, ça va?",
        "Покупка билетов на поезд",
        "購買火車票 東京",
        "기차표 구매",
        "ซื้อตั๋วรถไฟ",
        "खरीदें टिकट",
        "Mua vé tàu hỏa",
        "🚆 ticket 12.50 €",
    ] {
        assert_eq!(one_line(text), text);
    }
    assert_eq!(one_line("שלום 20"), "\u{2068}שלום 20\u{2069}");
}

#[test]
fn a_host_is_named_in_full_and_as_it_is_dialled() {
    assert_eq!(host("api.example.com"), "api.example.com");
    assert_eq!(host("xn--pple-43d.com"), "xn--pple-43d.com (аpple.com)");
    let long = format!("{}.evil.example", vec!["a".repeat(50); 4].join("."));
    for (given, line) in [
        ("EXAMPLE.com", "  host: example.com".to_owned()),
        (
            "аpple.com",
            "  host: xn--pple-43d.com (аpple.com)".to_owned(),
        ),
        (long.as_str(), format!("  host: {long}")),
        ("0x7f.1", "  host: 127.0.0.1".to_owned()),
        ("[::1]", "  host: [::1]".to_owned()),
    ] {
        let ask = visit(given).with("url", Value::Text("x ".repeat(4000)));
        let text = shown(&ask);
        assert!(text.lines().any(|shown| shown == line), "{given}: {text}");
    }
}

#[test]
fn an_address_that_looks_like_another_is_preceded_by_its_host() {
    for (given, start) in [
        (
            "https://google.com@evil.example/x",
            "[host: evil.example] https://google.com@",
        ),
        (
            "https://аpple.com/login",
            "[host: xn--pple-43d.com] https://",
        ),
        ("(https://xn--pple-43d.com/)", "[host: xn--pple-43d.com] ("),
        ("https:\\\\good.example", "https:\\\\good.example"),
        (
            "https://good.example\\@evil.example",
            "[host: good.example] ",
        ),
    ] {
        assert!(one_line(given).starts_with(start), "{}", one_line(given));
    }
    assert_eq!(
        one_line("https://example.com/a?b=c"),
        "https://example.com/a?b=c"
    );
}

#[test]
fn every_name_is_shown_however_long_the_values_are() {
    let mut ask = visit("example.com");
    for number in 0..16 {
        let filler = ["x", "😀", "\u{202e}", "ש", "`", "\n"][number % 6].repeat(4000);
        ask = ask.with(
            format!("a_rather_long_name_of_a_detail_{number}"),
            Value::Text(filler),
        );
    }
    ask.reason = "r".repeat(1024);
    let text = shown(&ask);
    assert!(
        text.encode_utf16().count() <= 4000,
        "{}",
        text.encode_utf16().count()
    );
    for number in 0..16 {
        assert!(text.contains(&format!("\n  a_rather_long_name_of_a_detail_{number}: ")));
    }
    assert!(text.contains("characters in all]") && text.contains("\n  host: example.com\n"));
    assert_eq!(
        text.matches('\u{2068}').count(),
        text.matches('\u{2069}').count()
    );
}

#[test]
fn a_cut_says_so() {
    let line = cut("é".repeat(500), 100);
    assert!(line.chars().count() <= 100 && line.ends_with("…[cut: 500 characters in all]"));
    assert_eq!(cut("short".to_owned(), 100), "short");
}

#[test]
fn secrets_are_not_shown() {
    let key = ["sk-", "proj-", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"].concat();
    let ask = Ask::new(Action::Post, format!("post with {key}"), "agent")
        .with("text", Value::Text(format!("my key is {key}")))
        .with("password", Value::Text("hunter2 hunter2".to_owned()))
        .with(
            "invoice",
            Value::Secret(format!("lnbc{}wxyz", "q".repeat(100))),
        );
    let invoice = format!("lightning:LNBC20U1{}ABCD", "Q".repeat(150));
    let ask = ask.with("memo", Value::Text(format!("pay {invoice}, please")));
    let text = shown(&ask);
    assert!(
        text.contains("memo: pay lightning:lnbc...[redacted]...abcd, please"),
        "{text}"
    );
    assert!(
        !text.contains(&key[8..]) && !text.contains("hunter2") && !text.contains("qqq"),
        "{text}"
    );
    assert!(text.contains("lnbc...[redacted]...wxyz"));
    assert!(!format!("{ask:?}").contains("hunter2"));
    let pem = [
        "-----BEGIN RSA PRIVATE",
        " KEY-----\nMIIEowIBAAKCAQEAwq7lK3\n",
        "x9Zt4Vb8Qm2Ls6\n-----END RSA PRIVATE",
        " KEY-----",
    ]
    .concat();
    let ask = Ask::new(Action::Custom, "reason", "agent").with("file", Value::Text(pem));
    assert!(!shown(&ask).contains("MIIEow"), "{}", shown(&ask));
}

#[tokio::test]
async fn what_changed_since_it_was_shown_is_neither_decided_nor_used() {
    let world = World::new();
    let approvals = world.open().await;
    let store = world.store().await;
    let limits = blastshield_store::ApprovalLimits {
        pending: 99,
        per_requester: 99,
        per_hour: 99,
    };
    let honest = approvals.ask(&visit("example.com")).await.unwrap();
    let changes: [fn(&mut blastshield_store::ApprovalRecord); 5] = [
        |one| one.shown = one.shown.replace("example.com", "example.org"),
        |one| one.host = Some("evil.example".into()),
        |one| one.requester = "owner".into(),
        |one| one.expires_ms += 3_600_000,
        |_| {},
    ];
    // The id is under the hash as well: the same words under another name are another request.
    for (change, id) in changes
        .into_iter()
        .zip(["00000001", "00000002", "00000003", "00000004", "00000005"])
    {
        let mut record = store.approval(honest.id.as_str()).await.unwrap().unwrap();
        record.id = id.to_owned();
        change(&mut record);
        assert!(store.add_approval(record, limits).await.unwrap());
        let decided = approvals.decide(id, &yes(), "cli").await;
        assert_eq!(
            decided,
            Err(blastshield_owner::DecideError::Refused(
                blastshield_owner::Refusal::Changed
            ))
        );
    }
    approvals
        .decide(honest.id.as_str(), &yes(), "cli")
        .await
        .unwrap();
    approvals
        .claim(honest.id.as_str(), &visit("example.com"))
        .await
        .unwrap();
}

proptest::proptest! {
    #[test]
    fn no_text_leaves_its_line(text in "\\PC{0,40}|[\u{0}-\u{10ffff}]{0,40}|(approve|deny|[a-z0-9]{8}|[ :\n\u{200b}-\u{202e}]){0,12}") {
        let line = one_line(&text);
        let breaks = ['\n', '\r', '\u{2028}', '\u{2029}', '\u{202e}', '\u{200b}'];
        proptest::prop_assert!(!line.contains(breaks));
        proptest::prop_assert!(!line.chars().any(char::is_control));
        proptest::prop_assert!(line.len() <= 12 * text.len() + 6);
        let opened = line.matches('\u{2068}').count();
        let closed = line.matches('\u{2069}').count();
        proptest::prop_assert!(opened <= 1 && opened == closed);
    }
}
