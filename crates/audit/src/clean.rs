//! What may stand in a log, an alert or a report: no secret, nothing that moves a cursor, nothing without bounds.
//!
//! The order matters. Secrets are found in the text as it came, then characters that hide or steer are made visible, and
//! only then is it cut: cutting first could leave half of a secret that nobody recognises. A text too long to be searched
//! is not shown at all.

use crate::visible::{cut, visible};
use blastshield_leak::{Scanner, Scope};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes of a message.
pub const MAX_MESSAGE: usize = 1024;
/// Bytes of all details of one entry, as JSON.
pub const MAX_DETAILS: usize = 16 * 1024;
/// Nesting of details.
pub const MAX_DEPTH: usize = 8;
const MAX_TEXT: usize = 2048;
const MAX_KEY: usize = 64;
/// A longer text is left out as a whole.
const MAX_SEARCHED: usize = 64 * 1024;
const MAX_NODES: usize = 2048;
/// Bytes of a report, as JSON.
const MAX_REPORT: usize = 256 * 1024;
const REDACTED: &str = "[REDACTED]";

/// Finds secrets in a text and puts something harmless in their place.
pub trait Redact: Send + Sync {
    /// The text without its secrets.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

/// The owner reads logs and alerts: who connected, and which file it was, is what they are for. So network addresses
/// stay, and so does a name that is the whole text; within a sentence internal names and paths go.
impl Redact for Scanner {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secret = Scope::SECRETS | Scope::PERSONAL;
        let is_name = text.len() <= MAX_KEY && !text.contains(['/', '\\', ' ', '\t', '\n']);
        self.redact_with(
            text,
            if is_name {
                secret
            } else {
                secret | Scope::INTERNAL
            },
        )
    }
}

/// One line, redacted, visible and at most `limit` bytes.
pub(crate) fn line(redact: &dyn Redact, text: &str, limit: usize) -> String {
    if text.len() > MAX_SEARCHED {
        return format!("[cut: {} bytes]", text.len());
    }
    cut(visible(&redact.redact(text)), limit)
}

/// Details fit for the log; what did not fit is missing and `_cut` says so.
pub(crate) fn details(redact: &dyn Redact, details: &Map<String, Value>) -> Map<String, Value> {
    let walk = Walk {
        redact,
        by_name: true,
        bytes: MAX_DETAILS - 1024,
        nodes: MAX_NODES,
        cut: false,
    };
    walk.clean(details)
}

/// A report in which names of variables stand beside words about them: only what looks like a secret goes.
pub(crate) fn report(redact: &dyn Redact, report: &Map<String, Value>) -> Map<String, Value> {
    let walk = Walk {
        redact,
        by_name: false,
        bytes: MAX_REPORT,
        nodes: MAX_REPORT / 16,
        cut: false,
    };
    walk.clean(report)
}

/// What the name of a value says about it.
#[derive(Clone, Copy, PartialEq)]
enum Secrecy {
    None,
    /// Texts under such a name are secret; numbers are counts (`tokensPerHour`).
    Texts,
    All,
}

struct Walk<'r> {
    redact: &'r dyn Redact,
    /// Whether a telling name hides its value.
    by_name: bool,
    bytes: usize,
    nodes: usize,
    cut: bool,
}

impl Walk<'_> {
    fn clean(mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let mut clean = self.object(map, 0, Secrecy::None);
        if self.cut {
            clean.insert("_cut".to_owned(), Value::Bool(true));
        }
        clean
    }

    fn value(&mut self, value: &Value, depth: usize, secrecy: Secrecy) -> Option<Value> {
        let clean = match value {
            Value::Null => Value::Null,
            _ if secrecy == Secrecy::All && !(value.is_object() || value.is_array()) => {
                Value::from(REDACTED)
            }
            Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                let text = number.to_string();
                let long = text.bytes().filter(u8::is_ascii_digit).count() >= 12;
                if long && self.redact.redact(&text) != text {
                    Value::from(REDACTED)
                } else {
                    value.clone()
                }
            }
            Value::String(_) if secrecy == Secrecy::Texts => Value::from(REDACTED),
            Value::String(text) => {
                let clean = line(self.redact, text, MAX_TEXT);
                self.cut |= text.len() > MAX_TEXT;
                Value::from(clean)
            }
            Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => {
                self.cut = true;
                Value::from("[cut: too deep]")
            }
            Value::Array(items) => {
                self.spend(2)?;
                let mut kept = Vec::new();
                for item in items {
                    let Some(item) = self.value(item, depth + 1, secrecy) else {
                        break;
                    };
                    kept.push(item);
                }
                return Some(Value::Array(kept));
            }
            Value::Object(map) => {
                self.spend(2)?;
                return Some(Value::Object(self.object(map, depth + 1, secrecy)));
            }
        };
        self.spend(cost(&clean))?;
        Some(clean)
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        depth: usize,
        outer: Secrecy,
    ) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in map {
            let mut key = line(self.redact, name, MAX_KEY);
            if kept.contains_key(&key) {
                let _ = write!(key, "#{}", kept.len());
            }
            if self.spend(key.len() * 2 + 4).is_none() {
                break;
            }
            let secrecy = if self.by_name && outer == Secrecy::None {
                secrecy(name)
            } else {
                outer
            };
            let Some(value) = self.value(value, depth, secrecy) else {
                break;
            };
            kept.insert(key, value);
        }
        kept
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        let left = self.bytes.checked_sub(bytes + 1);
        let nodes = self.nodes.checked_sub(1);
        match (left, nodes) {
            (Some(left), Some(nodes)) => {
                (self.bytes, self.nodes) = (left, nodes);
                Some(())
            }
            _ => {
                self.cut = true;
                None
            }
        }
    }
}

/// At most what the value takes as JSON; cleaned texts hold nothing to escape but quotes and backslashes.
fn cost(value: &Value) -> usize {
    match value {
        Value::String(text) => {
            2 + text.len() + text.bytes().filter(|b| matches!(b, b'"' | b'\\')).count()
        }
        Value::Number(number) => number.to_string().len(),
        _ => 5,
    }
}

/// What a value is called tells when to hide it, however harmless it looks.
fn secrecy(name: &str) -> Secrecy {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if plain == "sessionkey" {
        return Secrecy::None;
    }
    let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    if has(&["password", "passwd", "passphrase", "secret", "mnemonic"])
        || matches!(plain.as_str(), "pin" | "cvv" | "cvc" | "otp")
    {
        Secrecy::All
    } else if has(&["token", "key", "authorization", "cookie", "credential"]) {
        Secrecy::Texts
    } else {
        Secrecy::None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Takes every `hunter<digit>` for a secret.
    pub(crate) struct Hunter;

    impl Redact for Hunter {
        fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
            let mut parts = text.split("hunter");
            let Some(first) = parts.next() else {
                return Cow::Borrowed(text);
            };
            let mut clean = first.to_owned();
            let mut found = text == "4111111111111111";
            for part in parts {
                match part.strip_prefix(|c: char| c.is_ascii_digit()) {
                    Some(rest) => {
                        found = true;
                        clean.push_str(REDACTED);
                        clean.push_str(rest);
                    }
                    None => {
                        clean.push_str("hunter");
                        clean.push_str(part);
                    }
                }
            }
            if found {
                Cow::Owned(if text.starts_with("4111") {
                    REDACTED.into()
                } else {
                    clean
                })
            } else {
                Cow::Borrowed(text)
            }
        }
    }

    fn cleaned(value: Value) -> Value {
        let Value::Object(map) = value else { panic!() };
        Value::Object(details(&Hunter, &map))
    }

    #[test]
    fn secrets_go_from_texts_names_numbers_and_depth() {
        let clean = cleaned(json!({
            "a": "x hunter2 y", "hunter3": 1, "hunter4": 2, "n": 4_111_111_111_111_111_u64, "list": [{"deep": ["hunter5"]}],
        }));
        assert_eq!(
            clean,
            json!({
                "a": "x [REDACTED] y", "[REDACTED]": 1, "[REDACTED]#2": 2, "n": "[REDACTED]", "list": [{"deep": ["[REDACTED]"]}],
            })
        );
    }

    #[test]
    fn a_telling_name_hides_its_value() {
        let clean = cleaned(json!({
            "OPENAI_API_KEY": "plain", "x-auth-token": ["a", {"b": "c"}], "password": 1234, "tokensPerHour": 9,
            "session_key": "agent:main", "Cookie": "a=b", "mode": "plain",
        }));
        assert_eq!(
            clean,
            json!({
                "OPENAI_API_KEY": REDACTED, "x-auth-token": [REDACTED, {"b": REDACTED}], "password": REDACTED, "tokensPerHour": 9,
                "session_key": "agent:main", "Cookie": REDACTED, "mode": "plain",
            })
        );
    }

    #[test]
    fn a_secret_is_never_cut_in_half() {
        for pad in MAX_MESSAGE - 20..MAX_MESSAGE + 2 {
            let text = line(
                &Hunter,
                &format!("{}hunter2 tail", "a".repeat(pad)),
                MAX_MESSAGE,
            );
            assert!(
                text.len() <= MAX_MESSAGE && !text.contains("hunter"),
                "{pad}"
            );
        }
        let huge = "hunter2 ".repeat(MAX_SEARCHED);
        assert_eq!(
            line(&Hunter, &huge, MAX_MESSAGE),
            format!("[cut: {} bytes]", huge.len())
        );
    }

    #[test]
    fn depth_is_bounded() {
        let mut value = json!("x");
        for _ in 0..100 {
            value = json!({ "n": value });
        }
        let clean = cleaned(value).to_string();
        assert!(clean.contains("too deep") && clean.contains("_cut") && clean.len() < 200);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<u64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "\\PC{0,3000}".prop_map(Value::from),
            "[\"\\\\\u{1}-\u{20}]{0,3000}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 12, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
                proptest::collection::hash_map("\\PC{0,90}", inner, 0..12)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn details_fit_whatever_comes(value in any_json()) {
            let map = Map::from_iter([("v".to_owned(), value)]);
            let clean = Value::Object(details(&Hunter, &map)).to_string();
            prop_assert!(clean.len() <= MAX_DETAILS, "{}", clean.len());
            prop_assert!(!clean.chars().any(char::is_control));
        }
    }
}
