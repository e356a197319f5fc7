//! Many threads at once: exactly as many are let through as one after the other.

use crate::{at, limited};
use blastshield_limits::{SessionLimits, Sessions, Settings, Sighting};
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 16;

/// Lets every thread ask so often, and gives the number of those who were let through.
fn admitted(times: u64, ask: impl Fn() -> bool + Sync) -> u64 {
    let admitted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..times {
                    admitted.fetch_add(u64::from(ask()), Ordering::Relaxed);
                }
            });
        }
    });
    admitted.into_inner()
}

fn quick() -> Sessions {
    limited(SessionLimits {
        messages_per_minute: 1_000,
        tool_calls_per_minute: 777,
        tokens_per_hour: 10_000,
        cooldown_ms: 0,
        ..SessionLimits::default()
    })
}

#[test]
fn a_window_admits_its_limit_and_not_one_more() {
    let sessions = quick();
    let at_once = |times, millis| admitted(times, || sessions.message("one", at(millis)).is_ok());
    assert_eq!(at_once(25, 0), 400);
    assert_eq!(at_once(250, 30_000), 600);
    assert_eq!(at_once(250, 59_999), 0);
    assert_eq!(at_once(250, 60_000), 400);
    assert_eq!(at_once(250, 90_000), 600);
    let tools = admitted(250, || sessions.tool_call("one", at(0)).is_ok());
    assert_eq!(tools, 777);
}

#[test]
fn tokens_are_never_given_twice() {
    let sessions = quick();
    let asked = admitted(300, || sessions.tokens("one", 7, at(0)).is_ok());
    assert_eq!(asked, 10_000 / 7);
    assert_eq!(sessions.status("one", at(0)).unwrap().tokens.used, 9_996);
}

#[test]
fn every_session_has_its_own_limit() {
    let sessions = limited(SessionLimits {
        messages_per_minute: 5,
        ..SessionLimits::default()
    });
    let keys: Vec<String> = (0..200).map(|number| format!("session {number}")).collect();
    let turn = AtomicU64::new(0);
    let let_through = admitted(500, || {
        let turn = turn.fetch_add(1, Ordering::Relaxed) as usize;
        sessions.message(&keys[turn % keys.len()], at(0)).is_ok()
    });
    assert_eq!(let_through, 5 * 200);
    assert_eq!(sessions.holds(at(0)).len(), 200);
}

#[test]
fn the_first_to_exceed_a_limit_starts_one_cooldown() {
    let sessions = limited(SessionLimits::default());
    assert_eq!(admitted(100, || sessions.message("one", at(0)).is_ok()), 30);
    let holds = sessions.holds(at(0));
    assert_eq!(holds.len(), 1);
    assert_eq!(holds[0].until, at(60_000));
}

#[test]
fn everything_at_once_leaves_the_table_whole() {
    let sessions = crate::sessions(Settings {
        max_sessions: 128,
        ..Settings::default()
    });
    let turn = AtomicU64::new(0);
    admitted(2_000, || {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        // Neither the keys nor the moments come in order.
        let key = format!("{}", turn.wrapping_mul(2_654_435_761) % 900);
        let now = at(turn ^ 63);
        match turn % 11 {
            0 => sessions.terminate(&key, "test", now).is_ok(),
            1 | 2 => sessions.pardon(&key, now).is_ok(),
            3 => sessions.holds(now).len() <= 128,
            4 | 5 => {
                let seen = Sighting::message("x").scored(20.0, &[]);
                sessions.observe(&key, &seen, now).is_ok()
            }
            6 => sessions.status(&key, now).is_ok(),
            7 => sessions.tokens(&key, turn, now).is_ok(),
            _ => sessions.message(&key, now).is_ok(),
        }
    });
    assert!(sessions.len() <= 128);
    // Once everything is over, everybody is let in again.
    let later = at(u64::from(u32::MAX));
    assert!(sessions.holds(later).is_empty());
    for number in 0..900 {
        assert!(sessions.message(&format!("{number}"), later).is_ok());
    }
}
