use super::*;
use crate::folder::Folder;
use DraftState::{Abandoned, InProgress, PendingApproval, Sent};

fn workspace() -> (tempfile::TempDir, Workspace) {
    let place = tempfile::tempdir().unwrap();
    let workspace = Workspace::lay_out(Folder::open(place.path()).unwrap()).unwrap();
    (place, workspace)
}

#[test]
fn a_draft_moves_forward_only() {
    let all = [InProgress, PendingApproval, Sent, Abandoned];
    let open = [
        (InProgress, PendingApproval),
        (InProgress, Sent),
        (InProgress, Abandoned),
        (PendingApproval, Sent),
        (PendingApproval, Abandoned),
    ];
    for from in all {
        for to in all {
            assert_eq!(
                from.may_become(to),
                open.contains(&(from, to)),
                "{from:?} {to:?}"
            );
        }
    }
}

#[test]
fn the_state_on_disk_counts() {
    let (_place, workspace) = workspace();
    let now = Time::from_millis(5);
    let mut draft = Draft::begin(&workspace, "d1", "comment", "hello", now).unwrap();
    let mut stale = draft.clone();
    draft.rewrite(&workspace, "hello there", now).unwrap();
    draft
        .become_state(&workspace, PendingApproval, now)
        .unwrap();
    draft.become_state(&workspace, Sent, now).unwrap();
    assert_eq!(
        stale.become_state(&workspace, Sent, now),
        Err(DraftError::Illegal {
            from: Sent,
            to: Sent
        })
    );
    assert!(stale.rewrite(&workspace, "x", now).is_err());
    let kept = Draft::read(&workspace, "d1").unwrap();
    assert_eq!((kept.state(), kept.body()), (Sent, "hello there"));
    assert_eq!(
        Draft::begin(&workspace, "d1", "comment", "again", now),
        Err(WorkspaceError::Io(std::io::ErrorKind::AlreadyExists))
    );
}

#[test]
fn what_is_in_progress_is_given_up_and_the_rest_stays() {
    let (place, workspace) = workspace();
    let now = Time::from_millis(5);
    for id in ["a", "b", "c"] {
        Draft::begin(&workspace, id, "comment", "text", now).unwrap();
    }
    let mut waiting = Draft::read(&workspace, "b").unwrap();
    waiting
        .become_state(&workspace, PendingApproval, now)
        .unwrap();
    std::fs::write(place.path().join("drafts/junk.json"), "{").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("drafts/l.json")).unwrap();
    let gone = abandon_in_progress(&workspace, now).unwrap();
    let gone: Vec<&str> = gone.iter().map(RelPath::as_str).collect();
    assert_eq!(gone, ["drafts/a.json", "drafts/c.json"]);
    let (drafts, others) = list(&workspace).unwrap();
    let states: Vec<DraftState> = drafts.iter().map(Draft::state).collect();
    assert_eq!(
        (states, others),
        (vec![Abandoned, PendingApproval, Abandoned], 2)
    );
}

#[test]
fn odd_names_and_long_texts_are_refused() {
    let (_place, workspace) = workspace();
    let now = Time::from_millis(5);
    for id in ["", "../x", "a/b", "a.b", &"x".repeat(65)] {
        assert!(
            Draft::begin(&workspace, id, "comment", "", now).is_err(),
            "{id}"
        );
        assert!(Draft::read(&workspace, id).is_err(), "{id}");
    }
    let long = "x".repeat(MAX_BODY + 1);
    assert_eq!(
        Draft::begin(&workspace, "a", "comment", &long, now),
        Err(WorkspaceError::TooLarge)
    );
}
