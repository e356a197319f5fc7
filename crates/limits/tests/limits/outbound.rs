//! The limiter and breaker of a proxy, step by step.

use crate::at;
use blastshield_limits::proxy::{Answer, Declined, Outbound, ProxyLimits, ProxyState};
use proptest::prelude::*;
use std::time::Duration;

const BUSY: Answer = Answer::TooMany { retry_after: None };

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Without the windows, so that the breaker is seen alone.
fn breaker() -> Outbound {
    Outbound::new(ProxyLimits {
        max_per_minute: 1_000,
        max_per_hour: 1_000,
        burn_limit: 1_000,
        ..ProxyLimits::default()
    })
}

/// Sends a request and gives what its answer did.
fn send(outbound: &mut Outbound, answer: Answer, millis: u64) -> Option<Duration> {
    let permit = outbound.request(at(millis)).unwrap();
    let opened = outbound.answered(permit, answer, at(millis));
    opened.map(|opened| opened.pause)
}

#[test]
fn ten_a_minute_and_a_hundred_an_hour() {
    let mut outbound = Outbound::new(ProxyLimits::default());
    for number in 0..10 {
        assert_eq!(send(&mut outbound, Answer::Served, number * 1_000), None);
    }
    let retry_after = Some(seconds(51));
    let refused = outbound.request(at(9_000)).unwrap_err();
    assert_eq!(
        refused,
        Declined::Minute {
            limit: 10,
            retry_after
        }
    );
    assert!(outbound.request(at(59_999)).is_err());
    let mut sent = 10;
    let mut now = 60_000;
    while sent < 100 {
        match outbound.request(at(now)) {
            Ok(_) => sent += 1,
            Err(refused) => now += refused.retry_after().unwrap().as_millis() as u64,
        }
    }
    now += 60_000;
    let retry_after = Some(Duration::from_millis(3_600_000 - now));
    let refused = outbound.request(at(now)).unwrap_err();
    assert_eq!(
        refused,
        Declined::Hour {
            limit: 100,
            retry_after
        }
    );
    assert!(outbound.request(at(3_600_000)).is_ok());
}

#[test]
fn the_burn_limit_ends_it_for_good() {
    let mut outbound = Outbound::new(ProxyLimits {
        max_per_minute: 1_000,
        max_per_hour: 1_000,
        ..ProxyLimits::default()
    });
    for _ in 0..200 {
        send(&mut outbound, Answer::Served, 0);
    }
    assert!(!outbound.burned());
    let burned = Declined::Burned { limit: 200 };
    assert_eq!(outbound.request(at(0)), Err(burned));
    assert_eq!(outbound.request(at(u64::MAX / 2)), Err(burned));
    assert_eq!(outbound.total(), 200);
    assert_eq!(burned.retry_after(), None);
    // Neither a restart nor higher limits bring it back.
    let state = outbound.state().clone();
    let mut later = Outbound::resume(
        ProxyLimits {
            burn_limit: 500,
            ..ProxyLimits::default()
        },
        state,
    );
    assert!(later.burned());
    assert!(later.request(at(0)).is_err());
}

#[test]
fn the_breaker_by_table() {
    let (served, lost) = (Answer::Served, Answer::Lost);
    // Answers in a row at one moment, and whether the last of them opens it.
    for (answers, opens) in [
        (vec![BUSY, BUSY], false),
        (vec![BUSY, BUSY, BUSY], true),
        (vec![BUSY, BUSY, served, BUSY, BUSY], false),
        (vec![BUSY, BUSY, served, BUSY, BUSY, BUSY], true),
        (vec![BUSY, lost, BUSY, lost, BUSY], true),
        (vec![lost, lost, lost, lost], false),
    ] {
        let mut outbound = breaker();
        let mut opened = None;
        for answer in &answers {
            assert_eq!(opened, None, "{answers:?}");
            opened = send(&mut outbound, *answer, 0);
        }
        assert_eq!(opened, opens.then(|| seconds(30)), "{answers:?}");
    }
}

#[test]
fn each_pause_is_twice_as_long_up_to_a_quarter_of_an_hour() {
    let mut outbound = breaker();
    let mut now = 0;
    send(&mut outbound, BUSY, now);
    send(&mut outbound, BUSY, now);
    for pause in [30, 60, 120, 240, 480, 900, 900, 900] {
        let opened = send(&mut outbound, BUSY, now);
        assert_eq!(opened, Some(seconds(pause)));
        now += pause * 1_000;
        let early = outbound.request(at(now - 1)).unwrap_err();
        assert_eq!(
            early,
            Declined::Open {
                retry_after: Duration::from_millis(1)
            }
        );
    }
    // Well again, it forgets how often it had opened.
    assert_eq!(send(&mut outbound, Answer::Served, now), None);
    send(&mut outbound, BUSY, now);
    send(&mut outbound, BUSY, now);
    assert_eq!(send(&mut outbound, BUSY, now), Some(seconds(30)));
}

#[test]
fn one_probe_at_a_time() {
    let mut outbound = breaker();
    // Four are on their way when the service starts to refuse.
    let early: Vec<_> = (0..4).map(|_| outbound.request(at(0)).unwrap()).collect();
    let mut opened = 0;
    let mut late = None;
    for (number, permit) in early.into_iter().enumerate() {
        if number == 3 {
            late = Some(permit);
        } else {
            opened += u32::from(outbound.answered(permit, BUSY, at(0)).is_some());
        }
    }
    assert_eq!(opened, 1);
    let probe = outbound.request(at(30_000)).unwrap();
    assert!(probe.is_probe());
    let waiting = outbound.request(at(31_000)).unwrap_err();
    assert_eq!(
        waiting,
        Declined::Probing {
            retry_after: seconds(29)
        }
    );
    // An answer from before the breaker opened decides nothing.
    assert_eq!(
        outbound.answered(late.unwrap(), Answer::Served, at(31_000)),
        None
    );
    assert!(outbound.request(at(31_000)).is_err());
    assert_eq!(outbound.answered(probe, Answer::Served, at(32_000)), None);
    assert!(!outbound.request(at(32_000)).unwrap().is_probe());
}

#[test]
fn a_probe_that_is_lost_gives_way_to_another() {
    let mut outbound = breaker();
    for _ in 0..3 {
        send(&mut outbound, BUSY, 0);
    }
    // No answer: as long a pause as before.
    assert_eq!(send(&mut outbound, Answer::Lost, 30_000), None);
    let refused = outbound.request(at(30_001)).unwrap_err();
    assert_eq!(refused.retry_after(), Some(Duration::from_millis(29_999)));
    // Never heard of again.
    let gone = outbound.request(at(60_000)).unwrap();
    assert!(outbound.request(at(89_999)).is_err());
    let next = outbound.request(at(90_000)).unwrap();
    assert!(next.is_probe());
    assert_eq!(outbound.answered(gone, Answer::Served, at(90_000)), None);
    assert!(outbound.request(at(90_000)).is_err());
}

#[test]
fn what_the_service_asks_for_is_heeded_up_to_the_ceiling() {
    for (asked, pause) in [(5, 30), (100, 100), (100_000, 900)] {
        let mut outbound = breaker();
        let retry_after = Some(seconds(asked));
        let busy = Answer::TooMany { retry_after };
        assert_eq!(send(&mut outbound, busy, 0), None);
        assert_eq!(send(&mut outbound, busy, 0), None);
        assert_eq!(send(&mut outbound, busy, 0), Some(seconds(pause)));
    }
}

#[test]
fn the_state_survives_a_restart() {
    let mut outbound = Outbound::new(ProxyLimits::default());
    for _ in 0..3 {
        send(&mut outbound, BUSY, 0);
    }
    let stored = serde_json::to_string(outbound.state()).unwrap();
    let state: ProxyState = serde_json::from_str(&stored).unwrap();
    assert_eq!(&state, outbound.state());
    let mut later = Outbound::resume(ProxyLimits::default(), state);
    assert_eq!(later.total(), 3);
    assert!(matches!(
        later.request(at(29_999)),
        Err(Declined::Open { .. })
    ));
    assert!(later.request(at(30_000)).unwrap().is_probe());
}

#[test]
fn a_state_in_disorder_frees_nobody() {
    let now = at(0).millis();
    let sent: Vec<u64> = (0..150).map(|number| now - (number * 37) % 150).collect();
    let stored = serde_json::json!({
        "sent": sent, "total": 1, "burned": false, "latest": 0,
        "breaker": {"times": 0, "circuit": {"closed": {"in_a_row": 0}}},
    });
    let state: ProxyState = serde_json::from_value(stored).unwrap();
    let mut outbound = Outbound::resume(ProxyLimits::default(), state);
    assert!(matches!(
        outbound.request(at(0)),
        Err(Declined::Hour { .. })
    ));
    assert_eq!(outbound.total(), 100);
}

#[test]
fn limits_are_read_with_their_names() {
    let read: ProxyLimits =
        serde_json::from_str(r#"{"maxPerMinute": 5, "cbBaseMs": 1000, "burnLimit": 7}"#).unwrap();
    assert_eq!(
        (read.max_per_minute, read.cb_base_ms, read.burn_limit),
        (5, 1_000, 7)
    );
    assert_eq!(
        (read.max_per_hour, read.cb_threshold, read.cb_max_ms),
        (100, 3, 900_000)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_window_is_ever_exceeded(
        minute in 0_u32..6,
        hour in 0_u32..20,
        burn in 0_u32..40,
        steps in prop::collection::vec((-50_000_i64..200_000, 0_u8..3), 1..120),
    ) {
        let limits = ProxyLimits {
            max_per_minute: minute,
            max_per_hour: hour,
            burn_limit: burn,
            ..ProxyLimits::default()
        };
        let mut outbound = Outbound::new(limits);
        let mut now = 10_000_000_u64;
        let mut latest = 0;
        let mut sent: Vec<u64> = Vec::new();
        let mut burned = false;
        for (step, answer) in steps {
            now = now.saturating_add_signed(step);
            latest = latest.max(now);
            let within = |window| sent.iter().filter(|time| latest - **time < window).count();
            let (in_minute, in_hour) = (within(60_000), within(3_600_000));
            match outbound.request(at(now)) {
                Ok(permit) => {
                    prop_assert!(!burned && sent.len() < burn as usize);
                    prop_assert!(in_minute < minute as usize && in_hour < hour as usize);
                    sent.push(latest);
                    let answer = [Answer::Served, BUSY, Answer::Lost][usize::from(answer)];
                    outbound.answered(permit, answer, at(now));
                }
                Err(Declined::Burned { .. }) => {
                    prop_assert!(sent.len() >= burn as usize);
                    burned = true;
                }
                Err(Declined::Minute { .. }) => prop_assert!(in_minute >= minute as usize),
                Err(Declined::Hour { .. }) => prop_assert!(in_hour >= hour as usize),
                Err(refused @ (Declined::Open { .. } | Declined::Probing { .. })) => {
                    let wait = refused.retry_after().unwrap();
                    prop_assert!(wait > Duration::ZERO && wait <= Duration::from_secs(900));
                }
            }
        }
    }
}
