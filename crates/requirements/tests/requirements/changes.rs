//! What an audit log is told when the environment changes.

use crate::{check, right, shipped, values};
use blastshield_requirements::{Change, Severity, Subject};

fn told(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

#[test]
fn the_same_is_no_change() {
    let report = shipped().check(|_| None);
    assert_eq!(report.differs_from(&report), []);
}

#[test]
fn a_key_that_comes_switches_the_mode_and_raises_what_it_needs() {
    let requirements = shipped();
    let before = check(&requirements, &values([]));
    let key = right("LNBITS_ADMIN_KEY");
    let now = check(&requirements, &values([("LNBITS_ADMIN_KEY", &key)]));
    let changes = now.differs_from(&before);
    assert_eq!(
        told(&changes),
        [
            "mode of wallet: disabled to approval-gated",
            "variable LNBITS_ADMIN_KEY: missing to set",
            "finding on LNBITS_URL: none to critical",
            "finding on WALLET_APPROVAL_THRESHOLD_SATS: none to critical",
            "finding on WALLET_DAILY_LIMIT_SATS: none to critical",
        ]
    );
    assert_eq!(changes[0].severity, Severity::Info);
    assert_eq!(changes[2].severity, Severity::Critical);
    let back = before.differs_from(&now);
    assert_eq!(back.len(), changes.len());
    assert!(back.iter().all(|change| change.severity == Severity::Info));
    assert_eq!(back[4].to, None);
}

#[test]
fn a_value_that_breaks_is_told() {
    let requirements = shipped();
    let good = check(
        &requirements,
        &values([("OPENAI_API_KEY", &right("OPENAI_API_KEY"))]),
    );
    let bad = check(&requirements, &values([("OPENAI_API_KEY", "no")]));
    let changes = bad.differs_from(&good);
    assert_eq!(
        told(&changes),
        [
            "mode of agent: enabled to inoperable",
            "variable OPENAI_API_KEY: set to malformed",
            "finding on OPENAI_API_KEY: none to critical",
        ]
    );
    assert_eq!(changes[1].subject, Subject::Variable);
}

#[test]
fn another_schema_is_a_change_too() {
    let small = blastshield_requirements::Requirements::parse(
        r#"{"version": 1,
        "variables": [{"name": "A", "group": "g", "severity": "info", "description": "Any"}],
        "features": [{"name": "agent", "modes": [{"mode": "on", "means": "Always"}]}]}"#,
    )
    .unwrap();
    let changes = check(&small, &values([])).differs_from(&check(&shipped(), &values([])));
    let told = told(&changes);
    assert!(told.contains(&"mode of agent: inoperable to on".to_owned()));
    assert!(told.contains(&"mode of wallet: disabled to none".to_owned()));
    assert!(told.contains(&"variable A: none to missing".to_owned()));
    assert!(told.contains(&"finding on OPENAI_API_KEY: critical to none".to_owned()));
}
