//! Known good, and kept so.

use crate::*;
use blastshield_recovery::RecoveryError;
use blastshield_recovery::backups::{BackupError, Made};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn folder(world: &World) -> PathBuf {
    world
        .workspaces()
        .parent()
        .unwrap()
        .join("backups/moltbook")
}

fn names(world: &World) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder(world))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_is_made_once_a_day_and_never_written_over() {
    let world = World::new();
    let recovery = world.open().await;
    assert_eq!(recovery.backup(&moltbook(), &[]).await, Ok(Made::Nothing));
    assert!(recovery.backup_due(&moltbook()).unwrap());
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann"]))
            .await
            .is_clean()
    );
    assert!(matches!(
        recovery.backup(&moltbook(), &[]).await,
        Ok(Made::New(_))
    ));
    assert!(!recovery.backup_due(&moltbook()).unwrap());
    assert!(matches!(
        recovery.backup(&moltbook(), &[]).await,
        Ok(Made::Unchanged(_))
    ));
    let first = fs::read(folder(&world).join("relationships-20270115.json")).unwrap();
    world.pass(1000);
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["bob"]))
            .await
            .is_clean()
    );
    assert!(
        matches!(recovery.backup(&moltbook(), &[]).await, Ok(Made::New(backup)) if backup.name == "20270115-2")
    );
    assert_eq!(
        fs::read(folder(&world).join("relationships-20270115.json")).unwrap(),
        first
    );
    assert_eq!(
        names(&world),
        [
            "manifest+20270115-2.json",
            "manifest+20270115.json",
            "relationships-20270115-2.json",
            "relationships-20270115.json",
        ]
    );
    let mode = fs::metadata(folder(&world)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    world.pass(DAY_MS);
    assert!(recovery.backup_due(&moltbook()).unwrap());
    assert_eq!(recovery.backed_up().unwrap(), [moltbook()]);
}

#[tokio::test]
async fn what_may_be_poisoned_is_not_backed_up() {
    let world = World::new();
    let recovery = world.open().await;
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann"]))
            .await
            .is_clean()
    );
    recovery.backup(&moltbook(), &[]).await.unwrap();
    world.pass(1000);

    // While a session is on.
    let session = recovery.begin(&moltbook()).await.unwrap();
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::Recovery(RecoveryError::Busy))
    );
    // When nobody saw it end.
    drop(session);
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::Held)
    );
    recovery.resume().await.unwrap();
    // While a hold is on.
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::Held)
    );
    let id = recovery.list(false).await.unwrap()[0].id.clone();
    recovery.clear(&id, "owner", false).await.unwrap();
    assert!(recovery.backup(&moltbook(), &[]).await.is_ok());

    // While somebody is under review.
    world.pass(1000);
    let id = world
        .session(
            &recovery,
            Trigger::InjectionDetected,
            befriend(&["mallory", "bob"]),
        )
        .await
        .hold
        .unwrap();
    recovery.clear(&id, "owner", true).await.unwrap();
    let workspace = Workspace::open(&world.workspace()).unwrap();
    let mut all = Relationships::read(&workspace).unwrap();
    all.set_status(
        "ann",
        blastshield_recovery::relationships::Status::ReviewRequired,
    );
    all.write(&workspace).unwrap();
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::UnderReview)
    );

    // When it is not of its form, or a link.
    fs::write(world.workspace().join("relationships.json"), "{}").unwrap();
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::Odd)
    );
    fs::remove_file(world.workspace().join("relationships.json")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.workspace().join("relationships.json"))
        .unwrap();
    assert_eq!(
        recovery.backup(&moltbook(), &[]).await,
        Err(BackupError::Odd)
    );
}

#[tokio::test]
async fn further_files_are_kept_and_come_back() {
    let world = World::new();
    let recovery = world.open().await;
    let outcome = world
        .session(&recovery, Trigger::TaskComplete, |workspace| {
            workspace.write(&path("posts/topics.json"), b"[1]").unwrap();
            vec![path("posts/topics.json")]
        })
        .await;
    assert!(outcome.is_clean());
    let extra = [
        path("posts/topics.json"),
        path("posts/missing.json"),
        path("posts/topics.json"),
    ];
    let Ok(Made::New(backup)) = recovery.backup(&moltbook(), &extra).await else {
        panic!("no backup");
    };
    assert_eq!(backup.files.len(), 1);
    world.pass(1000);
    let _ = world
        .session(&recovery, Trigger::InjectionDetected, post)
        .await;
    assert_eq!(
        fs::read(world.workspace().join("posts/topics.json")).unwrap(),
        b"[1]"
    );
}

#[tokio::test]
async fn old_backups_go_but_never_the_last_good_one() {
    let world = World::new();
    let recovery = world.open().await;
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann"]))
            .await
            .is_clean()
    );
    for _ in 0..40 {
        recovery.backup(&moltbook(), &[]).await.unwrap();
        world.pass(DAY_MS);
    }
    let all = recovery.backups(&moltbook()).unwrap();
    assert_eq!(all.len(), 31);
    assert!(all.iter().all(|(_, good)| *good));
    assert_eq!(names(&world).len(), 62);
    // A year without any, then one that turns out damaged: the good one stays.
    world.pass(365 * DAY_MS);
    recovery.backup(&moltbook(), &[]).await.unwrap();
    let all = recovery.backups(&moltbook()).unwrap();
    assert_eq!(all.len(), 1);
    let newest = &all[0].0;
    fs::write(folder(&world).join(&newest.files[0].file), "damaged").unwrap();
    assert!(!recovery.backups(&moltbook()).unwrap()[0].1);
    world.pass(1000);
    assert!(
        matches!(recovery.backup(&moltbook(), &[]).await, Ok(Made::New(_))),
        "not taken for unchanged"
    );
}

#[tokio::test]
async fn a_backup_made_after_the_session_began_is_not_known_good() {
    let world = World::new();
    let recovery = world.open().await;
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann"]))
            .await
            .is_clean()
    );
    recovery.backup(&moltbook(), &[]).await.unwrap();
    // The clock goes back: by its time the backup is from the future.
    world.clock.store(START_MS - DAY_MS, Ordering::SeqCst);
    let id = world
        .session(&recovery, Trigger::InjectionDetected, post)
        .await
        .hold
        .unwrap();
    let shown = recovery
        .show(&id)
        .await
        .unwrap()
        .unwrap()
        .quarantine
        .unwrap();
    assert_eq!(shown.restored, None);
}
