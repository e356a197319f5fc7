//! Core killed at every step: whoever comes next finishes what was begun, and nothing that was touched is trusted.

use crate::*;
use blastshield_recovery::drafts;
use blastshield_recovery::relationships::Status;
use std::process::Command;
use std::sync::OnceLock;

static DIE_AT: OnceLock<String> = OnceLock::new();
const VICTIM: &str = "BLASTSHIELD_RECOVERY_VICTIM";

fn die_at(point: &'static str) {
    if DIE_AT.get().is_some_and(|wanted| wanted == point) {
        // As by kill -9: nothing is dropped, nothing is flushed.
        std::process::abort();
    }
}

/// Not a test but the process that is killed in one.
#[test]
#[ignore = "run by the tests below"]
fn victim() {
    let Ok(orders) = std::env::var(VICTIM) else {
        return;
    };
    let [data, deed, point] = orders.split('|').collect::<Vec<_>>().try_into().unwrap();
    DIE_AT.set(point.to_owned()).unwrap();
    let mut world = World::at(Path::new(data));
    world.log = Arc::new(Log {
        copy: Some(Path::new(data).join("told")),
        ..Log::default()
    });
    world.pass(60_000);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut options = world.options();
        options.probe = Some(die_at);
        let recovery = world.open_with(options).await;
        match deed {
            "attack" => {
                let _ = world
                    .session(&recovery, Trigger::InjectionDetected, attack)
                    .await;
            }
            "finish" => {
                let _ = world.session(&recovery, Trigger::TaskComplete, idle).await;
            }
            "clear" => {
                let id = recovery.list(false).await.unwrap()[0].id.clone();
                let _ = recovery.clear(&id, "owner", false).await;
            }
            "no-room" => {
                let session = recovery.begin(&moltbook()).await.unwrap();
                let code = if point == "for core" {
                    let code = world.child(&session, Trigger::InjectionDetected, attack);
                    no_room();
                    code
                } else {
                    let workspace = Workspace::open(session.path()).unwrap();
                    let files = attack(&workspace);
                    no_room();
                    last_words(&world, &workspace, &files)
                };
                assert!(recovery.end(session, &exit(code)).await.is_err());
            }
            "restore" => {
                let _ = recovery
                    .restore(&moltbook(), Some("20270115"), "owner")
                    .await;
            }
            "backup" => {
                let _ = recovery.backup(&moltbook(), &[]).await;
            }
            _ => {
                let _ = recovery.resume().await;
            }
        }
    });
}

fn attack(workspace: &Workspace) -> Vec<RelPath> {
    let now = Time::from_millis(START_MS);
    let draft = drafts::Draft::begin(workspace, "d1", "comment", "hello", now).unwrap();
    let mut files = befriend(&["ann", "mallory"])(workspace);
    let mut all = Relationships::read(workspace).unwrap();
    all.set_tier("ann", Tier::Ally).unwrap();
    all.write(workspace).unwrap();
    files.push(draft.path());
    files
}

/// From now on no file of this process grows, as on a full disk.
fn no_room() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: Some(64),
        maximum: Some(64),
    };
    setrlimit(Resource::Fsize, limit).unwrap();
}

/// A child that has no room for its report leaves none, and no half of one.
fn last_words(world: &World, workspace: &Workspace, files: &[RelPath]) -> u8 {
    let words = LastWords {
        trigger: Trigger::InjectionDetected,
        detail: "as the test has it",
        last_action: "",
        requests: 1,
        suspicious: None,
        files_written: files,
    };
    let last = farewell(workspace, None, &words, &SCANNER, world.now());
    assert!(last.report.is_err());
    let logs = std::fs::read_dir(world.workspace().join("logs")).unwrap();
    for entry in logs {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "audit.jsonl" || !name.contains("00.065"), "{name}");
        assert!(!name.ends_with(".tmp"), "{name}");
    }
    last.exit_code
}

/// Runs the victim; it must die where it should.
pub(crate) fn kill(world: &World, deed: &str, point: &str) {
    let ended = victim_process(world, deed, point);
    let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(signal, Some(6), "{deed} did not die at {point}: {said}");
}

/// The victim, with the signal ignored that a file beyond its limit would raise.
fn victim_process(world: &World, deed: &str, point: &str) -> std::process::Output {
    let data = world.options().data;
    Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "deaths::victim", "--ignored", "--nocapture"])
        .env(VICTIM, format!("{}|{deed}|{point}", data.to_str().unwrap()))
        .output()
        .unwrap()
}

pub(crate) async fn prepared() -> World {
    let world = World::new();
    let store = Store::open(StoreOptions::sqlite(world.options().data.join("store.db")))
        .await
        .unwrap();
    let recovery = world.open_on(world.options(), store.clone());
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann", "bob"]))
            .await
            .is_clean()
    );
    recovery.backup(&moltbook(), &[]).await.unwrap();
    store.close().await;
    world.pass(120_000);
    world
}

/// What holds after an attack, wherever core died, once somebody went on.
async fn safe_after_attack(world: &World, point: &str) -> Recovery {
    let recovery = world.open().await;
    recovery.resume().await.unwrap();
    assert!(world.is_held(&recovery).await, "{point}");
    let holds = recovery.list(false).await.unwrap();
    assert_eq!(holds.len(), 1, "{point}");
    let quarantine = holds[0].quarantine.as_ref().unwrap();
    assert_eq!(quarantine.step, "placed", "{point}");
    assert_eq!(quarantine.restored.as_deref(), Some("20270115"), "{point}");
    assert_eq!(world.aside().len(), 1, "{point}");
    assert!(world.aside()[0].ends_with(&quarantine.folder));
    let entries = std::fs::read_dir(world.workspaces()).unwrap().count();
    assert_eq!(entries, 2, "{point}: the workspace and the one aside");
    let workspace = Workspace::open(&world.workspace()).unwrap();
    let all = Relationships::read(&workspace).unwrap();
    assert_eq!((all.len(), all.get("mallory")), (2, None), "{point}");
    let ann = all.get("ann").unwrap();
    assert_eq!(
        (ann.tier, all.get("bob").unwrap().status),
        (Tier::Friend, Status::Active),
        "{point}"
    );
    let touched = quarantine.review.contains(&"ann".to_owned());
    assert_eq!(touched, ann.status == Status::ReviewRequired, "{point}");
    assert!(drafts::list(&workspace).unwrap().0.is_empty(), "{point}");
    let told = std::fs::read_to_string(world.options().data.join("told")).unwrap_or_default();
    let alerts = told.matches("ProxyCrashed").count()
        + world.log.count(&["ProxyCrashed", "adversarial: true"]);
    assert!(alerts >= 1, "{point}: the owner is told");
    recovery
}

const POINTS: [&str; 15] = [
    "begun",
    "ended",
    "told",
    "kept",
    "decided",
    "renamed",
    "moved",
    "cleared-staging",
    "laid-out",
    "restored",
    "flagged",
    "prepared",
    "staged",
    "put",
    "placed",
];

#[tokio::test]
async fn killed_at_any_step_of_an_attack() {
    for point in POINTS {
        let world = prepared().await;
        kill(&world, "attack", point);
        safe_after_attack(&world, point).await;
    }
}

#[tokio::test]
async fn killed_again_and_again() {
    let world = prepared().await;
    kill(&world, "attack", "kept");
    for point in POINTS.iter().skip(4) {
        kill(&world, "resume", point);
    }
    let recovery = safe_after_attack(&world, "again and again").await;
    drop(recovery);
    // The owner's word is no different.
    for point in ["clear-recorded", "clear-reviewed"] {
        kill(&world, "clear", point);
        let recovery = world.open().await;
        assert!(world.is_held(&recovery).await, "{point}");
    }
    let recovery = world.open().await;
    let id = recovery.list(false).await.unwrap()[0].id.clone();
    recovery.clear(&id, "owner", false).await.unwrap();
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, idle)
            .await
            .is_clean()
    );
}

#[tokio::test]
async fn killed_around_a_task_that_was_fine() {
    for (point, held) in [
        ("before-begin", false),
        ("begun", true),
        ("ended", true),
        ("kept", false),
    ] {
        let world = prepared().await;
        kill(&world, "finish", point);
        let recovery = world.open().await;
        recovery.resume().await.unwrap();
        assert_eq!(world.is_held(&recovery).await, held, "{point}");
    }
}

#[tokio::test]
async fn no_room_on_the_disk() {
    for who in ["for core", "for the child"] {
        let world = prepared().await;
        let ended = victim_process(&world, "no-room", who);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{who}: {said}");
        safe_after_attack(&world, who).await;
    }
}

#[tokio::test]
async fn killed_in_a_backup() {
    let world = prepared().await;
    world.pass(DAY_MS);
    {
        let recovery = world.open().await;
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, befriend(&["cyd"]))
                .await
                .is_clean()
        );
    }
    kill(&world, "backup", "backup-file");
    let recovery = world.open().await;
    let good: Vec<bool> = recovery
        .backups(&moltbook())
        .unwrap()
        .iter()
        .map(|(_, good)| *good)
        .collect();
    assert_eq!(
        good,
        [true],
        "half a backup is none, and the old one is whole"
    );
    recovery.backup(&moltbook(), &[]).await.unwrap();
    assert_eq!(recovery.backups(&moltbook()).unwrap().len(), 2);
}
