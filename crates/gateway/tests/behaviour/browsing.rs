//! The whole way of an agent: search, fetch by id, meet a block, and an owner who can see it all.

use crate::common::*;
use serde_json::json;

#[tokio::test]
async fn an_agent_browses_without_ever_seeing_a_url() {
    let origin = Origin::page(HARMLESS).await;
    let brave = brave(&[hit(&origin.url("/bread"), "Bread", "How to bake bread.")]).await;
    let gateway = start(&brave_variables(&brave.uri())).await;

    let found = gateway.search("bread").await;
    assert_eq!(found.status, 200, "{}", found.text);
    assert!(!found.text.contains("/bread"), "{}", found.text);
    let id = found.body["results"][0]["result_id"].as_str().unwrap();

    let page = gateway.fetch(id).await;
    assert!(page.is_allowed(), "{}", page.text);
    assert!(page.content().contains("flour, water, salt"));
    assert!(!page.text.contains("/bread"), "{}", page.text);
    assert_eq!(page.body["result_id"], id);
}

#[tokio::test]
async fn a_blocked_result_is_told_and_another_can_be_taken() {
    let bad = hostile();
    let origin = Origin::start(move |path| match path {
        "/bad" => html(&bad),
        _ => html(HARMLESS),
    })
    .await;
    let hits = [
        hit(&origin.url("/bad"), "First", "One."),
        hit(&origin.url("/good"), "Second", "Two."),
    ];
    let brave = brave(&hits).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let found = gateway.search("anything").await;
    let id = |n: usize| found.body["results"][n]["result_id"].as_str().unwrap();
    let first = gateway.fetch(id(0)).await;
    assert!(first.is_blocked(), "{}", first.text);
    assert_eq!(first.body["result_id"], id(0));
    assert!(gateway.fetch(id(1)).await.is_allowed());
}

#[tokio::test]
async fn what_was_blocked_is_kept_for_the_owner_and_listed() {
    let origin = Origin::page(hostile()).await;
    let gateway = start(&[]).await;
    let blocked = gateway.web_fetch(&origin.url("/")).await;
    assert!(blocked.is_blocked(), "{}", blocked.text);
    let id = blocked.body["fetch_id"].as_str().unwrap();

    let list = gateway.as_owner("/v1/flagged").await;
    assert_eq!(list.status, 200);
    let entry = &list.body["flagged"][0];
    assert_eq!(entry["fetch_id"], id);
    assert_eq!(entry["sha256"].as_str().unwrap().len(), 64);
    assert!(entry["length"].as_u64().unwrap() > 100);
    assert!(entry["score"].as_f64().unwrap() >= 10.0);
    assert!(!entry["flags"].as_array().unwrap().is_empty());
    assert!(entry.get("content").is_none());

    let one = gateway.as_owner(&format!("/v1/flagged/{id}")).await;
    assert_eq!(one.status, 200);
    assert!(one.body["content"].as_str().unwrap().contains(ATTACK));
    assert_eq!(gateway.as_owner("/v1/flagged/fet_none").await.status, 404);
}

#[tokio::test]
async fn every_fetch_leaves_an_event_without_its_content() {
    let bad = hostile();
    let origin = Origin::start(move |path| match path {
        "/bad" => html(&bad),
        "/gone" => reply("404 Not Found", &[], ""),
        _ => html(HARMLESS),
    })
    .await;
    let gateway = start(&[]).await;
    for path in ["/good", "/bad", "/gone"] {
        gateway.web_fetch(&origin.url(path)).await;
    }
    gateway.web_fetch("http://10.0.0.1/").await;
    let (events, folder) = gateway.stop_and_read_events().await;
    assert_eq!(events.len(), 4);
    let mut decisions: Vec<String> = events
        .iter()
        .map(|event| {
            format!(
                "{:?} {}",
                event.decision,
                event.error_code.as_deref().unwrap_or("-")
            )
        })
        .collect();
    decisions.sort();
    assert_eq!(
        decisions,
        ["Allow -", "Block -", "Block -", "Error upstream_status"]
    );
    assert!(!format!("{events:?}").contains("flour"));
    drop(folder);
}

#[tokio::test]
async fn result_ids_survive_a_restart_within_their_time() {
    let origin = Origin::page(HARMLESS).await;
    let brave = brave(&[hit(&origin.url("/"), "Bread", "Baking.")]).await;
    let uri = brave.uri();
    let gateway = start(&brave_variables(&uri)).await;
    let found = gateway.search("bread").await;
    let id = found.body["results"][0]["result_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let folder = gateway.stop().await;
    let again = start_in(folder, &brave_variables(&uri)).await;
    assert!(again.fetch(&id).await.is_allowed());
}

#[tokio::test]
async fn result_ids_are_random_and_unknown_ones_are_not_found() {
    let hits: Vec<_> = (0..20)
        .map(|n| hit(&format!("https://site{n}.example/"), "Title", "Words."))
        .collect();
    let brave = brave(&hits).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let body = json!({"query": "x", "count": 20});
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let found = gateway.post("/v1/search", &body).await;
        for result in found.body["results"].as_array().unwrap() {
            let id = result["result_id"].as_str().unwrap();
            let random = id.strip_prefix("res_").unwrap();
            assert_eq!(random.len(), 32);
            assert!(random.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(seen.insert(id.to_owned()), "{id} came twice");
        }
    }
    assert_eq!(seen.len(), 60);
    for unknown in [
        "res_00000000000000000000000000000000",
        "x",
        "' OR 1=1 --",
        "https://site1.example/",
    ] {
        let answer = gateway.fetch(unknown).await;
        assert_eq!(answer.status, 404, "{unknown}: {}", answer.text);
        assert_eq!(answer.body["error"]["code"], "not_found");
    }
}

#[tokio::test]
async fn expired_result_ids_are_not_found() {
    use sqlx::{ConnectOptions, Connection};
    let origin = Origin::page(HARMLESS).await;
    let brave = brave(&[hit(&origin.url("/"), "Bread", "Baking.")]).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let found = gateway.search("bread").await;
    let id = found.body["results"][0]["result_id"].as_str().unwrap();
    assert!(gateway.fetch(id).await.is_allowed());
    // Half an hour passes.
    let mut database = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(gateway.folder.path().join("blastshield.db"))
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("UPDATE search_results_cache SET expires_at_ms = expires_at_ms - 1800000")
        .execute(&mut database)
        .await
        .unwrap();
    database.close().await.unwrap();
    assert_eq!(gateway.fetch(id).await.status, 404);
}
