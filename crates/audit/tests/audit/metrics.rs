//! What Prometheus reads.

use super::*;
use blastshield_audit::{Decision, Fingerprint, Level, Metrics, Origin, Risk};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn now() -> Time {
    Time::from_millis(START)
}

fn injection(origin: Origin) -> Event<'static> {
    Event::Injection {
        origin,
        source: "example.com",
        session: None,
        score: 11.0,
        risk: Risk::High,
        rules: &[],
        content: Fingerprint::of("x"),
        decision: Decision::Block,
    }
}

fn abuse(pattern: &str) -> Event<'_> {
    Event::Abuse {
        session: "s",
        pattern,
        level: Level::High,
        action: "block",
    }
}

/// Samples by name and labels; panics on anything that the format does not allow.
fn parse(page: &str) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
    let mut samples = BTreeMap::new();
    let mut typed: BTreeSet<String> = BTreeSet::new();
    let mut family = String::new();
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(!text.is_empty());
            family = name.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, family);
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            assert!(typed.insert(name.to_owned()), "{name} twice");
        } else {
            let (name, labels, value) = sample(line);
            assert!(name.starts_with(&family), "{name} stands under {family}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(
                samples
                    .insert((name, labels), value.parse().unwrap())
                    .is_none(),
                "{line} twice"
            );
        }
    }
    samples
}

fn sample(line: &str) -> (String, BTreeMap<String, String>, String) {
    let mut chars = line.chars().peekable();
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| !matches!(c, '{' | ' ')) {
        name.push(c);
    }
    let mut labels = BTreeMap::new();
    if chars.next_if_eq(&'{').is_some() {
        loop {
            let mut label = String::new();
            while let Some(c) = chars.next_if(|c| *c != '=') {
                label.push(c);
            }
            assert_eq!((chars.next(), chars.next()), (Some('='), Some('"')));
            let mut value = String::new();
            loop {
                match chars.next().unwrap() {
                    '"' => break,
                    '\\' => value.push(match chars.next().unwrap() {
                        'n' => '\n',
                        c @ ('\\' | '"') => c,
                        c => panic!("\\{c}"),
                    }),
                    c => value.push(c),
                }
            }
            assert!(labels.insert(label, value).is_none());
            match chars.next().unwrap() {
                ',' => {}
                '}' => break,
                c => panic!("{c}"),
            }
        }
    }
    assert_eq!(chars.next(), Some(' '));
    (name, labels, chars.collect())
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

#[test]
fn the_five_metrics_count() {
    let metrics = Metrics::new(Arc::new(Planted));
    for _ in 0..3 {
        metrics.observe(&injection(Origin::Web), now());
    }
    metrics.observe(&injection(Origin::ToolResult), now());
    metrics.observe(
        &Event::OutputBlocked {
            session: None,
            issues: &[],
            content: Fingerprint::of("x"),
        },
        now(),
    );
    metrics.observe(
        &Event::RateLimited {
            session: "s",
            limit: "messagesPerMinute",
            cooldown_ms: 1,
        },
        now(),
    );
    metrics.observe(&abuse("credential_probing"), now());
    metrics.observe(&abuse("credential_probing"), now());
    let json = metrics.to_json(now());
    assert_eq!(json["injectionAttemptsPerHour"], 4);
    assert_eq!(json["suspiciousToolResults"], 1);
    assert_eq!(json["blockedResponses"], 1);
    assert_eq!(json["rateLimitTriggers"], 1);
    assert_eq!(json["abusePatternDetections"]["credential_probing"], 2);
    let later = metrics.to_json(Time::from_millis(START + 2 * 3_600_000));
    assert_eq!(later["injectionAttemptsPerHour"], 0);
    assert_eq!(later["injectionAttempts"], 4);
    let samples = parse(&metrics.to_prometheus(now()));
    let get = |name: &str, of: &[(&str, &str)]| samples[&(name.to_owned(), labels(of))];
    assert_eq!(get("blastshield_injection_attempts_per_hour", &[]), 4.0);
    assert_eq!(get("blastshield_suspicious_tool_results_total", &[]), 1.0);
    assert_eq!(
        get(
            "blastshield_abuse_pattern_detections_total",
            &[("pattern", "credential_probing")]
        ),
        2.0
    );
    assert_eq!(
        get(
            "blastshield_events_total",
            &[("category", "SESSION"), ("severity", "CRITICAL")]
        ),
        2.0
    );
}

#[test]
fn decisions_and_their_time() {
    let metrics = Metrics::new(Arc::new(Planted));
    let strange = "/v1/\"scan\\\n";
    for (decision, micros) in [
        (Decision::Allow, 40),
        (Decision::Allow, 50),
        (Decision::Block, 700),
        (Decision::Error, 60_000_000),
    ] {
        metrics.decided(strange, decision, Duration::from_micros(micros));
    }
    let samples = parse(&metrics.to_prometheus(now()));
    let shown = "/v1/\"scan\\\\n";
    let get = |name: &str, label: &str, value: &str| {
        samples[&(
            format!("blastshield_decision{name}"),
            labels(&[("route", shown), (label, value)]),
        )]
    };
    assert_eq!(get("s_total", "decision", "allow"), 2.0);
    assert_eq!(get("s_total", "decision", "deny"), 0.0);
    assert_eq!(get("_seconds_bucket", "le", "0.00005"), 2.0);
    assert_eq!(get("_seconds_bucket", "le", "0.0005"), 2.0);
    assert_eq!(get("_seconds_bucket", "le", "0.001"), 3.0);
    assert_eq!(get("_seconds_bucket", "le", "30"), 3.0);
    assert_eq!(get("_seconds_bucket", "le", "+Inf"), 4.0);
    let route = labels(&[("route", shown)]);
    assert_eq!(
        samples[&(
            "blastshield_decision_seconds_count".to_owned(),
            route.clone()
        )],
        4.0
    );
    assert!(
        (samples[&("blastshield_decision_seconds_sum".to_owned(), route)] - 60.000_79).abs() < 1e-9
    );
}

#[test]
fn names_are_bounded_and_nothing_is_lost() {
    let metrics = Metrics::new(Arc::new(Planted));
    for name in 0..10_000 {
        metrics.observe(&abuse(&format!("pattern {name}")), now());
        metrics.decided(&format!("/{name}"), Decision::Allow, Duration::ZERO);
    }
    metrics.decided(&"/long".repeat(100), Decision::Allow, Duration::ZERO);
    let samples = parse(&metrics.to_prometheus(now()));
    assert!(samples.len() < 65 * 25, "{}", samples.len());
    let sum = |name: &str| -> f64 {
        samples
            .iter()
            .filter(|((of, _), _)| of == name)
            .map(|(_, value)| value)
            .sum()
    };
    assert_eq!(sum("blastshield_abuse_pattern_detections_total"), 10_000.0);
    assert_eq!(sum("blastshield_decisions_total"), 10_001.0);
}
