//! Services that wait, and the owner's word.

use crate::common::*;
use blastshield_audit::{Event, SystemClock};
use blastshield_leak::Scanner;
use blastshield_recovery::{Options, Recorder, Recovery, ServiceName, Unrecorded};
use blastshield_store::{Store, StoreOptions};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

struct Anybody;

impl Recorder for Anybody {
    fn record(&self, _: &Event<'_>) -> Result<(), Unrecorded> {
        Ok(())
    }
}

/// A service whose session nobody saw end.
async fn lose_a_session(data: &Path) {
    let store = Store::open(StoreOptions::sqlite(data.join("blastshield.db")))
        .await
        .unwrap();
    let recovery = Recovery::open(
        Options::new(data),
        store.clone(),
        Arc::new(Anybody),
        Arc::new(Scanner::shipped()),
        Arc::new(SystemClock),
    )
    .unwrap();
    let service = ServiceName::new("other-service").unwrap();
    drop(recovery.begin(&service).await.unwrap());
    store.close().await;
}

async fn clear(gateway: &Running, id: &str, body: &Value, token: &str) -> Answer {
    let path = format!("/v1/quarantines/{id}/clear");
    answer(
        gateway
            .request(Method::POST, &path)
            .json(body)
            .bearer_auth(token),
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_saw_end_waits_for_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    lose_a_session(folder.path()).await;
    let gateway = start_in(folder, &[]).await;
    let owner = gateway.owner_token();
    for path in ["/v1/quarantines", "/v1/quarantines/x"] {
        assert_eq!(gateway.get(path).await.status, 403, "{path}");
    }
    assert_eq!(clear(&gateway, "x", &json!({}), "agent").await.status, 401);

    // Judged when the gateway started.
    let listed = gateway.as_owner("/v1/quarantines").await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    let hold = &listed.body["quarantines"][0];
    assert_eq!(hold["service"], "other-service");
    assert_eq!(hold["kind"], "adversarial");
    assert_eq!(hold["trigger"], "MISSING_REPORT");
    assert_eq!(hold["quarantine"]["step"], "placed");
    let id = hold["id"].as_str().unwrap();
    let shown = gateway.as_owner(&format!("/v1/quarantines/{id}")).await;
    assert_eq!((shown.status, &shown.body["quarantine"]), (200, hold));
    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(alerts.text.contains("proxy_crash"), "{}", alerts.text);

    for (body, status) in [
        (json!({"by": ""}), 400),
        (json!({"by": "a\nb"}), 400),
        (json!({"who": "me"}), 400),
        (json!({"keep_review": true}), 200),
        (json!({}), 409),
    ] {
        let answer = clear(&gateway, id, &body, &owner).await;
        assert_eq!(answer.status, status, "{body} {}", answer.text);
    }
    assert_eq!(
        clear(&gateway, "zzzzzzzz", &json!({}), &owner).await.status,
        404
    );
    assert_eq!(
        gateway.as_owner("/v1/quarantines/zzzzzzzz").await.status,
        404
    );
    assert_eq!(
        gateway.as_owner("/v1/quarantines?all=maybe").await.status,
        400
    );
    let left = gateway.as_owner("/v1/quarantines").await;
    assert_eq!(left.body["quarantines"], json!([]));
    let all = gateway.as_owner("/v1/quarantines?all=true").await;
    assert_eq!(all.body["quarantines"][0]["cleared_by"], "owner");
}

/// The requests to the owner that are about holds.
async fn asked(gateway: &Running) -> Vec<Value> {
    let answer = gateway.as_owner("/v1/approvals").await;
    let all = answer.body["approvals"].as_array().unwrap().clone();
    all.into_iter()
        .filter(|one| one.to_string().contains("quarantine of other-service"))
        .collect()
}

async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    for _ in 0..600 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_yes_clears() {
    let folder = tempfile::tempdir().unwrap();
    lose_a_session(folder.path()).await;
    let gateway = start_in(folder, &[]).await;
    let owner = gateway.owner_token();
    let request = until("the owner is asked", async || asked(&gateway).await.pop()).await;
    let id = request["id"].as_str().unwrap();
    assert_eq!(
        (&request["state"], &request["action"]),
        (&"pending".into(), &"custom".into())
    );
    assert_eq!(
        gateway.get(&format!("/v1/approvals/{id}")).await.status,
        404,
        "not the agent's"
    );
    let decided = answer(
        gateway
            .request(Method::POST, &format!("/v1/approvals/{id}/decision"))
            .json(&json!({"decision": "approve"}))
            .bearer_auth(&owner),
    )
    .await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    until("it is cleared", async || {
        let left = gateway.as_owner("/v1/quarantines").await;
        (left.body["quarantines"] == json!([])).then_some(())
    })
    .await;
    let all = gateway.as_owner("/v1/quarantines?all=true").await;
    let by = all.body["quarantines"][0]["cleared_by"].as_str().unwrap();
    assert!(by.starts_with("owner ("), "{by}");
    assert_eq!(asked(&gateway).await.len(), 1, "asked once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_no_is_a_no() {
    let folder = tempfile::tempdir().unwrap();
    lose_a_session(folder.path()).await;
    let gateway = start_in(folder, &[]).await;
    let owner = gateway.owner_token();
    let request = until("the owner is asked", async || asked(&gateway).await.pop()).await;
    let path = format!("/v1/approvals/{}/decision", request["id"].as_str().unwrap());
    let no = json!({"decision": "deny"});
    let decided = gateway
        .request(Method::POST, &path)
        .json(&no)
        .bearer_auth(&owner);
    assert_eq!(answer(decided).await.status, 200);
    // Another start asks nobody anew and lets nothing run.
    let folder = gateway.stop().await;
    let gateway = start_in(folder, &[]).await;
    for _ in 0..10 {
        let left = gateway.as_owner("/v1/quarantines").await;
        assert_eq!(left.body["quarantines"].as_array().unwrap().len(), 1);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(asked(&gateway).await.len(), 1, "asked once");
}
