//! What the environment must hold, the status that tells of it, and who hears of a change.

use crate::common::*;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const OWNER: &str = "owner-token-0123456789";

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{what}: not within ten seconds");
}

fn status_file(folder: &Path) -> Option<Value> {
    let file = folder.join("logs/security-supervisor-status.json");
    serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
}

#[tokio::test]
async fn the_status_is_a_file_and_an_answer() {
    use std::os::unix::fs::PermissionsExt;
    let gateway = start(&[]).await;
    until("the file", async || {
        status_file(gateway.folder.path()).is_some()
    })
    .await;
    let file = gateway
        .folder
        .path()
        .join("logs/security-supervisor-status.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let told = gateway.as_owner("/v1/status").await;
    assert_eq!(told.status, 200);
    for part in [
        "modes",
        "environment",
        "channels",
        "approvals",
        "wallet",
        "audit",
        "alerts",
        "version",
    ] {
        assert!(told.body.get(part).is_some(), "{part}: {}", told.text);
    }
    assert_eq!(told.body["modes"]["wallet"], "disabled");
    assert_eq!(told.body["wallet"]["mode"], "disabled");
    assert_eq!(told.body["approvals"]["owner_can_be_reached"], false);
    assert_eq!(
        told.body["audit"]["head"].as_str().unwrap().len(),
        64,
        "{}",
        told.text
    );
    let ask = json!({"action": "custom", "reason": "r"});
    gateway.post("/v1/approvals", &ask).await;
    until("the file follows", async || {
        status_file(gateway.folder.path()).is_some_and(|status| status["approvals"]["pending"] == 1)
    })
    .await;
}

#[tokio::test]
async fn a_changed_file_of_variables_is_seen_told_and_recorded() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("env");
    let key = "0123456789abcdef".repeat(2);
    std::fs::write(&file, "OPENAI_API_KEY=some-key-of-a-model\n").unwrap();
    let gateway = start(&[
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
        ("BLASTSHIELD_ENV_FILE", file.to_str().unwrap()),
        ("BLASTSHIELD_ENV_CHECK_SECONDS", "1"),
    ])
    .await;
    let owner = async || {
        answer(
            gateway
                .request(reqwest::Method::GET, "/v1/status")
                .bearer_auth(OWNER),
        )
        .await
    };
    let first = owner().await;
    assert_eq!(first.body["modes"]["agent"], "enabled", "{}", first.text);
    std::fs::write(&file, format!("LNBITS_INVOICE_KEY={key}\n")).unwrap();
    until("the change", async || {
        owner().await.body["modes"]["wallet"] == "receive-only"
    })
    .await;
    assert_eq!(owner().await.body["modes"]["agent"], "inoperable");
    std::fs::write(&file, "not a variable\n").unwrap();
    until("the fault", async || {
        owner().await.body["environment_fault"].is_string()
    })
    .await;
    assert_eq!(
        owner().await.body["modes"]["wallet"],
        "receive-only",
        "what was seen last counts"
    );
    std::fs::write(&file, "OPENAI_API_KEY=some-key-of-a-model\n").unwrap();
    until("the mend", async || {
        owner().await.body["environment_fault"].is_null()
    })
    .await;
    let alerts = answer(
        gateway
            .request(reqwest::Method::GET, "/v1/alerts")
            .bearer_auth(OWNER),
    )
    .await;
    assert!(alerts.text.contains("OPENAI_API_KEY"), "{}", alerts.text);
    let folder = gateway.stop().await;
    let all = written(folder.path());
    for part in [
        "env_changed",
        "mode of wallet: disabled to receive-only",
        "env_unreadable",
    ] {
        assert!(all.contains(part), "{part}");
    }
    assert!(!all.contains(&key) && !all.contains("some-key-of-a-model"));
}

#[tokio::test]
async fn what_is_missing_is_an_alert_once_and_not_at_each_start() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("env");
    std::fs::write(&file, "OPENAI_API_KEY=\n").unwrap();
    let variables = [
        ("BLASTSHIELD_ENV_FILE", file.to_str().unwrap()),
        ("BLASTSHIELD_ENV_CHECK_SECONDS", "1"),
    ];
    let gateway = start(&variables).await;
    until("the alert", async || {
        gateway
            .as_owner("/v1/alerts")
            .await
            .text
            .contains("OPENAI_API_KEY")
    })
    .await;
    until("the file", async || {
        status_file(gateway.folder.path()).is_some()
    })
    .await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let folder = gateway.stop().await;
    let count = |folder: &Path| {
        let log =
            std::fs::read_to_string(folder.join("logs/security-supervisor-audit.log")).unwrap();
        (
            log.matches("\"env_checked\"").count(),
            log.matches("\"env_unchanged\"").count(),
        )
    };
    assert_eq!(count(folder.path()), (1, 0));
    let gateway = start_in(folder, &variables).await;
    until("the second start", async || {
        count(gateway.folder.path()).1 == 1
    })
    .await;
    assert!(
        !gateway
            .as_owner("/v1/alerts")
            .await
            .text
            .contains("OPENAI_API_KEY")
    );
    assert_eq!(count(gateway.stop().await.path()), (1, 1));
}

#[tokio::test]
async fn files_that_cannot_be_used_stop_the_start() {
    use blastshield_gateway::{Gateway, StartError};
    let outside = tempfile::tempdir().unwrap();
    let bad = outside.path().join("bad");
    std::fs::write(&bad, "{\"version\": 7}").unwrap();
    for (name, value) in [
        ("BLASTSHIELD_ENV_SCHEMA", "/does/not/exist"),
        ("BLASTSHIELD_ENV_FILE", "/does/not/exist"),
        ("BLASTSHIELD_ENV_SCHEMA", bad.to_str().unwrap()),
        ("BLASTSHIELD_ENV_FILE", bad.to_str().unwrap()),
        ("BLASTSHIELD_ENV_FILE", outside.path().to_str().unwrap()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refused = Gateway::bind(settings_in(folder.path(), &[(name, value)])).await;
        match refused {
            Err(error @ StartError::Owner(_)) => {
                assert!(!error.to_string().contains("/"), "{error}");
            }
            _ => panic!("{name}={value} started"),
        }
    }
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for variable in ["BLASTSHIELD_ENV_FILE", "BLASTSHIELD_ENV_SCHEMA"] {
        let settings = settings_in(folder.path(), &[(variable, pipe.to_str().unwrap())]);
        let Err(error) = blastshield_gateway::Gateway::bind(settings).await else {
            panic!("{variable}: started without what it must know");
        };
        let said = error.to_string();
        assert!(said.contains("cannot be read"), "{variable}: {said}");
    }
}
