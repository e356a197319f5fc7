//! The effective configuration, for people.

use crate::table::{SETTINGS, Setting};
use crate::values::{Origin, Values};
use std::fmt::Write as _;

/// A setting as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Which one.
    pub setting: &'static Setting,
    /// Its value; of a secret only whether there is one.
    pub value: String,
    /// Who said so.
    pub origin: Origin,
}

/// Every setting with its value and origin.
#[must_use]
pub fn shown(values: &Values) -> Vec<Shown> {
    let show = |setting: &'static Setting| {
        let (value, origin) = values.get(setting);
        let value = match (setting.secret, value.is_empty()) {
            (_, true) => String::new(),
            (true, false) => "(set)".to_owned(),
            (false, false) => value.to_owned(),
        };
        Shown {
            setting,
            value,
            origin,
        }
    };
    SETTINGS.iter().map(show).collect()
}

/// The table of settings as a markdown document.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| key | variable | default | what it does |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() {
            "–".to_owned()
        } else {
            format!("`{}`", setting.default)
        };
        let variables: Vec<String> = setting.variables.iter().map(|v| format!("`{v}`")).collect();
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {default} | {} |",
            setting.key,
            variables.join(", "),
            setting.help
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let variables = [(
            "CLAWRUBBER_BRAVE_API_KEY".to_owned(),
            "hunter2hunter2".to_owned(),
        )];
        let values = Values::read(None, variables).unwrap();
        let all = format!("{:?}", shown(&values));
        assert!(all.contains("(set)") && !all.contains("hunter2"));
    }
}
