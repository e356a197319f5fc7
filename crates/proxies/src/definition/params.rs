//! Typed parameters: what an agent may fill into a path, a query or a file name, and nothing beyond it.

use super::error::{DefinitionError, value};
use super::wire;
use serde_json::Value;
use std::fmt::Write as _;

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One segment of the path; always required.
    Path,
    /// The query.
    Query,
}

/// What a parameter may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Letters, digits, `_` and `-`, at most 64.
    Id,
    /// A whole number.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// True or false.
    Boolean,
    /// One of these words.
    Choice(Vec<String>),
    /// A line of text of at most so many characters; for queries alone.
    Text(usize),
}

/// A declared parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Where it goes.
    pub place: Place,
    /// What it may be.
    pub kind: ParamKind,
    /// Whether a task must give it.
    pub required: bool,
}

/// A task's parameter is not what was declared. The value is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parameter {name} must be {expected}")]
pub struct BadParam {
    /// Which.
    pub name: String,
    /// What it should be.
    pub expected: String,
}

const MAX_ID: usize = 64;
const MAX_TEXT: usize = 512;
const MAX_CHOICES: usize = 64;

impl Param {
    pub(super) fn read(field: &str, wire: &wire::Param) -> Result<Self, DefinitionError> {
        let place = match wire.place.as_str() {
            "path" => Place::Path,
            "query" => Place::Query,
            _ => return Err(value(format!("{field}.in"), "path or query")),
        };
        let kind = match wire.kind.as_str() {
            "id" => ParamKind::Id,
            "boolean" => ParamKind::Boolean,
            "integer" => {
                let (min, max) = (wire.min.unwrap_or(0), wire.max.unwrap_or(i64::MAX));
                if min > max {
                    return Err(value(format!("{field}.min"), "at most max"));
                }
                ParamKind::Integer { min, max }
            }
            "choice" => {
                let word = |word: &String| is_id(word);
                if wire.values.is_empty()
                    || wire.values.len() > MAX_CHOICES
                    || !wire.values.iter().all(word)
                {
                    let expected = format!("1 to {MAX_CHOICES} words of letters, digits, _ and -");
                    return Err(value(format!("{field}.values"), expected));
                }
                ParamKind::Choice(wire.values.clone())
            }
            "text" if place == Place::Query => {
                let most = wire.max_length.unwrap_or(200);
                if most == 0 || most > MAX_TEXT {
                    let expected = format!("1 to {MAX_TEXT}");
                    return Err(value(format!("{field}.max_length"), expected));
                }
                ParamKind::Text(most)
            }
            _ => {
                let expected = "id, integer, boolean, choice, or text for a query";
                return Err(value(format!("{field}.type"), expected));
            }
        };
        Ok(Self {
            place,
            kind,
            required: wire.required || place == Place::Path,
        })
    }

    /// The text of a value, if it is one of this parameter's.
    pub(crate) fn text_of(&self, name: &str, given: &Value) -> Result<String, BadParam> {
        let bad = |expected: String| BadParam {
            name: name.to_owned(),
            expected,
        };
        match (&self.kind, given) {
            (ParamKind::Id, Value::String(text)) if is_id(text) => Ok(text.clone()),
            (ParamKind::Id, Value::Number(number)) if number.is_u64() => Ok(number.to_string()),
            (ParamKind::Id, _) => Err(bad(format!(
                "1 to {MAX_ID} letters, digits, _ and -, not beginning with -"
            ))),
            (ParamKind::Boolean, Value::Bool(truth)) => Ok(truth.to_string()),
            (ParamKind::Boolean, Value::String(text)) if text == "true" || text == "false" => {
                Ok(text.clone())
            }
            (ParamKind::Boolean, _) => Err(bad("true or false".to_owned())),
            (ParamKind::Integer { min, max }, given) => {
                let number = match given {
                    Value::String(text) => text.parse().ok(),
                    given => given.as_i64(),
                };
                number
                    .filter(|number| min <= number && number <= max)
                    .map(|number: i64| number.to_string())
                    .ok_or_else(|| bad(format!("a whole number from {min} to {max}")))
            }
            (ParamKind::Choice(words), given) => given
                .as_str()
                .filter(|text| words.iter().any(|word| word == text))
                .map(str::to_owned)
                .ok_or_else(|| bad(format!("one of {}", words.join(", ")))),
            (ParamKind::Text(most), given) => given
                .as_str()
                .filter(|text| text.chars().count() <= *most && !text.chars().any(char::is_control))
                .map(str::to_owned)
                .ok_or_else(|| {
                    bad(format!(
                        "at most {most} characters without control characters"
                    ))
                }),
        }
    }
}

/// A word that is safe as a path segment and in a file name.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len())
        && !text.starts_with('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Percent-encoded but for what no parser reads as syntax.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn param(kind: ParamKind) -> Param {
        Param {
            place: Place::Path,
            kind,
            required: true,
        }
    }

    #[test]
    fn values_have_the_declared_type_and_nothing_else_passes() {
        let id = param(ParamKind::Id);
        assert_eq!(id.text_of("a", &json!("x_9-Z")), Ok("x_9-Z".to_owned()));
        assert_eq!(id.text_of("a", &json!(4829)), Ok("4829".to_owned()));
        for wrong in [
            json!("../x"),
            json!(""),
            json!("a/b"),
            json!("a.b"),
            json!("-x"),
            json!(-1),
            json!(["x"]),
        ] {
            assert!(id.text_of("a", &wrong).is_err(), "{wrong}");
        }
        let integer = param(ParamKind::Integer { min: 1, max: 50 });
        assert_eq!(integer.text_of("n", &json!("7")), Ok("7".to_owned()));
        for wrong in [json!(0), json!(51), json!("7x"), json!(1.5), json!(null)] {
            assert!(integer.text_of("n", &wrong).is_err(), "{wrong}");
        }
        let choice = param(ParamKind::Choice(vec!["hot".into(), "new".into()]));
        let wrong = choice.text_of("sort", &json!("top")).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "the parameter sort must be one of hot, new"
        );
    }

    proptest! {
        #[test]
        fn encoded_text_holds_no_syntax(text in ".*") {
            let encoded = encoded(&text);
            prop_assert!(encoded.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_~%".contains(&b)));
        }
    }
}
