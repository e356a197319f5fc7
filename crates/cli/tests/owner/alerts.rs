//! What the owner is told without asking.

use crate::*;

fn secret(n: u32) -> String {
    ["ghp", "_", &format!("16C7e42F292c6912E7710c838347Ae{n:06}")].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_reach_the_chat_once_each_and_repetitions_do_not() {
    let api = BotApi::start().await;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("env");
    std::fs::write(&file, "OPENAI_API_KEY=some-key-of-a-model\n").unwrap();
    let server = Server::start_in(
        folder,
        &api,
        &[("BLASTSHIELD_ENV_FILE", file.to_str().unwrap())],
    );
    for session in 0..6 {
        for _ in 0..5 {
            let leak =
                json!({"content": secret(session), "destination": format!("place {session}")});
            server
                .ask(AGENT_TOKEN, "POST", "/v1/outbound/check", &leak)
                .await;
            let named =
                json!({"content": secret(session), "session_key": format!("session-{session}")});
            server
                .ask(AGENT_TOKEN, "POST", "/v1/outbound/check", &named)
                .await;
        }
    }
    let about = |session: u32| {
        let named = format!("session-{session}");
        let chat = api.chat();
        chat.iter()
            .filter(|shown| shown.text.contains("Alert\n") && shown.text.contains(&named))
            .count()
    };
    until("each session's leak is told", async || {
        (0..6).all(|session| about(session) >= 1)
    })
    .await;
    assert!((0..6).all(|session| about(session) == 1), "once each");
    let all: String = api.chat().into_iter().map(|shown| shown.text).collect();
    assert!((0..6).all(|session| !all.contains(&secret(session)[4..])));
    assert_eq!(api.complaints(), Vec::<String>::new());
    let kept =
        std::fs::read_to_string(server.logs().join("security-supervisor-alerts.jsonl")).unwrap();
    assert!(kept.contains("session-5") && !kept.contains(&secret(5)[4..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_signal_makes_it_look_at_the_environment_again() {
    let api = BotApi::start().await;
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("env");
    std::fs::write(&file, "OPENAI_API_KEY=some-key-of-a-model\n").unwrap();
    let variables = [
        ("BLASTSHIELD_ENV_FILE", file.to_str().unwrap()),
        ("BLASTSHIELD_ENV_CHECK_SECONDS", "86400"),
    ];
    let server = Server::start_in(Arc::clone(&folder), &api, &variables);
    until("the first status", async || {
        status(&folder)["modes"]["agent"] == "enabled"
    })
    .await;
    assert_eq!(
        status(&folder)["modes"]["approvals"],
        "enabled",
        "{}",
        status(&folder)
    );
    std::fs::write(&file, "OPENAI_API_KEY=\n").unwrap();
    server.signal("HUP");
    until("the second status", async || {
        status(&folder)["modes"]["agent"] == "inoperable"
    })
    .await;
    until("the owner is told", async || {
        api.chat()
            .iter()
            .any(|shown| shown.text.contains("OPENAI_API_KEY"))
    })
    .await;
    let (status, _) = server
        .ask(AGENT_TOKEN, "GET", "/healthz", &Value::Null)
        .await;
    assert_eq!(status, 200, "a hangup does not end it");
}
