//! An older backup, put back because a person says so.

use crate::deaths::{kill, prepared};
use crate::*;
use blastshield_recovery::{Hold, RecoveryError, RestoreError};
use std::fs;

fn known(world: &World) -> Vec<String> {
    let workspace = Workspace::open(&world.workspace()).unwrap();
    let all = Relationships::read(&workspace).unwrap();
    all.iter().map(|(name, _)| name.to_owned()).collect()
}

/// Backups of two days: ann and bob on the first, cyd as well on the second; since then dora.
async fn two_days() -> World {
    let world = prepared().await;
    world.pass(DAY_MS);
    let recovery = world.open().await;
    for name in [&["cyd"], &["dora"]] {
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, befriend(name))
                .await
                .is_clean()
        );
        if name == &["cyd"] {
            recovery.backup(&moltbook(), &[]).await.unwrap();
        }
        world.pass(1000);
    }
    world
}

#[tokio::test]
async fn what_is_there_is_put_aside_and_the_day_comes_back() {
    for (from, expected) in [
        (None, vec!["ann", "bob", "cyd"]),
        (Some("20270116"), vec!["ann", "bob", "cyd"]),
        (Some("2027-01-15"), vec!["ann", "bob"]),
    ] {
        let world = two_days().await;
        let recovery = world.open().await;
        let restored = recovery
            .restore(&moltbook(), from, "owner (cli)")
            .await
            .unwrap();
        assert_eq!(known(&world), expected, "{from:?}");
        assert_eq!(restored.still_held, 0);
        let aside = world.aside();
        assert!(aside.len() == 1 && aside[0].ends_with(&restored.folder));
        let kept = fs::read_to_string(aside[0].join("relationships.json")).unwrap();
        assert!(kept.contains("dora"), "nothing is deleted");
        // Nobody is under review: a person chose what comes back.
        let workspace = Workspace::open(&world.workspace()).unwrap();
        let all = Relationships::read(&workspace).unwrap();
        assert_eq!(all.under_review().count(), 0);
        assert_eq!(world.log.count(&["ProxyRestored"]), 1);
        assert_eq!(world.log.count(&["ProxyCleared", "owner (cli)"]), 1);
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, idle)
                .await
                .is_clean()
        );
        assert!(recovery.backup(&moltbook(), &[]).await.is_ok());
    }
}

#[tokio::test]
async fn what_is_not_good_or_not_there_is_not_put_back() {
    let world = two_days().await;
    let recovery = world.open().await;
    let file = world
        .workspaces()
        .parent()
        .unwrap()
        .join("backups/moltbook/relationships-20270115.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("bob", "eve")).unwrap();
    for (from, expected) in [
        (Some("20270115"), RestoreError::Damaged),
        (Some("20200101"), RestoreError::Unknown),
        (Some("20270115-7"), RestoreError::Unknown),
        (Some("../x"), RestoreError::Name),
    ] {
        let got = recovery.restore(&moltbook(), from, "owner").await;
        assert_eq!(got, Err(expected), "{from:?}");
    }
    let nobody = recovery.restore(&moltbook(), None, " ").await;
    assert_eq!(nobody, Err(RestoreError::Who));
    assert!(world.aside().is_empty());
    assert_eq!(known(&world).len(), 4);
}

#[tokio::test]
async fn not_while_a_session_is_on_and_no_hold_ends_by_it() {
    let world = two_days().await;
    let recovery = world.open().await;
    let session = recovery.begin(&moltbook()).await.unwrap();
    assert_eq!(
        recovery.restore(&moltbook(), None, "owner").await,
        Err(RestoreError::Recovery(RecoveryError::Busy))
    );
    let code = world.child(&session, Trigger::InjectionDetected, idle);
    let _ = recovery.end(session, &exit(code)).await.unwrap();
    // An attack holds the service: the owner may look for an older state, and still has to clear it.
    let restored = recovery
        .restore(&moltbook(), Some("20270115"), "owner")
        .await
        .unwrap();
    assert_eq!(restored.still_held, 1);
    assert_eq!(known(&world), ["ann", "bob"]);
    assert!(world.is_held(&recovery).await);
}

#[tokio::test]
async fn killed_at_any_step_it_is_completed() {
    for point in [
        "decided",
        "renamed",
        "moved",
        "cleared-staging",
        "laid-out",
        "restored",
        "prepared",
        "staged",
        "put",
        "placed",
        "restored-by-hand",
    ] {
        let world = two_days().await;
        kill(&world, "restore", point);
        let recovery = world.open().await;
        recovery.resume().await.unwrap();
        assert_eq!(known(&world), ["ann", "bob"], "{point}");
        assert_eq!(world.aside().len(), 1, "{point}");
        // Nothing began meanwhile; core itself may let it go on now that it is complete.
        let holds = recovery.list(false).await.unwrap();
        assert_eq!(holds.len(), 1, "{point}");
        assert_eq!(Hold::parse(holds[0].kind), Hold::Fix, "{point}");
        assert!(world.is_held(&recovery).await, "{point}");
        recovery.settle(&holds[0].id, "restored").await.unwrap();
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, idle)
                .await
                .is_clean(),
            "{point}"
        );
    }
}
