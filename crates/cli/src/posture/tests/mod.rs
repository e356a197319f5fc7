//! Every check is shown a deployment that is right and one that is wrong.

mod bench;
mod rows;

use super::check::{Check, Outcome};
use super::report::{self, Tally};
use super::{AREAS, code, fix, looked};
use bench::{Bench, Change, chmod, token};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn checks() -> Vec<&'static Check> {
    AREAS.into_iter().flatten().collect()
}

#[test]
fn there_are_many_and_each_has_its_name_and_its_remedy() {
    let ids: BTreeSet<&str> = checks().iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), checks().len());
    assert!(ids.len() >= 40);
    for check in checks() {
        assert!(check.id.contains('.') && !check.title.is_empty() && !check.fix.is_empty());
    }
}

#[test]
fn every_check_knows_right_from_wrong() {
    let bench = Bench::new();
    let rows = rows::rows();
    let (_good, good) = bench.scene(&[]);
    let mut failed = Vec::new();
    for check in checks() {
        let mine: Vec<_> = rows.iter().filter(|(id, ..)| *id == check.id).collect();
        assert!(!mine.is_empty(), "{} is not tested", check.id);
        for (id, right, wrong) in mine {
            let fine = if right.is_empty() {
                (check.look)(&good)
            } else {
                let (_kept, scene) = bench.scene(right);
                (check.look)(&scene)
            };
            let (_kept, scene) = bench.scene(wrong);
            let found = (check.look)(&scene);
            if fine != Outcome::Fine || !matches!(found, Outcome::Found(_)) {
                failed.push(format!("{id}: {fine:?}, {found:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    for (id, ..) in &rows {
        assert!(
            checks().iter().any(|check| check.id == *id),
            "{id} is no check"
        );
    }
}

#[test]
fn a_good_deployment_is_calm() {
    let (_kept, scene) = Bench::new().scene(&[]);
    let seen = looked(&scene);
    let found: Vec<&str> = seen
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Found(_)))
        .map(|(check, _)| check.id)
        .collect();
    assert_eq!(found, ["secrets.in_environment"]);
    assert_eq!(code(Tally::of(&seen)), super::CALM);
}

#[test]
fn what_is_not_there_is_not_judged() {
    let remove = ["openclaw.json", "data/owner-token", "data/blastshield.db"].map(Change::Remove);
    let (_kept, scene) = Bench::new().scene(&remove);
    let seen = looked(&scene);
    let openclaw = seen
        .iter()
        .filter(|(check, _)| check.id.starts_with("openclaw."));
    assert!(
        openclaw
            .into_iter()
            .all(|(_, outcome)| *outcome == Outcome::NotHere)
    );
    let (_kept, scene) = Bench::new().scene(&[Change::Remove("openclaw.json")]);
    assert!(scene.claw.is_none());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn fixing_takes_rights_from_ours_and_touches_nothing_else() {
    let changes = [
        Change::Mode("data", 0o777),
        Change::Mode("data/owner-token", 0o644),
        Change::Mode("data/logs", 0o755),
        Change::Mode("data/logs/access.jsonl", 0o666),
        Change::Mode("data/blastshield.db", 0o640),
        Change::Mode("blastshield.toml", 0o666),
        Change::Mode("known.txt", 0o644),
        Change::Mode("openclaw.json", 0o666),
    ];
    let (folder, scene) = Bench::new().scene(&changes);
    let root = folder.path();
    fs::write(root.join("data/logs/theirs.txt"), "").unwrap();
    chmod(&root.join("data/logs/theirs.txt"), 0o666);
    let before = fs::read(root.join("blastshield.toml")).unwrap();
    let mended = fix::apply(&looked(&scene));
    assert!(mended.iter().all(|one| one.told().starts_with("fixed: ")));
    let after = |path: &str| mode(&root.join(path));
    assert_eq!(after("data"), 0o700);
    assert_eq!(after("data/owner-token"), 0o600);
    assert_eq!(after("data/logs"), 0o700);
    assert_eq!(after("data/logs/access.jsonl"), 0o600);
    assert_eq!(after("data/blastshield.db"), 0o600);
    assert_eq!(after("blastshield.toml"), 0o644);
    assert_eq!(after("known.txt"), 0o644);
    assert_eq!(after("openclaw.json"), 0o666);
    assert_eq!(after("data/logs/theirs.txt"), 0o666);
    assert_eq!(fs::read(root.join("blastshield.toml")).unwrap(), before);
    let again = looked(&scene);
    assert!(fix::apply(&again).is_empty());
}

#[test]
fn fixing_follows_no_link_and_touches_no_file_with_two_names() {
    let changes = [
        Change::Mode("data/owner-token", 0o644),
        Change::Link("data/owner-token"),
        Change::Mode("data/logs/access.jsonl", 0o644),
    ];
    let (folder, scene) = Bench::new().scene(&changes);
    let root = folder.path();
    fs::hard_link(root.join("data/logs/access.jsonl"), root.join("another")).unwrap();
    let mended = fix::apply(&looked(&scene));
    let refused = mended
        .iter()
        .filter(|one| one.told().starts_with("not fixed: "));
    assert_eq!(refused.count(), 2);
    assert_eq!(mode(&root.join("moved")), 0o644);
    assert_eq!(mode(&root.join("another")), 0o644);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let (folder, mut scene) = Bench::new().scene(&[]);
    let pipe = folder.path().join("pipe");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    );
    made.unwrap();
    assert_eq!(super::scene::bounded(&pipe), None);
    scene.claw = super::openclaw::Claw::look(Some(&pipe), &scene.variables);
    scene.settings.leaks.secret_files = vec![pipe];
    let found: Vec<&str> = looked(&scene)
        .into_iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Found(_)))
        .map(|(check, _)| check.id)
        .collect();
    assert!(found.contains(&"openclaw.unreadable") && found.contains(&"files.named_missing"));
}

#[test]
fn reports_name_places_and_never_secrets() {
    let planted = ["sk", "-", "live", "_planted0123456789abcdef"].concat();
    let toml = format!(
        "[server]\nowner_token = \"{}\"\n[search]\nbrave_base_url = \"http://me:{planted}@search.example\"\n# {}{}\n",
        token("inline"),
        "ghp_",
        "a".repeat(36)
    );
    let changes = [
        Change::Write("blastshield.toml", toml),
        Change::Mode("blastshield.toml", 0o644),
        Change::Claw("gateway.auth.token", planted.clone().into()),
        Change::Claw("channels.tele\u{1b}[2Jgram.dmPolicy", "open".into()),
    ];
    let (_kept, scene) = Bench::new().scene(&changes);
    let seen = looked(&scene);
    for as_json in [true, false] {
        let mut out = Vec::new();
        if as_json {
            report::machine(&mut out, &seen, &[]).unwrap();
        } else {
            report::people(&mut out, &seen, &[], false).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        for secret in [
            planted.clone(),
            token("inline"),
            token("agent"),
            token("owner"),
            token("brave"),
            "a".repeat(36),
        ] {
            assert!(!text.contains(&secret), "{text}");
        }
        assert!(!text.contains('\u{1b}'));
        for id in [
            "secrets.in_config",
            "secrets.leaked_in_config",
            "secrets.in_addresses",
            "files.config_readable",
            "openclaw.open_messages",
        ] {
            assert!(text.contains(id), "{id}\n{text}");
        }
    }
    assert_eq!(code(Tally::of(&seen)), super::CRITICAL);
}
