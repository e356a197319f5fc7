//! What is kept and whether it can be believed: store, audit log, retention, clock, room on the disk.

use super::check::{Check, Outcome, critical, found, found_if, info, warn};
use super::scene::Scene;
use blastshield_audit::Time;
use blastshield_audit::log::Verdict;
use blastshield_store::{SCHEMA_VERSION, StoreState, is_local};
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// Clocks of two machines may differ by this much.
const SLACK: Duration = Duration::from_secs(300);

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("keep.retention_short", "Events and logs are gone before anyone can ask about them", "set store.retention_days = 30", |s| found_if(s.settings.store.retention_days < 7, || s.said("store.retention_days"))),
    info("keep.retention_long", "Flagged pages and logs are kept for more than a year", "set store.retention_days = 90", |s| found_if(s.settings.store.retention_days > 365, || s.said("store.retention_days"))),
    info("keep.log_size", "A log file may grow beyond what tools open", "set logs.max_bytes = 16000000", |s| found_if(s.settings.logs.max_bytes > 1_000_000_000, || s.said("logs.max_bytes"))),
    info("store.missing", "The store has not been made yet", "blastshield serve makes it", |s| found_if(s.store == StoreState::Missing, || "no database there".to_owned())),
    critical("store.unusable", "The store cannot be used", "check that the database runs and that its file is whole; restore it from a backup", |s| match s.store {
        StoreState::Unusable(why) => found(why),
        _ => Outcome::Fine,
    }),
    warn("store.old_schema", "The store has an older schema than this program", "start blastshield serve once: it migrates the store", |s| version(s, |found| found < SCHEMA_VERSION)),
    critical("store.new_schema", "The store was written by a newer program, which this one cannot use", "install the newer blastshield again", |s| version(s, |found| found > SCHEMA_VERSION)),
    critical("store.plain_postgres", "The database is reached over the network without TLS", "end store.url with ?sslmode=verify-full", |s| sslmode(s, &["disable", "allow", "prefer"])),
    warn("store.unverified_postgres", "The database's certificate is not checked against its name", "end store.url with ?sslmode=verify-full", |s| sslmode(s, &["require", "verify-ca"])),
    critical("log.broken", "The audit log was changed, cut or reordered", "blastshield audit-log verify shows the place; keep a copy and find out who wrote there", |s| match &s.log {
        Ok(Some((Verdict::Broken { file, line, seq, why }, _))) => found(format!("{file}, line {line}, entry {seq}: {why}")),
        Ok(Some(_)) => Outcome::Fine,
        _ => Outcome::NotHere,
    }),
    warn("log.incidents", "The audit log tells of something wrong with itself", "blastshield audit-log query --category audit --severity warn", |s| match &s.log {
        Ok(Some((Verdict::Verified { incidents, .. }, _))) => found_if(!incidents.is_empty(), || format!("{} entries", incidents.len())),
        _ => Outcome::NotHere,
    }),
    critical("log.unreadable", "The audit log cannot be read", "check who may read the log folder", |s| match &s.log {
        Err(error) => found(error.to_string()),
        Ok(_) => Outcome::Fine,
    }),
    info("log.missing", "There is no audit log yet", "blastshield serve begins it", |s| found_if(matches!(s.log, Ok(None)), || "no entries".to_owned())),
    critical("clock.nonsense", "The clock is wrong: expiry, limits and logs depend on it", "set the clock: timedatectl set-ntp true", |s| {
        let date = s.now.date();
        let year: u32 = date.split('-').next().and_then(|year| year.parse().ok()).unwrap_or(0);
        found_if(!(2026..2100).contains(&year), || format!("today is {date}"))
    }),
    warn("clock.behind", "Something of ours was written in the future: the clock was turned back", "set the clock: timedatectl set-ntp true", behind),
    critical("disk.full", "The disk is nearly full: nothing can be recorded, and the gateway will refuse", "free some space, or shorten store.retention_days", |s| room(s, |free, _| free < 64 * MIB)),
    warn("disk.low", "The disk is getting full", "free some space, or shorten store.retention_days", |s| room(s, |free, all| (64 * MIB..1024 * MIB).contains(&free) && free < all / 4)),
    warn("disk.inodes", "The file system has few inodes left", "delete small files, or move the data folder", |s| match s.inodes {
        None => Outcome::NotHere,
        Some((free, all)) => found_if(free < 1000 && free < all / 20, || format!("{free} left")),
    }),
];

fn version(scene: &Scene, wrong: fn(i64) -> bool) -> Outcome {
    match scene.store {
        StoreState::Found { version, .. } => found_if(wrong(version), || {
            format!("schema {version}, this program has {SCHEMA_VERSION}")
        }),
        _ => Outcome::NotHere,
    }
}

/// Found when a distant database is used in one of these ways.
fn sslmode(scene: &Scene, wrong: &[&str]) -> Outcome {
    let Some(url) = &scene.settings.store.url else {
        return Outcome::NotHere;
    };
    let url = url.reveal();
    let parsed = url::Url::parse(url).ok();
    let mode = parsed
        .iter()
        .flat_map(url::Url::query_pairs)
        .find_map(|(name, value)| {
            ["sslmode", "ssl-mode"]
                .contains(&&*name)
                .then(|| value.to_lowercase())
        });
    // Without a word about it, the store asks distant databases for a certificate.
    let wrong = mode.as_deref().is_some_and(|mode| wrong.contains(&mode));
    found_if(wrong && !is_local(url), || {
        format!("sslmode={} in store.url", mode.unwrap_or_default())
    })
}

fn behind(scene: &Scene) -> Outcome {
    let latest = scene.now.plus(SLACK);
    let stored = match scene.store {
        StoreState::Found { newest, .. } => Some(Time::from_millis(newest.try_into().unwrap_or(0))),
        _ => None,
    };
    let logged = match &scene.log {
        Ok(Some((_, newest))) => *newest,
        _ => None,
    };
    match stored.max(logged) {
        None => Outcome::NotHere,
        Some(newest) => found_if(newest > latest, || {
            format!("newest {newest}, now {}", scene.now)
        }),
    }
}

fn room(scene: &Scene, wrong: fn(u64, u64) -> bool) -> Outcome {
    match scene.space {
        None => Outcome::NotHere,
        Some((free, all)) => found_if(wrong(free, all), || {
            format!("{} MiB free of {} MiB", free / MIB, all / MIB)
        }),
    }
}
