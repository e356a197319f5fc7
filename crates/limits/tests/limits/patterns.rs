//! Patterns of an operator's own, and settings that cannot be used.

use crate::{at, sessions};
use blastshield_limits::{
    AbuseSettings, Action, EventKind, Pattern, Rule, SessionLimits, Sessions, Settings,
    SettingsError, Severity, Sighting, Trigger,
};
use proptest::prelude::*;

fn rule(any: Trigger) -> Rule {
    Rule {
        of: EventKind::Message,
        any: vec![any],
        count: 2,
        last: None,
        within_ms: Some(60_000),
    }
}

fn pattern(when: Vec<Rule>) -> Pattern {
    Pattern {
        id: "own".into(),
        description: "An operator's own".into(),
        severity: Severity::Low,
        action: Action::Throttle,
        when,
    }
}

fn with(patterns: Vec<Pattern>) -> Result<Sessions, SettingsError> {
    let settings = Settings {
        abuse: AbuseSettings {
            patterns,
            ..AbuseSettings::default()
        },
        ..Settings::default()
    };
    Sessions::new(settings, [1; 16])
}

fn text(pattern: &str) -> Trigger {
    Trigger::Text {
        pattern: pattern.into(),
    }
}

#[test]
fn an_expression_in_a_time() {
    let sessions = with(vec![pattern(vec![rule(text(r"wire\s+transfer"))])]).unwrap();
    let seen = |text, millis| {
        let seen = Sighting::message(text);
        sessions.observe("one", &seen, at(millis)).unwrap().len()
    };
    assert_eq!(seen("Make a WIRE  transfer", 0), 0);
    assert_eq!(seen("a wired transfer", 1), 0);
    assert_eq!(seen("the wire transfer", 60_000), 0);
    assert_eq!(seen("the wire transfer", 119_999), 1);
    assert_eq!(
        sessions.message("one", at(119_999)).unwrap_err().code(),
        "cooldown"
    );
}

#[test]
fn a_category_from_a_score_on() {
    let trigger = Trigger::Category {
        among: vec!["data_exfiltration".into(), "tool_manipulation".into()],
        at_least: 4.0,
    };
    let sessions = with(vec![pattern(vec![rule(trigger)])]).unwrap();
    let seen = |score, categories: &[&str]| {
        let seen = Sighting::message("x").scored(score, categories);
        sessions.observe("one", &seen, at(0)).unwrap().len()
    };
    assert_eq!(seen(9.0, &["role_manipulation"]), 0);
    assert_eq!(seen(3.9, &["data_exfiltration"]), 0);
    assert_eq!(seen(4.0, &["role_manipulation", "data_exfiltration"]), 0);
    assert_eq!(seen(4.0, &["tool_manipulation"]), 1);
}

#[test]
fn a_pattern_is_written_as_data() {
    let written = r#"{
        "id": "own", "description": "d", "severity": "high", "action": "block",
        "when": [{"of": "tool_call", "any": [{"type": "text", "pattern": "^shell$"}, {"type": "refused"}], "count": 4}]
    }"#;
    let read: Pattern = serde_json::from_str(written).unwrap();
    let sessions = with(vec![read]).unwrap();
    for number in 0..3 {
        let call = Sighting::tool_call("shell");
        assert!(
            sessions
                .observe("one", &call, at(number))
                .unwrap()
                .is_empty()
        );
        let other = Sighting::tool_call("shell_history");
        assert!(
            sessions
                .observe("one", &other, at(number))
                .unwrap()
                .is_empty()
        );
    }
    let refused = Sighting::tool_call("read").refused();
    assert_eq!(
        sessions.observe("one", &refused, at(9)).unwrap()[0].count,
        4
    );
    assert!(serde_json::from_str::<Pattern>(&written.replace("count", "many")).is_err());
}

#[test]
fn the_hardest_of_several_actions_holds() {
    let mut block = pattern(vec![rule(Trigger::Any)]);
    block.id = "harder".into();
    block.action = Action::Block;
    let both = with(vec![pattern(vec![rule(Trigger::Any)]), block]).unwrap();
    let seen = Sighting::message("x");
    assert!(both.observe("one", &seen, at(0)).unwrap().is_empty());
    assert_eq!(both.observe("one", &seen, at(0)).unwrap().len(), 2);
    assert_eq!(
        both.message("one", at(0)).unwrap_err().code(),
        "session_blocked"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Against a model that keeps every message: warn whenever the newest one completes the count among those that have
    /// not been part of a warning.
    #[test]
    fn warnings_are_the_models(
        count in 1_u8..6,
        last in 6_u8..=32,
        within_ms in prop_oneof![Just(None), (1_u64..40_000).prop_map(Some)],
        script in prop::collection::vec((any::<bool>(), 0_u64..4_000), 1..120),
    ) {
        let rule = Rule { count, last: Some(last), within_ms, ..rule(text("attack")) };
        let own = Pattern { action: Action::Warn, ..pattern(vec![rule]) };
        let sessions = with(vec![own]).unwrap();
        let mut messages: Vec<(u64, bool)> = Vec::new();
        let mut settled = 0;
        let mut now = 0;
        for (attack, step) in script {
            now += step;
            messages.push((now, attack));
            let from = settled.max(messages.len().saturating_sub(usize::from(last)));
            let young = |time: u64| within_ms.is_none_or(|within| now - time < within);
            let fresh = messages[from..].iter();
            let counting = fresh.filter(|(time, attack)| *attack && young(*time)).count();
            let warns = attack && counting >= usize::from(count);
            if warns {
                settled = messages.len();
            }
            let seen = Sighting::message(if attack { "an attack" } else { "a question" });
            let found = sessions.observe("one", &seen, at(now)).unwrap();
            let counts: Vec<u32> = found.iter().map(|found| found.count).collect();
            let expected: Vec<u32> = warns.then_some(counting as u32).into_iter().collect();
            prop_assert_eq!(counts, expected);
        }
    }
}

#[test]
fn shipped_patterns_by_name() {
    let names = ["credential_probing", "rapid_tool_exploitation"];
    let found = Pattern::named(names).unwrap();
    assert_eq!(
        found.iter().map(|p| p.id.as_str()).collect::<Vec<_>>(),
        names
    );
    let unknown = Pattern::named(["credential_probing", "no such"]);
    assert_eq!(unknown, Err(SettingsError::UnknownPattern { place: 2 }));
    assert!(with(Pattern::shipped()).is_ok());
}

#[test]
fn what_cannot_be_used_is_named() {
    use SettingsError as E;
    let own = || pattern(vec![rule(Trigger::Any)]);
    let refused = |patterns| with(patterns).err().unwrap();
    let id = |id: &str| Pattern {
        id: id.into(),
        ..own()
    };
    for bad in ["", "Upper", "a b", &"x".repeat(65)] {
        assert_eq!(refused(vec![own(), id(bad)]), E::PatternId { place: 2 });
    }
    assert_eq!(refused(vec![own(), own()]), E::PatternTwice { place: 2 });
    let counted = |count, last| {
        pattern(vec![Rule {
            count,
            last,
            ..rule(Trigger::Any)
        }])
    };
    for (count, last) in [
        (0, None),
        (33, None),
        (3, Some(2)),
        (1, Some(33)),
        (1, Some(0)),
    ] {
        assert_eq!(
            refused(vec![counted(count, last)]),
            E::PatternCount { place: 1 }
        );
    }
    for trigger in [
        text(""),
        Trigger::Score { at_least: f32::NAN },
        Trigger::Category {
            among: vec![],
            at_least: 0.0,
        },
    ] {
        assert_eq!(
            refused(vec![pattern(vec![rule(trigger)])]),
            E::PatternTrigger { place: 1 }
        );
    }
    assert_eq!(
        refused(vec![pattern(vec![])]),
        E::PatternTrigger { place: 1 }
    );
    for bad in [
        "(",
        r"(a)\1",
        "((a{1,500}){1,500}){1,500}",
        &"x".repeat(2_000),
    ] {
        let trigger = text(bad);
        assert_eq!(
            refused(vec![pattern(vec![rule(trigger)])]),
            E::PatternText { place: 1 }
        );
    }
    assert_eq!(
        refused(vec![pattern(vec![rule(Trigger::Any); 33])]),
        E::TooManyRules
    );
    assert!(with(vec![]).is_ok());
}

#[test]
fn quotas_that_cannot_be_counted_are_named() {
    let refused = |limits, max_sessions| {
        let settings = Settings {
            limits,
            max_sessions,
            ..Settings::default()
        };
        Sessions::new(settings, [1; 16]).err()
    };
    let limits = SessionLimits::default;
    let many = SessionLimits {
        tool_calls_per_minute: 10_001,
        ..limits()
    };
    let setting = "toolCallsPerMinute";
    assert_eq!(refused(many, 1), Some(SettingsError::PerMinute { setting }));
    assert_eq!(refused(limits(), 0), Some(SettingsError::Sessions));
    let exempt = SessionLimits {
        exempt_sessions: vec!["a".into(), String::new()],
        ..limits()
    };
    assert_eq!(refused(exempt, 1), Some(SettingsError::Exempt { place: 2 }));
    assert_eq!(refused(limits(), 1), None);
}

#[test]
fn limits_are_read_with_their_names() {
    let read: SessionLimits = serde_json::from_str(
        r#"{"messagesPerMinute": 5, "cooldownMs": 1, "exemptSessions": ["a"]}"#,
    )
    .unwrap();
    assert_eq!((read.messages_per_minute, read.cooldown_ms), (5, 1));
    assert_eq!(read.tool_calls_per_minute, 60);
    assert!(serde_json::from_str::<SessionLimits>(r#"{"messages": 5}"#).is_err());
    let unlimited = sessions(Settings::default());
    assert!(unlimited.is_empty());
}
