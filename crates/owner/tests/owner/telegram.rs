//! The whole way through the bot, with everything that may go wrong on it.

use crate::botapi::{BotApi, Fault, OWNER, Shown, TOKEN};
use crate::*;
use blastshield_audit::alerts::Sink;
use blastshield_owner::{
    ChannelState, Pace, Request, Running, State, TelegramChannel, TelegramSettings,
};
use blastshield_upstream::{Secret, Telegram, TelegramOptions};
use serde_json::{Value as Json, json};

pub(crate) fn bot(base: &str, token: &str) -> Telegram {
    let mut options = TelegramOptions::new(Secret::new(token)).unwrap();
    options.base = base.parse().unwrap();
    options.timeout = Duration::from_millis(400);
    Telegram::new(options).unwrap()
}

pub(crate) fn start(approvals: &Approvals, base: &str) -> Running {
    start_with(approvals, base, TOKEN)
}

pub(crate) fn start_with(approvals: &Approvals, base: &str, token: &str) -> Running {
    let settings = TelegramSettings {
        owner: OWNER,
        poll: Duration::from_secs(1),
        pace: Pace {
            first: Duration::from_millis(5),
            longest: Duration::from_millis(40),
            idle: Duration::from_millis(100),
            patience: 3,
        },
    };
    TelegramChannel::start(approvals, bot(base, token), settings)
}

pub(crate) fn now_s(world: &World) -> i64 {
    i64::try_from(world.clock.load(Ordering::SeqCst) / 1000).unwrap()
}

pub(crate) fn of(api: &BotApi, request: &Request) -> Vec<Shown> {
    let mut chat = api.chat();
    chat.retain(|shown| {
        shown.text.starts_with("SECURITY") && shown.text.contains(request.id.as_str())
    });
    chat
}

pub(crate) async fn shown(api: &BotApi, request: &Request) -> Shown {
    until("the request is shown", async || {
        !of(api, request).is_empty()
    })
    .await;
    of(api, request).pop().unwrap()
}

pub(crate) async fn state(approvals: &Approvals, request: &Request) -> State {
    approvals
        .get(request.id.as_str())
        .await
        .unwrap()
        .unwrap()
        .state
}

pub(crate) fn data(shown: &Shown, caption: &str) -> String {
    let button = shown.buttons.iter().find(|(text, _)| text == caption);
    button
        .unwrap_or_else(|| panic!("no {caption}: {:?}", shown.buttons))
        .1
        .clone()
}

#[tokio::test]
async fn one_tap_approves_and_the_message_says_so() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    let request = approvals.ask(&payment()).await.unwrap();
    let message = shown(&api, &request).await;
    assert_eq!(message.text, request.shown);
    assert_eq!(message.buttons.len(), 2);
    api.press(OWNER, message.id, &data(&message, "Approve"));
    let decided = approvals
        .wait(request.id.as_str(), Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!(
        (decided.state, decided.decided_by.as_deref()),
        (State::Approved, Some("telegram"))
    );
    until("the message is edited", async || api.chat()[0].edits == 1).await;
    let edited = &api.chat()[0];
    assert!(edited.buttons.is_empty() && !edited.text.contains("Reply with"));
    assert!(
        edited.text.ends_with(&format!(
            "\n\nDecision on {}: approved (once) through telegram",
            request.id
        )),
        "{}",
        edited.text
    );
    until("the tap is answered", async || api.answers().len() == 1).await;
    // A second tap on the old message changes nothing and is answered.
    api.press(OWNER, message.id, &data(&message, "Deny"));
    until("the second tap is answered", async || {
        api.answers().len() == 2
    })
    .await;
    assert!(api.answers()[1].1.contains("already approved"));
    assert_eq!(state(&approvals, &request).await, State::Approved);
    assert_eq!(api.complaints(), Vec::<String>::new());
    let up = approvals.channels();
    assert!(
        up.iter().all(|channel| channel.state == ChannelState::Up),
        "{up:?}"
    );
}

#[tokio::test]
async fn text_replies_decide_in_any_case_and_are_acknowledged() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    let (one, two) = (
        approvals.ask(&payment()).await.unwrap(),
        approvals.ask(&payment()).await.unwrap(),
    );
    shown(&api, &two).await;
    api.text("hello there", now_s(&world));
    api.text("approve", now_s(&world));
    api.text(
        &format!("Approve {}", one.id.as_str().to_uppercase()),
        now_s(&world),
    );
    api.text(&format!(" deny  {} ", two.id), now_s(&world));
    let wait = Duration::from_secs(20);
    assert_eq!(
        approvals.wait(one.id.as_str(), wait).await.unwrap().state,
        State::Approved
    );
    assert_eq!(
        approvals.wait(two.id.as_str(), wait).await.unwrap().state,
        State::Denied
    );
    let said = |words: &str| {
        api.chat()
            .iter()
            .any(|shown| shown.text.contains(words) && shown.buttons.is_empty())
    };
    let ack = format!("{}: denied through telegram", two.id);
    until("it is acknowledged", async || said(&ack)).await;
    assert!(said("Not understood"));
}

#[tokio::test]
async fn only_the_owners_own_fresh_words_count() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    let request = approvals.ask(&visit("example.com")).await.unwrap();
    let message = shown(&api, &request).await;
    let text = format!("approve {}", request.id);
    let now = now_s(&world);
    let stranger = json!({"id": 666, "is_bot": false});
    let group = json!({"id": -1001, "type": "supergroup"});
    let cases: Vec<(&str, Json, &str)> = vec![
        (
            "message",
            json!({"from": stranger, "chat": {"id": 666, "type": "private"}}),
            "not from the owner",
        ),
        (
            "message",
            json!({"from": {"id": OWNER, "is_bot": true}}),
            "not from the owner",
        ),
        ("message", json!({"from": null}), "not from the owner"),
        ("message", json!({"from": stranger}), "not from the owner"),
        ("message", json!({"chat": group}), "not in the private chat"),
        (
            "message",
            json!({"chat": {"id": OWNER, "type": "group"}}),
            "not in the private chat",
        ),
        (
            "message",
            json!({"chat": {"id": 666, "type": "private"}}),
            "not in the private chat",
        ),
        (
            "message",
            json!({"forward_origin": {"type": "user"}}),
            "forwarded",
        ),
        ("message", json!({"forward_date": 5}), "forwarded"),
        (
            "message",
            json!({"via_bot": {"id": 5}}),
            "through another bot",
        ),
        (
            "message",
            json!({"sender_chat": {"id": -5}}),
            "through another bot",
        ),
        ("message", json!({"edit_date": now}), "edited"),
        ("edited_message", json!({"edit_date": now}), "edited"),
        ("message", json!({"date": now - 3600}), "sent before"),
        ("message", json!({"date": 0}), "sent before"),
        ("message", json!({"text": null}), "not a text"),
    ];
    for (kind, mut fields, _) in cases.clone() {
        for (name, value) in [("text", json!(text)), ("date", json!(now))] {
            if fields.get(name).is_none() {
                fields[name] = value;
            }
        }
        api.update(kind, &fields);
    }
    api.press(666, message.id, &data(&message, "Approve"));
    api.press(OWNER, message.id, "approve");
    api.press(
        OWNER,
        message.id,
        &format!("once:{}:0123456789abcdef", request.id),
    );
    // The last one is answered, so that all before it were handled.
    until("the forged tap is refused", async || {
        api.answers()
            .iter()
            .any(|(_, text)| text.contains("does not match"))
    })
    .await;
    assert_eq!(state(&approvals, &request).await, State::Pending);
    for (_, _, why) in &cases {
        let expected = cases.iter().filter(|(_, _, other)| other == why).count();
        let recorded = world.log.count(&["ApprovalRefused", why]);
        assert!(recorded >= expected, "{why}: {recorded} of {expected}");
    }
    assert_eq!(world.log.count(&["a button that is not ours"]), 1);
    api.press(OWNER, message.id, &data(&message, "Allow host 24 h"));
    let decided = approvals
        .wait(request.id.as_str(), Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!(decided.scope, Some(Scope::Hours(24)));
    assert!(
        approvals
            .granted(Action::Http, "example.com", "agent")
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn a_reply_older_than_its_request_does_not_count() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    until("it polls", async || !api.offsets().is_empty()).await;
    world.pass(Duration::from_secs(1000));
    let request = approvals.ask(&payment()).await.unwrap();
    api.text(&format!("approve {}", request.id), now_s(&world) - 500);
    until("it is ignored", async || {
        world.log.count(&["older than the request"]) == 1
    })
    .await;
    assert_eq!(state(&approvals, &request).await, State::Pending);
}

#[tokio::test]
async fn an_expired_request_is_closed_in_the_chat() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    let request = approvals.ask(&payment()).await.unwrap();
    let message = shown(&api, &request).await;
    world.pass(Duration::from_secs(601));
    approvals.sweep().await.unwrap();
    until("the message says so", async || {
        api.chat()[0].text.ends_with(": denied: timeout")
    })
    .await;
    api.press(OWNER, message.id, &data(&message, "Approve"));
    until("the late tap is answered", async || {
        api.answers().len() == 1
    })
    .await;
    assert_eq!(state(&approvals, &request).await, State::Expired);
}

#[tokio::test]
async fn a_large_payment_has_no_button_for_yes() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let _running = start(&approvals, &api.base);
    let mut ask = payment();
    ask.confirm = Some(2000);
    let request = approvals.ask(&ask).await.unwrap();
    let message = shown(&api, &request).await;
    assert_eq!(
        message
            .buttons
            .iter()
            .map(|(text, _)| text.as_str())
            .collect::<Vec<_>>(),
        ["Deny"]
    );
    api.text(&format!("approve {}", request.id), now_s(&world));
    api.text(&format!("approve {} 2000", request.id), now_s(&world));
    let decided = approvals
        .wait(request.id.as_str(), Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!(decided.state, State::Approved);
    assert_eq!(world.log.count(&["ApprovalRefused", "repeated exactly"]), 1);
}

#[tokio::test]
async fn alerts_go_out_and_a_full_queue_says_so() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let running = start(&approvals, &api.base);
    let alerts = running.alerts();
    let alert = blastshield_audit::Alert {
        id: "a1".into(),
        time: Time::from_millis(START_MS),
        severity: blastshield_audit::Severity::Critical,
        kind: blastshield_audit::alerts::AlertKind::CanaryLeak,
        message: "A canary turned up".into(),
        details: serde_json::Map::new(),
        count: 1,
    };
    alerts.send(&alert).unwrap();
    until("the alert is there", async || {
        api.chat()
            .iter()
            .any(|shown| shown.text.contains("A canary turned up"))
    })
    .await;
    api.fault("sendMessage", &[Fault::Hang]);
    let sent = (0..400).filter(|_| alerts.send(&alert).is_ok()).count();
    assert!((256..300).contains(&sent), "{sent}");
    let lost = format!("{} further alerts could not be sent here", 400 - sent);
    until(
        "those that found no room are told as a number",
        async || api.chat().iter().any(|shown| shown.text.contains(&lost)),
    )
    .await;
}

#[tokio::test]
async fn the_kill_switch_is_thrown_by_the_owners_words() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let store = world.store().await;
    let _running = start(&approvals, &api.base);
    let is_on = async || {
        store
            .lockdown()
            .await
            .unwrap()
            .map(|record| (record.on, record.by))
    };
    api.text("lockdown", now_s(&world));
    api.text("Lockdown ON", now_s(&world));
    until("it is on", async || {
        is_on().await == Some((true, "telegram".to_owned()))
    })
    .await;
    // Words from before the lockdown do not lift it.
    api.text("lockdown off", now_s(&world) - 3600);
    let said = |words: &str| api.chat().iter().any(|shown| shown.text.contains(words));
    until("it is told", async || {
        said("older than it") || world.log.count(&["sent before"]) > 0
    })
    .await;
    assert!(is_on().await.unwrap().0);
    api.text("lockdown off", now_s(&world));
    until("it is off", async || !is_on().await.unwrap().0).await;
}
