//! Alerts reach the owner sooner or later, whatever happens to the channel, the store or this process.

use crate::botapi::{BotApi, Fault};
use crate::telegram::start;
use crate::*;
use blastshield_audit::alerts::{AlertKind, Sink};
use blastshield_audit::{Alert, Severity};

fn alert(number: u64) -> Alert {
    Alert {
        id: format!("a{number}"),
        time: Time::from_millis(START_MS + number),
        severity: Severity::Critical,
        kind: AlertKind::CanaryLeak,
        message: format!("Canary number {number} turned up"),
        details: serde_json::Map::new(),
        count: 1,
    }
}

fn told(api: &BotApi) -> Vec<u64> {
    let number = |text: String| {
        let (_, rest) = text.split_once("number ")?;
        rest.split(' ').next()?.parse().ok()
    };
    let chat = api.chat().into_iter();
    chat.filter_map(|shown| number(shown.text)).collect()
}

#[tokio::test]
async fn what_a_dead_channel_could_not_carry_is_carried_after_a_restart() {
    let world = World::new();
    let (api, approvals, store) = (
        BotApi::start().await,
        world.open().await,
        world.store().await,
    );
    api.fault("sendMessage", &[Fault::Refuse; 10_000]);
    let running = start(&approvals, &api.base);
    for number in 1..=5 {
        running.alerts().send(&alert(number)).unwrap();
    }
    until("they are in the store", async || {
        store.waiting_alerts("telegram").await == Ok(5)
    })
    .await;
    assert!(!running.is_quiet(), "nothing was sent");
    drop(running);
    drop(approvals);
    assert_eq!(told(&api), [0_u64; 0]);

    // Whoever carried one when it died has it no longer.
    world.pass(Duration::from_secs(60));
    let (api, approvals) = (BotApi::start().await, world.open().await);
    let running = start(&approvals, &api.base);
    until("all are told", async || told(&api).len() >= 5).await;
    until("none is left", async || {
        store.waiting_alerts("telegram").await == Ok(0)
    })
    .await;
    assert_eq!(told(&api), [1, 2, 3, 4, 5], "once each, in order");
    assert!(running.is_quiet());
    drop(running);

    let running = start(&approvals, &api.base);
    running.alerts().send(&alert(6)).unwrap();
    until("the sixth is told", async || told(&api).len() >= 6).await;
    assert_eq!(told(&api).len(), 6, "none again");
}

#[tokio::test]
async fn each_channel_carries_its_own() {
    let world = World::new();
    let (api, approvals, store) = (
        BotApi::start().await,
        world.open().await,
        world.store().await,
    );
    let running = start(&approvals, &api.base);
    let dead = blastshield_owner::DiscordChannel::start(
        &approvals,
        blastshield_upstream::Discord::new(
            &"http://127.0.0.1:9/api/webhooks/1/x".parse().unwrap(),
            Duration::from_millis(200),
        )
        .unwrap(),
        None,
        blastshield_owner::Pace::default(),
    );
    for running in [&running, &dead] {
        running.alerts().send(&alert(1)).unwrap();
    }
    until("one channel carries it", async || told(&api) == [1]).await;
    assert_eq!(store.waiting_alerts("discord").await, Ok(1));
}

#[tokio::test]
async fn an_alert_goes_out_though_the_store_is_gone() {
    let world = World::new();
    let (api, store) = (BotApi::start().await, world.store().await);
    let approvals = world.open_on(store.clone()).await;
    let running = start(&approvals, &api.base);
    store.close().await;
    running.alerts().send(&alert(1)).unwrap();
    until("it is told", async || told(&api) == [1]).await;
}
