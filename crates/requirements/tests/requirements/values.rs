//! Which values the shipped patterns take.

use crate::{check, right, shipped, values};
use blastshield_requirements::State;

fn state(name: &str, value: &str) -> State {
    check(&shipped(), &values([(name, value)])).variables[name]
}

#[test]
fn right_values_are_set() {
    for variable in shipped().variables() {
        assert_eq!(
            state(&variable.name, &right(&variable.name)),
            State::Set,
            "{}",
            variable.name
        );
    }
    for (name, value) in [
        ("LNBITS_URL", "https://legend.lnbits.com/"),
        ("LNBITS_URL", "http://lnbits:5000"),
        ("LNBITS_URL", "http://localhost:5000/api"),
        ("LNBITS_URL", "http://127.0.0.1:5000"),
        ("LNBITS_URL", "http://[::1]:5000"),
        ("REQUIRE_POST_APPROVAL", "FALSE"),
        ("REQUIRE_POST_APPROVAL", "1"),
        ("WALLET_DAILY_LIMIT_SATS", "0"),
        ("WALLET_DAILY_LIMIT_SATS", "2100000000000000"),
        ("SUPERVISOR_ALLOWED_DOMAINS", "moltbook.com"),
        (
            "SUPERVISOR_ALLOWED_DOMAINS",
            "api.openai.com,api.telegram.org,moltbook.com,legend.lnbits.com",
        ),
    ] {
        assert_eq!(state(name, value), State::Set, "{name}={value}");
    }
}

#[test]
fn other_values_are_malformed() {
    for (name, value) in [
        ("OPENAI_API_KEY", "short"),
        ("OPENAI_API_KEY", "two words and more"),
        ("TELEGRAM_BOT_TOKEN", "123456789"),
        ("TELEGRAM_BOT_TOKEN", "123456789:short"),
        ("TELEGRAM_OWNER_ID", "@owner"),
        ("TELEGRAM_OWNER_ID", "-100123"),
        ("TELEGRAM_OWNER_ID", "0"),
        ("TELEGRAM_OWNER_ID", "1, 2"),
        ("LNBITS_URL", "http://lnbits.example"),
        ("LNBITS_URL", "https://user:word@lnbits.example"),
        ("LNBITS_URL", "lnbits.example"),
        ("LNBITS_URL", "https://"),
        ("LNBITS_ADMIN_KEY", "changeme"),
        ("WALLET_DAILY_LIMIT_SATS", "-1"),
        ("WALLET_DAILY_LIMIT_SATS", "1e6"),
        ("WALLET_DAILY_LIMIT_SATS", "1.5"),
        ("WALLET_DAILY_LIMIT_SATS", "010"),
        ("WALLET_DAILY_LIMIT_SATS", "99999999999999999999"),
        ("REQUIRE_POST_APPROVAL", "maybe"),
        ("REQUIRE_POST_APPROVAL", "false "),
        ("SUPERVISOR_ALLOWED_DOMAINS", "*"),
        ("SUPERVISOR_ALLOWED_DOMAINS", "https://moltbook.com"),
        ("SUPERVISOR_ALLOWED_DOMAINS", "a.example b.example"),
    ] {
        assert_eq!(state(name, value), State::Malformed, "{name}={value}");
    }
}

#[test]
fn a_value_is_bounded_and_plain_text_even_without_a_pattern() {
    let schema = r#"{"version": 1,
        "variables": [{"name": "A", "group": "g", "severity": "info", "description": "Any"}],
        "features": [{"name": "f", "modes": [{"mode": "m", "means": "Always"}]}]}"#;
    let requirements = blastshield_requirements::Requirements::parse(schema).unwrap();
    let state = |value: &str| check(&requirements, &values([("A", value)])).variables["A"];
    assert_eq!(state("Grüße, 世界"), State::Set);
    assert_eq!(state(&"a".repeat(64 << 10)), State::Set);
    for value in ["a\nb", "a\0", "\u{1b}[2J", "a\u{fffd}"] {
        assert_eq!(state(value), State::Malformed, "{value:?}");
    }
    assert_eq!(state(&"a".repeat((64 << 10) + 1)), State::Malformed);
}
