//! Ids that nobody can guess.

use std::fmt::Write as _;

/// The system has no random numbers.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

/// A new id: a prefix and 128 random bits in hexadecimal.
pub(crate) fn fresh(prefix: &str) -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    let mut id = String::with_capacity(prefix.len() + 33);
    id.push_str(prefix);
    id.push('_');
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_one_form() {
        let (a, b) = (fresh("res").unwrap(), fresh("res").unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert!(a.starts_with("res_"));
    }
}
