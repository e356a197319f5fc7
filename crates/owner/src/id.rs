//! Names of requests: short enough to type, without characters that pass for one another.

use std::fmt;

/// Digits and letters without `i`, `l`, `o` and `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 8;

/// The name of a request: eight characters, forty random bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// A new name; nothing when the system gives no randomness.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).ok()?;
        let letter = |byte: u8| {
            ALPHABET
                .get(usize::from(byte & 31))
                .copied()
                .map(char::from)
        };
        bytes
            .into_iter()
            .map(letter)
            .collect::<Option<_>>()
            .map(Self)
    }

    /// Reads a name as a person may type it: in any case, with `o` for `0` and `i` or `l` for `1`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != LENGTH {
            return None;
        }
        let read = |c: char| {
            let c = match c.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                c => c,
            };
            u8::try_from(c)
                .is_ok_and(|byte| ALPHABET.contains(&byte))
                .then_some(c)
        };
        text.chars().map(read).collect::<Option<_>>().map(Self)
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_as_people_type_them() {
        for _ in 0..100 {
            let id = RequestId::random().unwrap();
            assert_eq!(RequestId::parse(id.as_str()), Some(id.clone()));
            assert_eq!(RequestId::parse(&id.as_str().to_uppercase()), Some(id));
        }
        assert_eq!(RequestId::parse("OIL23456").unwrap().as_str(), "01123456");
    }

    #[test]
    fn nothing_else_is_a_name() {
        for bad in [
            "",
            "1234567",
            "123456789",
            "1234567u",
            "1234 567",
            "１２３４",
            "1234567é",
            "12345-67",
        ] {
            assert_eq!(RequestId::parse(bad), None, "{bad}");
        }
    }
}
