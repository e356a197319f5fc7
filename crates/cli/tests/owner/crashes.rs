//! Killed in between: nothing that was decided is lost, and nothing is allowed twice.

use crate::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_while_the_program_is_down_counts_after_its_restart() {
    let api = BotApi::start().await;
    let server = Server::with(&api, &[]);
    let id = server.asked(&act("a")).await;
    let message = shown(&api, &id).await;
    // Until then a restart may show it again.
    until("that it was shown is kept", async || {
        let status = server.owner("/v1/status").await;
        let channels = status["channels"].as_array().unwrap();
        channels
            .iter()
            .any(|one| one["name"] == "telegram" && one["delivered"] == 1)
    })
    .await;
    let folder = server.kill();
    api.press(OWNER, message.id, &button(&message, "Approve"));
    let server = Server::start_in(folder, &api, &[]);
    until("the tap is taken up", async || {
        server.state(&id).await == "approved"
    })
    .await;
    until("the message says so", async || {
        of(&api, &id)[0].text.contains("approved (once)")
    })
    .await;
    assert_eq!(of(&api, &id).len(), 1, "shown once");
    let folder = server.kill();
    let server = Server::start_in(folder, &api, &[]);
    let again = server.asked(&act("b")).await;
    shown(&api, &again).await;
    assert_eq!(
        server.state(&again).await,
        "pending",
        "the old tap decides nothing new"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_decision_and_claim_allows_once() {
    let api = BotApi::start().await;
    let mut server = Server::with(&api, &[]);
    for round in 0..3 {
        let name = format!("round {round}");
        let id = server.asked(&act(&name)).await;
        let path = format!("/v1/approvals/{id}/decision");
        let (status, _) = server
            .ask(OWNER_TOKEN, "POST", &path, &json!({"decision": "approve"}))
            .await;
        assert_eq!(status, 200);
        let folder = server.kill();
        server = Server::start_in(folder, &api, &[]);
        let claim = json!({"name": name, "approval": id});
        let other = json!({"name": "something else", "approval": id});
        assert_eq!(
            server.agent("/v1/actions/custom", &other).await["code"],
            "changed"
        );
        assert_eq!(
            server.agent("/v1/actions/custom", &claim).await["decision"],
            "allow"
        );
        let folder = server.kill();
        server = Server::start_in(folder, &api, &[]);
        assert_eq!(
            server.agent("/v1/actions/custom", &claim).await["code"],
            "already_used"
        );
    }
    let folder = server.end();
    assert_eq!(audit(&folder).matches("\"approval_used\"").count(), 3);
    let verified = command(folder.path(), &[], &["audit-log", "verify"])
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_at_any_moment_leave_one_answer() {
    let api = BotApi::start().await;
    let mut folder = Arc::new(tempfile::tempdir().unwrap());
    let mut allowed = 0;
    for round in 0..4_u64 {
        let server = Server::start_in(Arc::clone(&folder), &api, &[]);
        let name = format!("round {round}");
        let id = server.asked(&act(&name)).await;
        let path = format!("/v1/approvals/{id}/decision");
        let (address, claim) = (
            server.address.clone(),
            json!({"name": name, "approval": id}),
        );
        let racing = tokio::spawn({
            let claim = claim.clone();
            async move {
                let yes = json!({"decision": "approve"});
                exchange(&address, OWNER_TOKEN, "POST", &path, &yes).await;
                exchange(&address, AGENT_TOKEN, "POST", "/v1/actions/custom", &claim).await
            }
        });
        tokio::time::sleep(Duration::from_millis(3 * round * round)).await;
        folder = server.kill();
        let told = racing
            .await
            .unwrap()
            .is_some_and(|(_, answer)| answer["decision"] == "allow");
        let server = Server::start_in(Arc::clone(&folder), &api, &[]);
        let again = server.agent("/v1/actions/custom", &claim).await["decision"] == "allow";
        assert!(!(told && again), "allowed twice");
        allowed += u32::from(told || again);
        folder = server.end();
    }
    assert!(allowed <= 4);
}
