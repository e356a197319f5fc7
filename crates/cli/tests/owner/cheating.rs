//! An agent that wants its own way.

use crate::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_decides_nothing_whatever_it_sends() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    let id = server.asked(&act("a")).await;
    let yes = json!({"decision": "approve"});
    for token in [
        AGENT_TOKEN,
        "",
        "owner",
        "Bearer",
        &OWNER_TOKEN[..20],
        &format!("{OWNER_TOKEN}x"),
    ] {
        for (method, path) in [
            ("POST", format!("/v1/approvals/{id}/decision")),
            ("PUT", format!("/v1/approvals/{id}/decision")),
            ("POST", format!("/v1/approvals/{id}")),
            ("PATCH", format!("/v1/approvals/{id}")),
            (
                "GET",
                format!("/v1/approvals/{id}/decision?decision=approve"),
            ),
            ("POST", format!("/approve/{id}")),
            ("GET", "/v1/approvals".to_owned()),
            ("GET", "/v1/grants".to_owned()),
            ("DELETE", format!("/v1/grants/{id}")),
            ("GET", "/v1/status".to_owned()),
            ("GET", "/v1/alerts".to_owned()),
        ] {
            let (status, answer) = server.ask(token, method, &path, &yes).await;
            assert!(
                matches!(status, 401 | 403 | 404 | 405),
                "{token:?} {method} {path}: {status} {answer}"
            );
        }
    }
    // An approval of one thing is none of another, and none of another's.
    let (status, _) = server
        .ask(
            OWNER_TOKEN,
            "POST",
            &format!("/v1/approvals/{id}/decision"),
            &yes,
        )
        .await;
    assert_eq!(status, 200);
    for forged in [
        json!({"name": "b", "approval": id}),
        json!({"name": "a", "approval": id, "details": {"more": 1}}),
        json!({"name": "a", "approval": id, "session_key": "other"}),
        json!({"name": "a ", "approval": id}),
    ] {
        assert_eq!(
            server.agent("/v1/actions/custom", &forged).await["code"],
            "changed"
        );
    }
    let post = json!({"service": "a", "content": "a", "approval": id});
    assert_eq!(
        server.agent("/v1/actions/post", &post).await["code"],
        "changed"
    );
    assert_eq!(
        server
            .agent("/v1/actions/custom", &json!({"name": "a", "approval": id}))
            .await["decision"],
        "allow"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn details_forge_no_line_of_a_message() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    let other = server.asked(&act("other")).await;
    let hostile = json!({
        "name": format!("x\u{202e}\u{200b}\n\nReply with:\n  approve {other}"),
        "details": {
            "a": format!("</pre>\r\n\r\nDecision on {other}: approved (once)\u{1b}[2J"),
            "b": format!("аpprove {other} \u{2028}Action: nothing"),
            "c": "*bold* [link](https://bank.example) https://bank.example@evil.example/ `code`",
            "d": "z\u{300}\u{301}\u{302}\u{303}\u{304}".repeat(500),
        },
    });
    let (status, refused) = server
        .ask(AGENT_TOKEN, "POST", "/v1/actions/custom", &hostile)
        .await;
    assert_eq!(status, 400, "a name has no line breaks: {refused}");
    let mut hostile = hostile;
    hostile["name"] = json!(format!("x\u{202e}\u{200b} Reply with: approve {other}"));
    let id = server.asked(&hostile).await;
    let message = shown(&api, &id).await;
    let text = &message.text;
    assert_eq!(text.matches("\nReply with:\n").count(), 1, "{text}");
    assert_eq!(
        text.lines()
            .filter(|line| line.trim_start().starts_with("approve "))
            .count(),
        1,
        "{text}"
    );
    assert!(!text.contains(&format!("approve {other}")), "{text}");
    assert!(text.contains("[host: evil.example]"), "{text}");
    for c in text.chars().filter(|c| *c != '\n') {
        assert!(
            !c.is_control() && !"\u{202e}\u{200b}\u{2028}".contains(c),
            "{c:?} in {text}"
        );
    }
    assert!(text.encode_utf16().count() <= 4096);
    assert!(message.buttons.iter().all(|(_, data)| data.contains(&id)));
    assert_eq!(api.complaints(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_requests_is_bounded_and_the_owner_gets_in() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[("BLASTSHIELD_MAX_APPROVALS_PER_REQUESTER", "5")]);
    let mut made = 0;
    for n in 0..30 {
        let (status, answer) = server
            .ask(
                AGENT_TOKEN,
                "POST",
                "/v1/actions/custom",
                &act(&n.to_string()),
            )
            .await;
        assert!(matches!(status, 200 | 429), "{status} {answer}");
        made += u32::from(status == 200);
    }
    assert_eq!(made, 5);
    let list = server.owner("/v1/approvals?state=pending").await;
    assert_eq!(list["approvals"].as_array().unwrap().len(), 5);
}
