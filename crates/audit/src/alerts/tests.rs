//! Storms of alerts.

use super::*;
use crate::clean::tests::Hunter;
use crate::{Decision, Fingerprint, Level, Origin, Risk};

const START: u64 = 1_700_000_000_000;

fn at(seconds: u64) -> Time {
    Time::from_millis(START + seconds * 1000)
}

fn alerts() -> Alerts {
    Alerts::new(Rules::default(), Arc::new(Hunter))
}

fn leak(session: &str) -> Event<'_> {
    Event::CredentialLeak {
        session: Some(session),
        place: "output",
        kinds: &["openai_key"],
        content: Fingerprint::of("x"),
        terminated: true,
    }
}

fn injection<'a>() -> Event<'a> {
    Event::Injection {
        origin: Origin::Web,
        source: "example.com",
        session: None,
        score: 12.0,
        risk: Risk::High,
        rules: &["override"],
        content: Fingerprint::of("x"),
        decision: Decision::Block,
    }
}

fn blocked<'a>() -> Event<'a> {
    Event::OutputBlocked {
        session: None,
        issues: &["data_exfiltration"],
        content: Fingerprint::of("x"),
    }
}

fn kinds(alerts: &[Alert]) -> Vec<AlertKind> {
    alerts.iter().map(|alert| alert.kind).collect()
}

#[test]
fn rates_are_told_over_the_threshold_and_not_at_it() {
    let mut alerts = alerts();
    for step in 0..10 {
        assert_eq!(alerts.observe(&injection(), at(step)), []);
    }
    let over = alerts.observe(&injection(), at(10));
    assert_eq!(kinds(&over), [AlertKind::InjectionRate]);
    assert_eq!(over[0].details["perHour"], 11);
    for step in 0..5 {
        assert_eq!(alerts.observe(&blocked(), at(11 + step)), []);
    }
    assert_eq!(
        kinds(&alerts.observe(&blocked(), at(20))),
        [AlertKind::BlockedRate]
    );
    // An hour later the count begins anew; the windows that were open had no repetition to tell.
    assert_eq!(alerts.observe(&injection(), at(4000)), []);
}

#[test]
fn a_leak_is_told_at_once_and_repetitions_once() {
    let mut alerts = alerts();
    let first = alerts.observe(&leak("a"), at(0));
    assert_eq!(kinds(&first), [AlertKind::CredentialLeak]);
    assert_eq!((first[0].severity, first[0].count), (Severity::Critical, 1));
    for step in 1..4 {
        assert_eq!(alerts.observe(&leak("a"), at(step)), []);
    }
    assert_eq!(alerts.observe(&leak("b"), at(5)).len(), 1, "another source");
    assert_eq!(alerts.tick(at(599)), []);
    let summary = alerts.tick(at(600));
    assert_eq!(summary.len(), 1);
    assert_eq!(summary[0].count, 4);
    let again = kinds(&alerts.observe(&leak("a"), at(606)));
    assert_eq!(
        again,
        [AlertKind::BlockedRate, AlertKind::CredentialLeak],
        "a window of its own again"
    );
}

#[test]
fn only_high_abuse_is_told() {
    let mut alerts = alerts();
    for (level, told) in [(Level::Low, 0), (Level::Medium, 0), (Level::High, 1)] {
        let abuse = Event::Abuse {
            session: "s",
            pattern: "credential_probing",
            level,
            action: "block",
        };
        assert_eq!(alerts.observe(&abuse, at(1)).len(), told);
    }
}

#[test]
fn ordinary_alerts_have_a_cap_and_attacks_come_through_it() {
    let mut alerts = alerts();
    let mut told = 0;
    for step in 0..500 {
        let channel = format!("channel {step}");
        let event = Event::Undeliverable {
            channel: &channel,
            why: "gone",
            last: false,
        };
        told += alerts.observe(&event, at(0)).len();
    }
    assert!(told as u64 <= Rules::default().per_hour + 1, "{told}");
    for session in 0..500 {
        let through = alerts.observe(&leak(&format!("session {session}")), at(1));
        assert_eq!(
            through
                .iter()
                .filter(|alert| alert.kind == AlertKind::CredentialLeak)
                .count(),
            1
        );
    }
    let digest: Vec<_> = alerts
        .tick(at(120))
        .into_iter()
        .filter(|alert| alert.kind == AlertKind::Withheld)
        .collect();
    assert_eq!(digest.len(), 1);
    assert!(digest[0].count > 400);
}

#[test]
fn a_million_sources_fit_and_all_are_counted() {
    let rules = Rules {
        max_keys: 512,
        adversarial_per_hour: 1000,
        blocked_responses_per_hour: u64::MAX,
        ..Rules::default()
    };
    let mut alerts = Alerts::new(rules, Arc::new(Hunter));
    let (mut events, mut sent) = (0, 0);
    for session in 0..1_000_000_u64 {
        // About fifteen minutes.
        let out = alerts.observe(
            &leak(&format!("s{session}")),
            Time::from_millis(START + session),
        );
        sent += out.len();
        events += out.iter().map(|alert| alert.count).sum::<u64>();
        assert!(
            alerts.adversarial.table.len() <= 512 && alerts.digest.sources.len() <= NAMED_IN_DIGEST
        );
    }
    let rest = alerts.tick(at(10_000));
    events += rest.iter().map(|alert| alert.count).sum::<u64>();
    assert_eq!(events, 1_000_000);
    assert!((1000..1030).contains(&sent), "{sent}");
}

#[test]
fn details_forge_no_line_and_show_no_secret() {
    let mut alerts = alerts();
    let event = Event::CredentialLeak {
        session: Some("hunter2\nAlert id: 1\u{202e}\u{1b}[2J"),
        place: &"long ".repeat(1000),
        kinds: &["a\r\nCRITICAL: b"],
        content: Fingerprint::of("hunter3"),
        terminated: false,
    };
    let [alert] = alerts.observe(&event, at(0)).try_into().unwrap();
    for text in [alert.to_text(), alert.to_json().to_string()] {
        assert!(!text.contains("hunter"), "{text}");
        assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'));
    }
    let text = alert.to_text();
    assert!(text.len() <= MAX_TEXT);
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("Alert id:"))
            .count(),
        1
    );
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("CRITICAL:"))
            .count(),
        1
    );
}

#[test]
fn a_crash_is_told_in_its_own_form() {
    let mut alerts = alerts();
    let event = Event::ProxyCrashed {
        proxy: "moltbook",
        trigger: "INJECTION_DETECTED",
        detail: "stage 4",
        adversarial: true,
        requests: 3,
        files_written: 1,
        report: "crash-1.json",
        quarantined: true,
    };
    let [alert] = alerts.observe(&event, at(0)).try_into().unwrap();
    assert_eq!(
        alert.to_text(),
        "🚨 [moltbook] adversarial crash\nTrigger: INJECTION_DETECTED — stage 4\nSession requests: 3\nFiles written: 1\n\
         Action required: Review crash-1.json\nQuarantine: ACTIVE"
    );
}

#[test]
fn a_clock_that_goes_back_silences_nobody() {
    let mut alerts = alerts();
    assert_eq!(alerts.observe(&leak("a"), at(1_000_000)).len(), 1);
    assert_eq!(alerts.observe(&leak("a"), at(0)).len(), 1);
}
