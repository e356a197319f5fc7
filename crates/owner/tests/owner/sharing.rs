//! Two programs that poll for the same bot: that is told, it costs no answer, and it passes by itself.

use crate::botapi::{BotApi, OWNER};
use crate::telegram::{data, now_s, shown, start, state};
use crate::*;
use blastshield_owner::{ChannelState, State};

fn replies(approvals: &Approvals) -> (ChannelState, String) {
    let all = approvals.channels();
    let replies = all
        .iter()
        .find(|channel| channel.name == "telegram_replies");
    let replies = replies.unwrap();
    (replies.state, replies.why.clone().unwrap_or_default())
}

fn in_conflict(approvals: &Approvals) -> bool {
    let (state, why) = replies(approvals);
    state == ChannelState::Down && why.contains("another program receives this bot's messages")
}

#[tokio::test]
async fn two_gateways_on_one_bot_lose_no_answer_say_so_and_recover() {
    let worlds = [World::new(), World::new()];
    let api = BotApi::start().await;
    let (one, two) = (worlds[0].open().await, worlds[1].open().await);
    let _first = start(&one, &api.base);
    let second = start(&two, &api.base);
    until("both know of each other", async || {
        in_conflict(&one) && in_conflict(&two)
    })
    .await;
    for round in 0..4 {
        for (which, approvals) in [&one, &two].into_iter().enumerate() {
            let mut ask = payment();
            ask.requester = format!("agent{round}");
            let request = approvals.ask(&ask).await.unwrap();
            let message = shown(&api, &request).await;
            let expected = if round % 2 == 0 {
                api.press(OWNER, message.id, &data(&message, "Approve"));
                State::Approved
            } else {
                api.text(&format!("deny {}", request.id), now_s(&worlds[0]));
                State::Denied
            };
            let decided = approvals
                .wait(request.id.as_str(), Duration::from_secs(20))
                .await
                .unwrap();
            assert_eq!(decided.state, expected);
            let id = request.id.as_str();
            assert_eq!(worlds[which].log.count(&["ApprovalDecided", id]), 1);
            assert_eq!(
                worlds[which].log.count(&["already", id]),
                0,
                "acted on once"
            );
        }
    }
    for world in &worlds {
        let told = world.log.count(&["Undeliverable", "telegram_replies"]);
        assert_eq!(told, 1, "told once, however they take turns");
    }
    // What concerns all of them reaches all of them.
    api.text("lockdown on", now_s(&worlds[0]));
    for world in &worlds {
        let store = world.store().await;
        until("both are locked down", async || {
            store.lockdown().await.unwrap().is_some_and(|last| last.on)
        })
        .await;
    }

    drop(second);
    until("the other is forgotten", async || {
        worlds[0].pass(Duration::from_secs(10));
        replies(&one).0 == ChannelState::Up
    })
    .await;
    let mut ask = payment();
    ask.requester = "later".to_owned();
    let request = one.ask(&ask).await.unwrap();
    let message = shown(&api, &request).await;
    api.press(OWNER, message.id, &data(&message, "Deny"));
    until("it is decided", async || {
        state(&one, &request).await == State::Denied
    })
    .await;
    assert_eq!(api.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn two_processes_on_one_store_act_on_each_answer_once() {
    let world = World::new();
    let api = BotApi::start().await;
    let (one, two) = (world.open().await, world.open().await);
    let _running = [start(&one, &api.base), start(&two, &api.base)];
    for round in 0..6 {
        let mut ask = payment();
        ask.requester = format!("agent{round}");
        let request = one.ask(&ask).await.unwrap();
        let message = shown(&api, &request).await;
        api.press(OWNER, message.id, &data(&message, "Approve"));
        until("it is decided", async || {
            state(&two, &request).await == State::Approved
        })
        .await;
        let id = request.id.as_str();
        assert_eq!(world.log.count(&["ApprovalDecided", id]), 1);
    }
}
