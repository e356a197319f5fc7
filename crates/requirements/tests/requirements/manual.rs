//! The manual says what is so.

use crate::shipped;
use blastshield_requirements::{Report, Requirements};

const MANUAL: &str = include_str!("../../../../docs/requirements.md");

/// The indented block of JSON after this heading.
fn example(heading: &str) -> String {
    let (_, section) = MANUAL.split_once(heading).unwrap();
    section
        .lines()
        .skip_while(|line| *line != "    {")
        .take_while(|line| line.starts_with("    "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn the_examples_are_right() {
    let requirements = Requirements::parse(&example("## The format")).unwrap();
    assert_eq!(requirements.check(|_| None).mode("mail"), Some("disabled"));
    let report: Report = serde_json::from_str(&example("## The report")).unwrap();
    let key = "0b".repeat(16);
    let now = shipped().check(|name| match name {
        "LNBITS_ADMIN_KEY" => Some(key.clone()),
        _ => None,
    });
    assert!(now.findings.contains(&report.findings[0]));
}

#[test]
fn it_names_every_variable_and_mode_that_ships() {
    let requirements = shipped();
    for variable in requirements.variables() {
        assert!(
            MANUAL.contains(&format!("`{}`", variable.name)),
            "{}",
            variable.name
        );
    }
    for feature in requirements.features() {
        let row = MANUAL
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", feature.name)))
            .unwrap();
        for mode in &feature.modes {
            assert!(
                row.contains(&format!("`{}`", mode.name)),
                "{}: {}",
                feature.name,
                mode.name
            );
        }
    }
}
