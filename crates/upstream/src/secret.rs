//! A secret that can be used but not shown: no `Display`, a blind `Debug`, wiped when dropped.

use crate::error::ConfigError;
use reqwest::header::HeaderValue;
use std::fmt;
use zeroize::Zeroizing;

/// A key or token of a configured service.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes the value as it is, without the white space that files and variables leave around it.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        let value = Zeroizing::new(value.into());
        Self(Zeroizing::new(value.trim().to_owned()))
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The header `prefix` + secret, marked so that no HTTP layer prints it.
    pub(crate) fn header(
        &self,
        prefix: &str,
        what: &'static str,
    ) -> Result<HeaderValue, ConfigError> {
        if self.is_empty() {
            return Err(ConfigError::Missing { what });
        }
        let text = Zeroizing::new(format!("{prefix}{}", self.expose()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| ConfigError::Unusable { what })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_value_nor_length() {
        let shown = format!("{:?}", Secret::new("sk-abcdef"));
        assert_eq!(shown, "Secret(…)");
    }

    #[test]
    fn surrounding_white_space_is_not_part_of_it() {
        assert_eq!(Secret::new(" key\n").expose(), "key");
    }

    #[test]
    fn a_header_is_sensitive_and_refuses_control_characters() {
        let header = Secret::new("key").header("Bearer ", "the key").unwrap();
        assert!(header.is_sensitive());
        assert!(!format!("{header:?}").contains("key"));
        assert_eq!(
            Secret::new("a\nb").header("", "the key"),
            Err(ConfigError::Unusable { what: "the key" })
        );
        assert_eq!(
            Secret::new("").header("", "the key"),
            Err(ConfigError::Missing { what: "the key" })
        );
    }
}
