//! Values are in nothing that comes out.

use crate::{right, shipped};
use blastshield_requirements::{EnvFile, Report};

/// A mark in a value, in whatever state the value leaves its variable.
const PLANTED: &str = "zQ7planted";

#[test]
fn no_value_is_in_a_report() {
    let requirements = shipped();
    type Value = fn(&str) -> String;
    let kinds: [Value; 4] = [
        |_| PLANTED.to_owned(),
        |_| format!("{PLANTED}\n{PLANTED}"),
        |name| format!("{}{PLANTED}", right(name)),
        |_| PLANTED.repeat(10_000),
    ];
    let before = requirements.check(|_| None);
    for kind in kinds {
        let report = requirements.check(|name| Some(kind(name)));
        let changes = report.differs_from(&before);
        assert!(!changes.is_empty());
        let sentences: Vec<String> = changes.iter().map(ToString::to_string).collect();
        for shown in [
            format!("{report:?}"),
            serde_json::to_string(&report).unwrap(),
            format!("{changes:?}"),
            serde_json::to_string(&changes).unwrap(),
            sentences.join("\n"),
            format!("{requirements:?}"),
        ] {
            assert!(!shown.contains("planted"), "{shown}");
        }
    }
}

#[test]
fn reports_of_two_right_values_are_the_same() {
    let requirements = shipped();
    let first = requirements.check(|name| Some(right(name)));
    let second = requirements.check(|name| {
        Some(match name {
            "OPENAI_API_KEY" => format!("{}x", right(name)),
            _ => right(name),
        })
    });
    assert_eq!(first, second);
}

#[test]
fn a_report_survives_json() {
    let report = shipped().check(|_| None);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["gravest"], "critical");
    assert_eq!(json["modes"]["approvals"], "degraded");
    assert_eq!(json["variables"]["LNBITS_URL"], "missing");
    assert_eq!(json["findings"][0]["problem"], "missing");
    assert_eq!(json["findings"][0]["group"], "agent");
}

#[test]
fn a_file_shows_nothing() {
    let file = EnvFile::parse(&format!("A={PLANTED}\nB='{PLANTED}'\n")).unwrap();
    assert_eq!(format!("{file:?}"), "EnvFile(2 variables)");
    for text in [
        format!("A={PLANTED}\nA={PLANTED}"),
        format!("A='{PLANTED}"),
        format!("A='x' {PLANTED}"),
        PLANTED.to_owned(),
        format!("{PLANTED} x=1"),
    ] {
        let error = EnvFile::parse(&text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("planted"));
    }
}

#[test]
fn every_secret_of_the_shipped_schema_is_marked() {
    let requirements = shipped();
    let marked: Vec<&str> = requirements.sensitive().collect();
    assert_eq!(
        marked,
        [
            "OPENAI_API_KEY",
            "TELEGRAM_BOT_TOKEN",
            "TELEGRAM_OWNER_ID",
            "LNBITS_INVOICE_KEY",
            "LNBITS_ADMIN_KEY",
            "MOLTBOOK_API_TOKEN"
        ]
    );
}
