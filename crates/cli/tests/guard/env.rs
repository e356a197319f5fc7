//! `blastshield env`.

use super::{command, run, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A mark in each value, never to be seen again.
const PLANTED: &str = "q7planted";

fn openai() -> String {
    format!("sk-{PLANTED}{}", "Ab1".repeat(8))
}

fn telegram() -> String {
    format!("123456789:{PLANTED}{}", "Ab_-9".repeat(5))
}

/// A run with these variables and no others.
fn check(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blastshield"));
    command.env_clear().args(["env", "check"]).args(arguments);
    let output = command
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    for shown in [&output.stdout, &output.stderr] {
        assert!(!text(shown).contains("planted"), "{}", text(shown));
    }
    output
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_exit_code_is_that_of_the_gravest_finding() {
    let (openai, telegram) = (openai(), telegram());
    let nothing = check(&[], &[]);
    assert_eq!(code(&nothing), 2);
    assert!(text(&nothing.stdout).contains("critical OPENAI_API_KEY is not set"));
    let key = ("OPENAI_API_KEY", &*openai);
    assert_eq!(code(&check(&[], &[key])), 1);
    let pair = [
        key,
        ("TELEGRAM_BOT_TOKEN", &telegram),
        ("TELEGRAM_OWNER_ID", "42"),
    ];
    let fine = check(&["--json"], &pair);
    assert_eq!(code(&fine), 0);
    assert_eq!(json(&fine)["gravest"], "info");
    assert_eq!(json(&fine)["modes"]["approvals"], "enabled");
    let wrong = check(
        &["--json"],
        &[("OPENAI_API_KEY", PLANTED.get(..3).unwrap())],
    );
    assert_eq!(code(&wrong), 2);
    assert_eq!(json(&wrong)["findings"][0]["problem"], "malformed");
}

#[test]
fn people_see_states_and_modes_by_group() {
    let key = "0b".repeat(16);
    let output = check(
        &[],
        &[
            ("OPENAI_API_KEY", &openai()),
            ("LNBITS_ADMIN_KEY", &key),
            ("WALLET_DAILY_LIMIT_SATS", PLANTED),
        ],
    );
    assert_eq!(code(&output), 2);
    let shown = text(&output.stdout);
    assert!(!shown.contains(&key));
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.contains(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(row("OPENAI_API_KEY").contains("agent OPENAI_API_KEY set agent"));
    assert!(row("LNBITS_URL").contains("wallet LNBITS_URL missing critical wallet"));
    assert!(row("WALLET_DAILY_LIMIT_SATS").contains("malformed critical wallet"));
    assert!(row("not in force").contains("wallet approval-gated"));
    assert!(row("degraded").contains("approvals degraded"));
}

#[test]
fn a_file_is_read_instead_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("variables");
    let file = path.to_str().unwrap();
    let content = format!(
        "# ours\nexport OPENAI_API_KEY=\"{}\"\nTELEGRAM_BOT_TOKEN='{}' # the bot\nTELEGRAM_OWNER_ID=42\n",
        openai(),
        telegram()
    );
    std::fs::write(&path, content).unwrap();
    let output = check(&["--json", "--env-file", file], &[("LNBITS_URL", PLANTED)]);
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["variables"]["LNBITS_URL"], "missing");
    for content in [
        format!("A={PLANTED}\n{PLANTED}\n"),
        format!("A='{PLANTED}"),
        format!("A={PLANTED}\nA={PLANTED}"),
        format!("#{}", PLANTED.repeat(200_000)),
    ] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(code(&check(&["--env-file", file], &[])), 3);
    }
    std::fs::write(
        &path,
        [b"OPENAI_API_KEY=planted".as_slice(), &[0xff]].concat(),
    )
    .unwrap();
    let output = check(&["--env-file", file], &[]);
    assert_eq!(code(&output), 3);
    assert!(text(&output.stderr).contains("is not UTF-8"));
    assert_eq!(code(&check(&["--env-file", "/nowhere/at-all"], &[])), 3);
}

#[test]
fn the_shipped_schema_can_be_printed_changed_and_used() {
    let here = Path::new(".");
    let printed = run(here, &["env", "schema"]);
    assert_eq!(code(&printed), 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("env.schema.json");
    let file = path.to_str().unwrap();
    std::fs::write(&path, &printed.stdout).unwrap();
    let own = check(&["--json", "--schema", file], &[]);
    assert_eq!(json(&own), json(&check(&["--json"], &[])));
    let milder = text(&printed.stdout).replacen("\"critical\"", "\"warn\"", 1);
    std::fs::write(&path, milder).unwrap();
    assert_eq!(code(&check(&["--schema", file], &[])), 1);
    let broken = text(&printed.stdout).replacen("\"critical\"", "\"fatal\"", 1);
    std::fs::write(&path, broken).unwrap();
    let output = check(&["--schema", file], &[]);
    assert_eq!(code(&output), 3);
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("variables[0].severity"));
    // A file of secrets by mistake.
    std::fs::write(&path, format!("OPENAI_API_KEY={}\n", openai())).unwrap();
    assert_eq!(code(&check(&["--schema", file], &[])), 3);
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8_is_malformed() {
    use std::os::unix::ffi::OsStrExt;
    let value = std::ffi::OsStr::from_bytes(b"planted\xff\xfeplanted");
    let output = command(Path::new("."), &["env", "check", "--json"])
        .env("OPENAI_API_KEY", value)
        .output()
        .unwrap();
    assert_eq!(json(&output)["variables"]["OPENAI_API_KEY"], "malformed");
    assert!(!text(&output.stdout).contains("planted"));
}

#[test]
fn help_says_the_exit_codes() {
    let help = run(Path::new("."), &["env", "check", "--help"]);
    for said in ["0 none or info", "1 warn", "2 critical", "3 error"] {
        assert!(text(&help.stdout).contains(said), "{said}");
    }
}
