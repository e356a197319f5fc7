//! Every combination of variables gives exactly one mode a feature, and the one that was decided.

use crate::{check, right, shipped};
use blastshield_requirements::{Problem, Report, Requirements, Severity, State};
use std::collections::BTreeMap;

/// What a variable can be like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Like {
    Missing,
    Empty,
    Malformed,
    Right,
    /// Right, and a no.
    No,
}
use Like::{Empty, Malformed, Missing, No, Right};

const ALL: [Like; 4] = [Missing, Empty, Malformed, Right];

type Table = BTreeMap<&'static str, Like>;

/// Each way to choose one of these for each name.
fn combinations(names: &[&'static str], choices: &[Like]) -> Vec<Table> {
    let mut tables = vec![Table::new()];
    for name in names {
        tables = tables
            .into_iter()
            .flat_map(|table| {
                choices.iter().map(move |like| {
                    let mut table = table.clone();
                    table.insert(name, *like);
                    table
                })
            })
            .collect();
    }
    tables
}

fn run(requirements: &Requirements, table: &Table) -> Report {
    let values = table
        .iter()
        .filter_map(|(name, like)| {
            let value = match like {
                Missing => return None,
                Empty => " ".to_owned(),
                Malformed => format!("\u{1}{}", right(name)),
                Right => right(name),
                No => "false".to_owned(),
            };
            Some(((*name).to_owned(), value))
        })
        .collect();
    check(requirements, &values)
}

/// The decided table, told a second time.
fn decided(table: &Table) -> BTreeMap<&'static str, &'static str> {
    let right = |name| matches!(table.get(name), Some(Right | No));
    let wallet = if right("LNBITS_ADMIN_KEY") {
        "approval-gated"
    } else if right("LNBITS_INVOICE_KEY") {
        "receive-only"
    } else {
        "disabled"
    };
    let pair = right("TELEGRAM_BOT_TOKEN") && right("TELEGRAM_OWNER_ID");
    let either = |name, yes, no| if right(name) { yes } else { no };
    let open = table.get("REQUIRE_POST_APPROVAL") == Some(&No);
    BTreeMap::from([
        ("agent", either("OPENAI_API_KEY", "enabled", "inoperable")),
        ("approvals", if pair { "enabled" } else { "degraded" }),
        ("posts", if open { "open" } else { "approval-gated" }),
        ("wallet", wallet),
        (
            "moltbook",
            either("MOLTBOOK_API_TOKEN", "enabled", "disabled"),
        ),
        (
            "outbound",
            either("SUPERVISOR_ALLOWED_DOMAINS", "configured", "default"),
        ),
    ])
}

fn assert_decided(requirements: &Requirements, table: &Table) -> Report {
    let report = run(requirements, table);
    let modes: BTreeMap<&str, &str> = report
        .modes
        .iter()
        .map(|(feature, mode)| (feature.as_str(), mode.as_str()))
        .collect();
    assert_eq!(modes, decided(table), "{table:?}");
    report
}

fn names(requirements: &Requirements) -> Vec<&'static str> {
    requirements
        .variables()
        .iter()
        .map(|variable| &*variable.name.clone().leak())
        .collect()
}

#[test]
fn every_combination_of_presence_has_the_decided_modes() {
    let requirements = shipped();
    let names = names(&requirements);
    assert_eq!(names.len(), 11);
    for table in combinations(&names, &[Missing, Right]) {
        assert_decided(&requirements, &table);
    }
}

#[test]
fn every_state_of_what_a_feature_looks_at_has_the_decided_modes() {
    let requirements = shipped();
    let names = names(&requirements);
    for feature in requirements.features() {
        let own: Vec<&'static str> = names
            .iter()
            .copied()
            .filter(|name| {
                requirements
                    .switched_by(name)
                    .any(|other| other == feature.name)
            })
            .collect();
        let mut choices = ALL.to_vec();
        if own == ["REQUIRE_POST_APPROVAL"] {
            choices.push(No);
        }
        for rest in [Missing, Right, Malformed] {
            for mut table in combinations(&own, &choices) {
                for name in &names {
                    table.entry(name).or_insert(rest);
                }
                assert_decided(&requirements, &table);
            }
        }
    }
}

#[test]
fn a_wallet_that_can_spend_needs_its_limits() {
    let requirements = shipped();
    let needed = [
        "LNBITS_URL",
        "WALLET_DAILY_LIMIT_SATS",
        "WALLET_APPROVAL_THRESHOLD_SATS",
    ];
    for mut table in combinations(&needed, &ALL) {
        table.insert("OPENAI_API_KEY", Right);
        table.insert("LNBITS_ADMIN_KEY", Right);
        let report = assert_decided(&requirements, &table);
        let unmet: Vec<&str> = needed
            .into_iter()
            .filter(|name| table[name] != Right)
            .collect();
        assert_eq!(
            report.unmet.get("wallet").cloned().unwrap_or_default(),
            unmet
        );
        assert_eq!(
            report.in_force("wallet", "approval-gated"),
            unmet.is_empty()
        );
        for name in &unmet {
            let finding = report
                .findings
                .iter()
                .find(|finding| finding.variable == *name)
                .unwrap();
            assert_eq!(finding.severity, Severity::Critical);
            assert!(finding.message.contains("wallet (approval-gated) needs it"));
        }
        let critical = report.gravest == Some(Severity::Critical);
        assert_eq!(critical, !unmet.is_empty());
        // Without the key nothing can be spent, and no limit is missed.
        table.insert("LNBITS_ADMIN_KEY", Missing);
        let report = assert_decided(&requirements, &table);
        assert!(report.unmet.is_empty() && report.gravest < Some(Severity::Critical));
        assert!(
            report
                .findings
                .iter()
                .filter(|finding| needed.contains(&&*finding.variable))
                .all(|finding| finding.problem == Problem::Malformed)
        );
    }
}

#[test]
fn severities_are_those_of_the_rules() {
    let requirements = shipped();
    let full: Table = names(&requirements)
        .into_iter()
        .map(|name| (name, Right))
        .collect();
    let report = run(&requirements, &full);
    assert_eq!(
        (report.gravest, report.findings.len(), report.unmet.len()),
        (None, 0, 0)
    );
    for (name, missing, malformed) in [
        (
            "OPENAI_API_KEY",
            Some(Severity::Critical),
            Severity::Critical,
        ),
        ("TELEGRAM_BOT_TOKEN", Some(Severity::Warn), Severity::Warn),
        ("TELEGRAM_OWNER_ID", Some(Severity::Warn), Severity::Warn),
        ("MOLTBOOK_API_TOKEN", Some(Severity::Info), Severity::Warn),
        ("LNBITS_INVOICE_KEY", Some(Severity::Info), Severity::Warn),
        ("LNBITS_ADMIN_KEY", None, Severity::Warn),
        ("REQUIRE_POST_APPROVAL", None, Severity::Warn),
        ("SUPERVISOR_ALLOWED_DOMAINS", None, Severity::Warn),
    ] {
        for (like, expected) in [
            (Missing, missing),
            (Empty, missing),
            (Malformed, Some(malformed)),
        ] {
            let mut table = full.clone();
            table.insert(name, like);
            let report = run(&requirements, &table);
            assert_eq!(report.gravest, expected, "{name} {like:?}");
        }
    }
}

#[test]
fn empty_counts_as_missing_and_is_named_as_empty() {
    let report = run(&shipped(), &Table::from([("OPENAI_API_KEY", Empty)]));
    assert_eq!(report.variables["OPENAI_API_KEY"], State::Empty);
    assert_eq!(report.findings[0].problem, Problem::Empty);
    assert_eq!(report.mode("agent"), Some("inoperable"));
}

#[test]
fn each_variable_is_looked_up_once() {
    let asked = std::cell::RefCell::new(Vec::new());
    let requirements = shipped();
    let _ = requirements.check(|name| {
        asked.borrow_mut().push(name.to_owned());
        None
    });
    assert_eq!(asked.into_inner(), names(&requirements));
}
