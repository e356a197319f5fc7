//! One call: log, metrics, alerts.

use super::*;
use blastshield_audit::alerts::{
    ALERTS_NAME, Alert, AlertKind, FileSink, LogSink, Rules, Sink, SinkError,
};
use blastshield_audit::log::{LOG_NAME, tail};
use blastshield_audit::{Answer, Audit, Decision, Fingerprint, Level, Origin, PaymentStep, Risk};
use std::sync::Mutex;

#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<Alert>>>);

impl Sink for Collected {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        self.0.lock().unwrap().push(alert.clone());
        Ok(())
    }
}

struct Deaf;

impl Sink for Deaf {
    fn send(&self, _: &Alert) -> Result<(), SinkError> {
        Err(SinkError::Closed)
    }
}

fn leak() -> Event<'static> {
    Event::CredentialLeak {
        session: Some("agent:main"),
        place: "output",
        kinds: &["openai_key"],
        content: Fingerprint::of(SECRET),
        terminated: true,
    }
}

#[test]
fn an_event_reaches_log_metrics_and_sinks() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = Arc::new(open(folder.path(), Options::default(), &hands));
    let collected = Collected::default();
    let sinks: Vec<Box<dyn Sink>> = vec![
        Box::new(collected.clone()),
        Box::new(LogSink(Arc::clone(&log))),
        Box::new(FileSink::new(folder.path())),
        Box::new(Deaf),
    ];
    let audit = Audit::new(
        log,
        Rules::default(),
        sinks,
        Arc::new(Planted),
        hands.clock(),
    );
    for _ in 0..3 {
        audit.record(&leak()).unwrap();
    }
    hands.forward(600_000);
    audit.tick().unwrap();
    let alerts = collected.0.lock().unwrap().clone();
    let told: Vec<_> = alerts
        .iter()
        .map(|alert| (alert.kind, alert.count))
        .collect();
    assert_eq!(
        told,
        [
            (AlertKind::CredentialLeak, 1),
            (AlertKind::CredentialLeak, 3)
        ]
    );
    assert_ne!(alerts[0].id, alerts[1].id);
    let json = audit.metrics().to_json(Time::from_millis(START));
    assert_eq!(json["blockedResponses"], 3);
    assert_eq!(json["alertFailures"], 2);
    let notes: Vec<_> = tail(folder.path(), 100)
        .unwrap()
        .into_iter()
        .filter(|entry| entry.category == Category::Alert)
        .collect();
    assert_eq!(notes.len(), 2);
    assert_eq!(notes[0].details["alert"], alerts[0].id.as_str());
    let file = std::fs::read_to_string(folder.path().join(ALERTS_NAME)).unwrap();
    assert_eq!(file.lines().count(), 2);
    assert_eq!(entries(folder.path()), 6);
}

#[test]
fn a_log_that_lost_its_end_is_told_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    log.append(&critical("to be lost")).unwrap();
    drop(log);
    let path = folder.path().join(LOG_NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.split_inclusive('\n').next().unwrap()).unwrap();
    let collected = Collected::default();
    let log = Arc::new(open(folder.path(), Options::default(), &hands));
    let sinks: Vec<Box<dyn Sink>> = vec![Box::new(collected.clone())];
    let _audit = Audit::new(
        log,
        Rules::default(),
        sinks,
        Arc::new(Planted),
        hands.clock(),
    );
    let alerts = collected.0.lock().unwrap().clone();
    assert_eq!(alerts.len(), 1);
    assert!(alerts[0].message.contains("entries are missing"));
}

/// One of each.
fn all<'a>(outsider: &'a str, list: &'a [&'a str]) -> Vec<Event<'a>> {
    let content = Fingerprint::of(outsider);
    let session = Some(outsider);
    vec![
        Event::Injection {
            origin: Origin::Email,
            source: outsider,
            session,
            score: 1.5,
            risk: Risk::Critical,
            rules: list,
            content,
            decision: Decision::Allow,
        },
        Event::MemoryPoisoned {
            file: outsider,
            risk: Risk::High,
            content,
            quarantined: true,
        },
        Event::CredentialLeak {
            session,
            place: outsider,
            kinds: list,
            content,
            terminated: true,
        },
        Event::OutputBlocked {
            session,
            issues: list,
            content,
        },
        Event::OutboundBlocked {
            service: outsider,
            session,
            patterns: list,
            content,
        },
        Event::CanaryLeak {
            location: outsider,
            token: outsider,
            critical: false,
            place: outsider,
            session,
            content,
        },
        Event::RateLimited {
            session: outsider,
            limit: outsider,
            cooldown_ms: 1,
        },
        Event::Abuse {
            session: outsider,
            pattern: outsider,
            level: Level::High,
            action: outsider,
        },
        Event::SessionTerminated {
            session: outsider,
            why: outsider,
        },
        Event::SessionPardoned {
            session: outsider,
            by: outsider,
        },
        Event::ConfigChanged {
            key: outsider,
            by: outsider,
        },
        Event::EnvChecked {
            severity: Severity::Critical,
            missing: list,
            malformed: list,
        },
        Event::ApprovalRequested {
            id: outsider,
            action: outsider,
            session,
            shown: content,
        },
        Event::ApprovalDecided {
            id: outsider,
            action: outsider,
            answer: Answer::Timeout,
            channel: outsider,
        },
        Event::ApprovalRefused {
            id: outsider,
            channel: outsider,
            why: outsider,
        },
        Event::Undeliverable {
            channel: outsider,
            why: outsider,
            last: true,
        },
        Event::HttpDecision {
            host: outsider,
            method: outsider,
            session,
            decision: Decision::Ask,
            why: outsider,
        },
        Event::Payment {
            id: outsider,
            step: PaymentStep::Unknown,
            amount_sats: 1,
            why: outsider,
        },
        Event::Post {
            service: outsider,
            session,
            decision: Decision::Allow,
            content,
        },
        Event::SkillInstall {
            name: outsider,
            decision: Decision::Deny,
            findings: 2,
            content,
        },
        Event::ProxyCrashed {
            proxy: outsider,
            trigger: outsider,
            detail: outsider,
            adversarial: true,
            requests: 1,
            files_written: 1,
            report: outsider,
            quarantined: false,
        },
        Event::AccessDenied {
            route: outsider,
            from: outsider,
            why: outsider,
        },
        Event::Note {
            severity: Severity::Critical,
            category: Category::Skill,
            name: outsider,
            message: outsider,
            details: Map::from_iter([(outsider.to_owned(), Value::from(outsider))]),
        },
    ]
}

#[test]
fn no_event_lets_a_secret_or_a_control_character_through() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = Arc::new(open(folder.path(), Options::default(), &hands));
    let collected = Collected::default();
    let sinks: Vec<Box<dyn Sink>> = vec![
        Box::new(collected.clone()),
        Box::new(FileSink::new(folder.path())),
    ];
    let audit = Audit::new(
        log,
        Rules::default(),
        sinks,
        Arc::new(Planted),
        hands.clock(),
    );
    let outsider = format!("{SECRET}\n\u{1b}[2J\u{202e}{SECRET}");
    let list = [outsider.as_str(), SECRET];
    let events = all(&outsider, &list);
    for event in events.iter().chain(&events) {
        audit.record(event).unwrap();
        assert_ne!(event.name(), "unnamed");
    }
    hands.forward(3_600_000);
    audit.tick().unwrap();
    let mut texts: Vec<String> = files(folder.path())
        .iter()
        .map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap())
        .collect();
    let alerts = collected.0.lock().unwrap().clone();
    assert!(alerts.len() >= 10);
    texts.extend(
        alerts
            .iter()
            .flat_map(|alert| [alert.to_text(), alert.to_json().to_string()]),
    );
    texts.push(
        audit
            .metrics()
            .to_json(Time::from_millis(START))
            .to_string(),
    );
    for text in texts {
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text}"
        );
        assert!(!text.contains(SECRET), "{text}");
    }
    drop(audit);
    assert_eq!(entries(folder.path()), 2 * 23 + 1);
}
