//! Names of holds and sessions: short enough to type, without characters that pass for one another.

use std::io;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// So many random characters of five bits each.
pub(crate) fn random(length: usize) -> io::Result<String> {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).map_err(|_| io::Error::from(io::ErrorKind::Other))?;
    Ok(bytes
        .into_iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 31)).copied())
        .map(char::from)
        .collect())
}
