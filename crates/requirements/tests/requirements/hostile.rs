//! Schemas that must not be taken: each is refused with its place.

use blastshield_requirements::{Fault, MAX_SCHEMA_BYTES, Requirements, SHIPPED, SchemaError};
use proptest::prelude::*;
use std::fmt::Write;

const VARIABLE: &str = r#"{"name": "A", "group": "g", "severity": "info", "description": "Any"}"#;
const FEATURE: &str = r#"{"name": "f", "modes": [
    {"mode": "on", "means": "It is there", "when": {"valid": ["A"]}},
    {"mode": "off", "means": "It is not"}]}"#;

fn schema(variables: &str, features: &str) -> String {
    format!(r#"{{"version": 1, "variables": [{variables}], "features": [{features}]}}"#)
}

fn fault(schema: &str) -> (String, Fault) {
    match Requirements::parse(schema) {
        Err(SchemaError::Invalid { place, fault }) => (place, fault),
        Err(other) => panic!("{other:?} for {schema}"),
        Ok(_) => panic!("taken: {schema}"),
    }
}

/// The fault of one variable that has this in the place of that.
fn of_variable(from: &str, to: &str) -> (String, Fault) {
    assert!(VARIABLE.contains(from));
    fault(&schema(&VARIABLE.replace(from, to), FEATURE))
}

fn of_feature(from: &str, to: &str) -> (String, Fault) {
    assert!(FEATURE.contains(from));
    fault(&schema(VARIABLE, &FEATURE.replacen(from, to, 1)))
}

fn at(place: &str, fault: Fault) -> (String, Fault) {
    (place.to_owned(), fault)
}

#[test]
fn the_small_schema_is_taken() {
    assert!(Requirements::parse(&schema(VARIABLE, FEATURE)).is_ok());
}

#[test]
fn fields_are_known_present_and_given_once() {
    assert_eq!(
        of_variable(r#""group""#, r#""colour": 1, "group""#),
        at("variables[0].colour", Fault::UnknownField)
    );
    assert_eq!(
        of_variable(r#""group""#, r#""name": "B", "group""#),
        at("variables[0].name", Fault::RepeatedField)
    );
    assert_eq!(
        of_variable(r#""group": "g", "#, ""),
        at("variables[0]", Fault::MissingField("group"))
    );
    assert_eq!(fault("{}"), at("its top", Fault::MissingField("version")));
    assert_eq!(
        fault(r#"{"version": 2, "variables": [], "features": []}"#),
        at("version", Fault::UnknownVersion)
    );
    assert_eq!(
        fault(r#"{"version": 1, "x": {}}"#),
        at("x", Fault::UnknownField)
    );
    assert_eq!(
        of_feature(r#""valid""#, r#""vaild""#),
        at("features[0].modes[0].when.vaild", Fault::UnknownField)
    );
}

#[test]
fn types_are_exact() {
    assert_eq!(
        fault(&schema(r#"["A", "g", "info", "Any"]"#, FEATURE)),
        at("variables[0]", Fault::WrongType("an object"))
    );
    assert_eq!(
        of_variable(r#""g""#, "null"),
        at("variables[0].group", Fault::WrongType("a text"))
    );
    assert_eq!(
        of_variable(r#""group""#, r#""required": "yes", "group""#),
        at("variables[0].required", Fault::WrongType("true or false"))
    );
    for version in ["1.0", "-1", "\"1\"", "true"] {
        let schema = schema(VARIABLE, FEATURE).replace("1", version);
        assert_eq!(
            fault(&schema),
            at("version", Fault::WrongType("a whole number"))
        );
    }
    assert_eq!(fault("[]"), at("its top", Fault::WrongType("an object")));
    assert_eq!(fault(&schema("", FEATURE)), at("variables", Fault::Empty));
}

#[test]
fn names_are_names_and_unique() {
    let twice = format!("{VARIABLE},{VARIABLE}");
    assert_eq!(
        fault(&schema(&twice, FEATURE)),
        at("variables[1].name", Fault::RepeatedName)
    );
    let twice = format!("{FEATURE},{FEATURE}");
    assert_eq!(
        fault(&schema(VARIABLE, &twice)),
        at("features[1].name", Fault::RepeatedName)
    );
    for name in ["1A", "A B", "A=B", "Ä", "A\\n", "\\u001b[2J", "A-B"] {
        assert_eq!(
            of_variable(r#""A""#, &format!("\"{name}\"")),
            at("variables[0].name", Fault::BadVariableName),
            "{name}"
        );
    }
    let long = format!("\"{}\"", "A".repeat(65));
    assert_eq!(
        of_variable(r#""A""#, &long),
        at("variables[0].name", Fault::TooLong(64))
    );
    for name in ["G", "-g", "g h", "g\\n", "1"] {
        assert_eq!(
            of_variable(r#""g""#, &format!("\"{name}\"")),
            at("variables[0].group", Fault::BadName),
            "{name}"
        );
    }
    assert_eq!(
        of_feature(r#""on""#, r#""On""#),
        at("features[0].modes[0].mode", Fault::BadName)
    );
}

#[test]
fn severities_and_patterns_are_real() {
    for severity in ["CRITICAL", "fatal", " info"] {
        assert_eq!(
            of_variable("info", severity),
            at("variables[0].severity", Fault::UnknownSeverity)
        );
    }
    for pattern in ["[", "a)|(?:b", "(a{1000}){1000}", "(?=a)a", "(a)\\\\1"] {
        let with = format!(r#""pattern": "{pattern}", "form": "so", "group""#);
        assert_eq!(
            of_variable(r#""group""#, &with),
            at("variables[0].pattern", Fault::BadPattern),
            "{pattern}"
        );
    }
    let long = format!(r#""pattern": "{}", "form": "so", "group""#, "a".repeat(513));
    assert_eq!(
        of_variable(r#""group""#, &long),
        at("variables[0].pattern", Fault::TooLong(512))
    );
    for alone in [r#""pattern": "a""#, r#""form": "so""#] {
        assert_eq!(
            of_variable(r#""group""#, &format!(r#"{alone}, "group""#)),
            at("variables[0]", Fault::PatternWithoutForm)
        );
    }
}

#[test]
fn words_for_people_cannot_trick_a_terminal() {
    for words in [
        "\\u001b[31m",
        "a\\nb",
        "\\u202eabc",
        "a\\u200bb",
        "\\u2066",
        "\\u009b",
    ] {
        assert_eq!(
            of_variable("Any", words),
            at("variables[0].description", Fault::UnsafeText),
            "{words}"
        );
    }
    assert_eq!(
        of_variable("Any", "  "),
        at("variables[0].description", Fault::Empty)
    );
    assert_eq!(
        of_variable("Any", &"a".repeat(301)),
        at("variables[0].description", Fault::TooLong(300))
    );
    assert_eq!(
        of_feature("It is there", "\\u0007"),
        at("features[0].modes[0].means", Fault::UnsafeText)
    );
}

#[test]
fn every_combination_has_one_mode_or_the_schema_is_refused() {
    assert_eq!(
        of_feature(r#", "when": {"valid": ["A"]}"#, ""),
        at("features[0].modes[0]", Fault::UnreachableMode)
    );
    assert_eq!(
        of_feature(
            r#""means": "It is not""#,
            r#""means": "No", "when": {"absent": ["A"]}"#
        ),
        at("features[0].modes[1].when", Fault::LastModeConditional)
    );
    assert_eq!(
        of_feature(r#"{"valid": ["A"]}"#, "{}"),
        at("features[0].modes[0].when", Fault::EmptyCondition)
    );
    assert_eq!(
        of_feature(r#"{"valid": ["A"]}"#, r#"{"matches": {}}"#),
        at("features[0].modes[0].when", Fault::EmptyCondition)
    );
    assert_eq!(
        fault(&schema(VARIABLE, r#"{"name": "f", "modes": []}"#)),
        at("features[0].modes", Fault::Empty)
    );
}

#[test]
fn references_have_targets() {
    assert_eq!(
        of_feature(r#"["A"]"#, r#"["A", "B"]"#),
        at("features[0].modes[0].when.valid[1]", Fault::UnknownVariable)
    );
    assert_eq!(
        of_feature(r#"{"valid": ["A"]}"#, r#"{"matches": {"B": "x"}}"#),
        at(
            "features[0].modes[0].when.matches.B",
            Fault::UnknownVariable
        )
    );
    assert_eq!(
        of_feature(
            r#""means": "It is not""#,
            r#""means": "No", "needs": {"B": "info"}"#
        ),
        at("features[0].modes[1].needs.B", Fault::UnknownVariable)
    );
    assert_eq!(
        of_feature(
            r#""means": "It is not""#,
            r#""means": "No", "needs": {"A": "info", "A": "warn"}"#
        ),
        at("features[0].modes[1].needs.A", Fault::RepeatedField)
    );
    assert_eq!(
        of_feature(
            r#""means": "It is not""#,
            r#""means": "No", "needs": {"A": "bad"}"#
        ),
        at("features[0].modes[1].needs.A", Fault::UnknownSeverity)
    );
}

#[test]
fn secrets_are_marked_and_steer_nothing() {
    for name in ["MY_KEY", "my_token_2", "SECRETS", "DB_PASSWORD"] {
        assert_eq!(
            of_variable(r#""A""#, &format!("\"{name}\"")),
            at("variables[0].name", Fault::NotSensitive)
        );
    }
    let secret = VARIABLE.replace(r#""group""#, r#""sensitive": true, "group""#);
    let feature = FEATURE.replace(r#"{"valid": ["A"]}"#, r#"{"matches": {"A": "x.*"}}"#);
    assert_eq!(
        fault(&schema(&secret, &feature)),
        at(
            "features[0].modes[0].when.matches.A",
            Fault::DependsOnSecret
        )
    );
}

#[test]
fn size_and_counts_are_bounded() {
    let padded = format!(
        "{}{}",
        schema(VARIABLE, FEATURE),
        " ".repeat(MAX_SCHEMA_BYTES)
    );
    assert_eq!(
        Requirements::parse(&padded).unwrap_err(),
        SchemaError::TooLarge
    );
    let deep = "[".repeat(MAX_SCHEMA_BYTES);
    assert!(matches!(
        Requirements::parse(&deep),
        Err(SchemaError::Syntax { line: 1, .. })
    ));
    let many =
        |count, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let variables = many(129, &|n| VARIABLE.replace(r#""A""#, &format!("\"A{n}\"")));
    assert_eq!(
        fault(&schema(&variables, FEATURE)),
        at("variables", Fault::TooMany(128))
    );
    let features = many(33, &|n| FEATURE.replace(r#""f""#, &format!("\"f{n}\"")));
    assert_eq!(
        fault(&schema(VARIABLE, &features)),
        at("features", Fault::TooMany(32))
    );
    let mode = r#"{"mode": "m", "means": "So", "when": {"matches": {"A": "x"}}}"#;
    let modes = many(17, &|_| mode.to_owned());
    let feature = format!(r#"{{"name": "f", "modes": [{modes}]}}"#);
    assert_eq!(
        fault(&schema(VARIABLE, &feature)),
        at("features[0].modes", Fault::TooMany(16))
    );
    let features = many(32, &|n| {
        let modes = many(15, &|_| mode.to_owned());
        format!(r#"{{"name": "f{n}", "modes": [{modes}, {{"mode": "m", "means": "So"}}]}}"#)
    });
    let (place, found) = fault(&schema(VARIABLE, &features));
    assert_eq!(found, Fault::TooManyPatterns(192), "{place}");
}

#[test]
fn a_fault_repeats_nothing_but_words() {
    let planted = format!("sk-{}", "7Qz".repeat(10));
    for (from, to) in [
        (r#""group""#, format!("\"{planted}\": 1, \"group\"")),
        (r#""g""#, format!("\"{planted}\"")),
        ("info", planted.clone()),
        (r#""A""#, format!("\"{planted}\"")),
        (r#""g""#, format!("{{\"{planted}\": 1}}")),
        (
            r#""group""#,
            format!("\"pattern\": \"[{planted}\", \"form\": \"so\", \"group\""),
        ),
    ] {
        let error =
            Requirements::parse(&schema(&VARIABLE.replace(from, &to), FEATURE)).unwrap_err();
        let mut shown = format!("{error} {error:?}");
        write!(shown, "{error:#?}").unwrap();
        assert!(!shown.contains("7Qz"), "{shown}");
    }
    let error = Requirements::parse(&format!("OPENAI_API_KEY={planted}")).unwrap_err();
    assert_eq!(error, SchemaError::Syntax { line: 1, column: 1 });
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = Requirements::parse(&text);
    }

    #[test]
    fn no_damage_makes_it_panic(at in 0..SHIPPED.len(), length in 0_usize..40, new in "[\\[\\]{}\",:a-z0-9 ]{0,8}") {
        let end = (at + length).min(SHIPPED.len());
        let damaged = format!("{}{new}{}", &SHIPPED[..at], &SHIPPED[end..]);
        if let Ok(requirements) = Requirements::parse(&damaged) {
            let report = requirements.check(|_| Some("1".into()));
            prop_assert_eq!(report.modes.len(), requirements.features().len());
        }
    }
}
