//! Whatever happens to the line between the bot and Telegram, or to this process, the owner's word counts once.

use crate::botapi::{BotApi, Fault, OWNER, TOKEN};
use crate::telegram::{data, now_s, of, shown, start, start_with, state};
use crate::*;
use blastshield_owner::{ChannelState, State};

#[tokio::test]
async fn no_fault_of_the_line_keeps_a_request_from_the_owner() {
    for fault in [
        Fault::Refuse,
        Fault::LoseAnswer,
        Fault::Hang,
        Fault::Garbage,
        Fault::TooMany(1),
        Fault::Status(500),
        Fault::Status(502),
    ] {
        let world = World::new();
        let (api, approvals) = (BotApi::start().await, world.open().await);
        for method in [
            "sendMessage",
            "getUpdates",
            "editMessageText",
            "answerCallbackQuery",
        ] {
            api.fault(method, &[fault, fault]);
        }
        let _running = start(&approvals, &api.base);
        let request = approvals.ask(&payment()).await.unwrap();
        let message = shown(&api, &request).await;
        api.press(OWNER, message.id, &data(&message, "Deny"));
        let decided = approvals
            .wait(request.id.as_str(), Duration::from_secs(20))
            .await
            .unwrap();
        assert_eq!(decided.state, State::Denied, "{fault:?}");
        until("the last message is edited", async || {
            of(&api, &request)
                .iter()
                .any(|shown| shown.id == message.id && shown.text.contains(": denied through"))
        })
        .await;
        assert_eq!(world.log.count(&["ApprovalDecided"]), 1, "{fault:?}");
        assert_eq!(api.complaints(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_was_said_while_we_were_away_counts_once() {
    let world = World::new();
    let api = BotApi::start().await;
    let approvals = world.open().await;
    let running = start(&approvals, &api.base);
    let (one, two) = (
        approvals.ask(&payment()).await.unwrap(),
        approvals.ask(&payment()).await.unwrap(),
    );
    let message = shown(&api, &one).await;
    shown(&api, &two).await;
    api.text("hello", now_s(&world));
    until("the place is noted", async || {
        api.offsets().last().copied().flatten().is_some()
    })
    .await;
    let read_to = api.offsets().last().copied().flatten();
    drop(running);
    drop(approvals);
    // Meanwhile.
    api.press(OWNER, message.id, &data(&message, "Approve"));
    api.text(&format!("deny {}", two.id), now_s(&world));
    let before = api.offsets().len();
    let approvals = world.open().await;
    let three = approvals.ask(&payment()).await.unwrap();
    let running = start(&approvals, &api.base);
    let wait = Duration::from_secs(20);
    assert_eq!(
        approvals.wait(one.id.as_str(), wait).await.unwrap().state,
        State::Approved
    );
    assert_eq!(
        approvals.wait(two.id.as_str(), wait).await.unwrap().state,
        State::Denied
    );
    shown(&api, &three).await;
    assert!(
        api.offsets()[before] >= read_to,
        "reads on where it stopped"
    );
    until("the place is noted again", async || {
        api.offsets().last().copied().flatten() > read_to
    })
    .await;
    drop(running);
    drop(approvals);
    let approvals = world.open().await;
    let _running = start(&approvals, &api.base);
    let before = api.offsets().len();
    until("it polls again", async || api.offsets().len() > before + 1).await;
    assert_eq!(of(&api, &one).len(), 1, "not shown again");
    assert_eq!(world.log.count(&["ApprovalDecided"]), 2);
    assert_eq!(
        world.log.count(&["already"]),
        0,
        "nothing was handled twice"
    );
}

#[tokio::test]
async fn on_the_first_run_what_was_said_before_does_not_count() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let request = approvals.ask(&payment()).await.unwrap();
    api.text(&format!("approve {}", request.id), now_s(&world));
    world.pass(Duration::from_secs(300));
    let _running = start(&approvals, &api.base);
    until("it is ignored", async || {
        world.log.count(&["sent before"]) == 1
    })
    .await;
    assert_eq!(state(&approvals, &request).await, State::Pending);
}

#[tokio::test]
async fn a_dead_line_is_recorded_shown_and_means_no() {
    let world = World::new();
    let approvals = world.open().await;
    let dead = {
        let api = BotApi::start().await;
        api.base.clone()
    };
    let _running = start(&approvals, &dead);
    let request = approvals.ask(&payment()).await.unwrap();
    until("it is recorded", async || {
        world
            .log
            .count(&["Undeliverable", "\"telegram\"", "last: true"])
            == 1
    })
    .await;
    until("both directions are down", async || {
        approvals
            .channels()
            .iter()
            .all(|channel| channel.state == ChannelState::Down)
    })
    .await;
    assert!(
        approvals
            .channels()
            .iter()
            .all(|channel| channel.why.is_some())
    );
    world.pass(Duration::from_secs(601));
    let over = approvals
        .wait(request.id.as_str(), Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!(over.state, State::Expired);
    assert_eq!(
        world.log.count(&["Undeliverable", "\"telegram\""]),
        1,
        "once per outage"
    );
}

#[tokio::test]
async fn a_wrong_token_is_said_at_once_and_never_shown() {
    let world = World::new();
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let wrong = TOKEN.replace("test", "fail");
    let _running = start_with(&approvals, &api.base, &wrong);
    approvals.ask(&payment()).await.unwrap();
    until("it is recorded", async || {
        world.log.count(&["Undeliverable", "telegram"]) >= 2
    })
    .await;
    let told = format!("{}{:?}", world.log.all(), approvals.channels());
    assert!(
        !told.contains(&wrong) && !told.contains(&wrong[5..]),
        "{told}"
    );
    assert!(api.chat().is_empty());
}

#[tokio::test]
async fn through_chaos_every_request_ends_as_the_owner_said() {
    let world = World::new();
    let api = BotApi::start().await;
    api.misbehave();
    let mut approvals = world.open().await;
    let mut running = start(&approvals, &api.base);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let faults = [
        Fault::Refuse,
        Fault::LoseAnswer,
        Fault::Garbage,
        Fault::Status(500),
        Fault::TooMany(0),
        Fault::Hang,
    ];
    let mut requests = Vec::new();
    for round in 0..24_usize {
        for method in [
            "sendMessage",
            "getUpdates",
            "editMessageText",
            "answerCallbackQuery",
        ] {
            if random(3) == 0 {
                // Hanging costs real time: seldom.
                let which = random(if round % 8 == 0 { 6 } else { 5 });
                api.fault(method, &[faults[usize::try_from(which).unwrap()]]);
            }
        }
        let mut ask = payment();
        ask.requester = format!("agent{round}");
        let request = approvals.ask(&ask).await.unwrap();
        let message = shown(&api, &request).await;
        let approve = random(2) == 0;
        let (button, word) = if approve {
            ("Approve", "approve")
        } else {
            ("Deny", "deny")
        };
        for _ in 0..=random(2) {
            if random(2) == 0 {
                api.press(OWNER, message.id, &data(&message, button));
            } else {
                api.text(&format!("{word} {}", request.id), now_s(&world));
            }
        }
        api.press(
            666,
            message.id,
            &data(&message, if approve { "Deny" } else { "Approve" }),
        );
        requests.push((request, approve));
        if random(6) == 0 {
            drop(running);
            approvals = world.open().await;
            running = start(&approvals, &api.base);
        }
    }
    for (request, approve) in &requests {
        // What a restart cut off between decision and record is made good by a sweep some seconds later.
        until("the request is decided", async || {
            world.pass(Duration::from_millis(500));
            approvals.sweep().await.unwrap();
            state(&approvals, request).await != State::Pending
        })
        .await;
        let expected = if *approve {
            State::Approved
        } else {
            State::Denied
        };
        assert_eq!(state(&approvals, request).await, expected);
        let told = if *approve { "Approved" } else { "Denied" };
        let id = request.id.as_str();
        let recorded = world.log.count(&["ApprovalDecided", id]);
        assert!(recorded > 0 && recorded == world.log.count(&["ApprovalDecided", id, told]));
    }
    assert_eq!(api.complaints(), Vec::<String>::new());
    drop(running);
}
