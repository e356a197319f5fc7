//! From an agent's question to the owner's tap and back.

use crate::botapi::Fault;
use crate::*;

#[tokio::test(flavor = "multi_thread")]
async fn one_tap_lets_a_waiting_agent_go_on() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    api.misbehave();
    let waiting = json!({"name": "restart the server", "details": {"box": "eu-1"}, "wait": 55});
    let tapping = async {
        until("a request is shown", async || !api.chat().is_empty()).await;
        let message = api
            .chat()
            .into_iter()
            .find(|shown| shown.text.contains("eu-1"))
            .unwrap();
        assert!(
            message
                .text
                .starts_with("SECURITY SUPERVISOR — Approval Requested\n\nAction: custom\n")
        );
        api.press(OWNER, message.id, &button(&message, "Approve"));
        message
    };
    let (answer, message) = tokio::join!(server.agent("/v1/actions/custom", &waiting), tapping);
    assert_eq!(answer["decision"], "allow", "{answer}");
    assert_eq!(answer["approval"]["state"], "approved");
    until("the message says so", async || {
        api.chat().iter().any(|shown| {
            shown.id == message.id && shown.text.contains("approved (once) through telegram")
        })
    })
    .await;
    assert_eq!(api.complaints(), Vec::<String>::new());
    let log = audit(&server.end());
    for part in ["approval_requested", "Approval: approved", "approval_used"] {
        assert_eq!(log.matches(part).count(), 1, "{part}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_in_words_counts_and_those_of_others_do_not() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    let (yes, no) = (server.asked(&act("a")).await, server.asked(&act("b")).await);
    let (first, _) = (shown(&api, &yes).await, shown(&api, &no).await);
    api.press(4711, first.id, &button(&first, "Approve"));
    let order = format!("approve {no}");
    api.update(
        "message",
        &json!({"text": order, "date": now_s(), "from": {"id": 4711, "is_bot": false}}),
    );
    api.update(
        "message",
        &json!({"text": order, "date": now_s(), "forward_origin": {"type": "user"}}),
    );
    api.update(
        "message",
        &json!({"text": order, "date": now_s(), "chat": {"id": -5, "type": "group"}}),
    );
    api.update(
        "edited_message",
        &json!({"text": order, "date": now_s(), "edit_date": now_s()}),
    );
    api.update("message", &json!({"text": order, "date": now_s() - 3600}));
    api.text(&format!("Approve {}", yes.to_uppercase()), now_s());
    api.text(&format!("deny {no}"), now_s());
    until("both are decided", async || {
        server.state(&yes).await == "approved" && server.state(&no).await == "denied"
    })
    .await;
    let log = audit(&server.end());
    assert!(log.matches("approval_refused").count() >= 5, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_a_no_and_told_as_a_timeout() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[("BLASTSHIELD_CUSTOM_TIMEOUT_SECONDS", "4")]);
    let id = server.asked(&act("a")).await;
    let message = shown(&api, &id).await;
    let body = json!({"name": "a", "approval": id, "wait": 30});
    let answer = server.agent("/v1/actions/custom", &body).await;
    assert_eq!(
        (&answer["decision"], &answer["code"]),
        (&json!("deny"), &json!("timeout"))
    );
    api.press(OWNER, message.id, &button(&message, "Approve"));
    until("the late tap is answered", async || {
        api.answers()
            .iter()
            .any(|(_, text)| text.contains("expired") || text.contains("time is up"))
    })
    .await;
    assert_eq!(server.state(&id).await, "expired");
    until("the message says so", async || {
        of(&api, &id)[0].text.contains("denied: timeout")
    })
    .await;
    assert!(audit(&server.end()).contains("Approval: timeout"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_fails_in_every_way_is_told_and_delivers_in_the_end() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    api.fault(
        "sendMessage",
        &[Fault::TooMany(1), Fault::Hang, Fault::Garbage],
    );
    api.fault("getUpdates", &[Fault::Status(502), Fault::Refuse]);
    let id = server.asked(&act("a")).await;
    until("it is told that the channel is down", async || {
        audit(&server.folder).contains("\"undeliverable\"")
    })
    .await;
    until("and in the status", async || {
        let channels = status(&server.folder)["channels"].clone();
        let mut list = channels.as_array().cloned().unwrap_or_default().into_iter();
        list.any(|one| {
            one["name"] == "telegram" && one["state"] == "down" && one["why"].is_string()
        })
    })
    .await;
    let message = shown(&api, &id).await;
    api.fault("answerCallbackQuery", &[Fault::Refuse]);
    api.fault("editMessageText", &[Fault::LoseAnswer]);
    api.press(OWNER, message.id, &button(&message, "Deny"));
    until("the no arrives", async || {
        server.state(&id).await == "denied"
    })
    .await;
    until("the message says so", async || {
        of(&api, &id)[0].text.contains("denied through telegram")
    })
    .await;
    until("the channel is up again", async || {
        audit(&server.folder).contains("channel_up")
    })
    .await;
    assert_eq!(api.complaints(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_shows_a_request_again_and_both_taps_are_one() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    api.fault("sendMessage", &[Fault::LoseAnswer]);
    let id = server.asked(&act("a")).await;
    until("it is shown twice", async || of(&api, &id).len() == 2).await;
    let both = of(&api, &id);
    api.press(OWNER, both[0].id, &button(&both[0], "Approve"));
    api.press(OWNER, both[1].id, &button(&both[1], "Deny"));
    until("both messages are brought up to date", async || {
        of(&api, &id)
            .iter()
            .all(|shown| shown.text.contains("approved (once)"))
    })
    .await;
    assert_eq!(server.state(&id).await, "approved");
    assert_eq!(audit(&server.end()).matches("approval_decided").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_channel_the_answer_is_no_and_that_is_told() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::plain(folder, &[("BLASTSHIELD_CUSTOM_TIMEOUT_SECONDS", "1")]);
    let body = json!({"name": "a", "wait": 20});
    let answer = server.agent("/v1/actions/custom", &body).await;
    assert_eq!(answer["code"], "timeout");
    assert_eq!(
        server.owner("/v1/status").await["approvals"]["owner_can_be_reached"],
        false
    );
    assert!(audit(&server.end()).contains("no channel reaches the owner"));
}
