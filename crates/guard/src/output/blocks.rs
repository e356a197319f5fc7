//! Long encoded blocks, which may carry anything.

use std::ops::Range;

/// Longest encoded block that goes without a word.
const LONG_BLOCK: usize = 256;
/// Lines of an encoded block are at least this long, all but the last.
const BLOCK_LINE: usize = 48;

/// Long blocks of base64 or hex, over several lines or in one, outside addresses and keys that are public by nature.
pub(crate) fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut block: Option<Range<usize>> = None;
    let mut at = 0;
    for token in text.split_inclusive(char::is_whitespace) {
        let body = token.trim_end();
        let run = run_in(body).map(|run| at + run.start..at + run.end);
        let next = at + token.len();
        block = match (block.take(), run) {
            (Some(open), Some(run)) if run.start == at && open.end + 2 >= at && open.end <= at => {
                Some(open.start..run.end)
            }
            (open, run) => {
                found.extend(open);
                run.filter(|run| run.len() >= BLOCK_LINE)
            }
        };
        // A block goes on only from the end of a line.
        if let Some(open) =
            block.take_if(|open| open.end != at + body.len() || !token.ends_with('\n'))
        {
            found.push(open);
        }
        at = next;
    }
    found.extend(block);
    found.retain(|range| range.len() >= LONG_BLOCK && !is_public(text, range));
    found
}

/// The longest run of digits of base64 in a word.
fn run_in(word: &str) -> Option<Range<usize>> {
    let is_digit = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
    };
    if word.len() < 8 {
        let whole = !word.is_empty() && word.bytes().all(|byte| is_digit(&byte));
        return whole.then_some(0..word.len());
    }
    let mut best = 0..0;
    let mut start = 0;
    for (at, byte) in word.bytes().enumerate().chain([(word.len(), b' ')]) {
        if !is_digit(&byte) {
            if at - start > best.len() {
                best = start..at;
            }
            start = at + 1;
        }
    }
    let run = word.get(best.clone())?;
    let mixed = run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_alphabetic());
    (mixed && !best.is_empty()).then_some(best)
}

/// Certificates, public keys, signatures and embedded pictures.
fn is_public(text: &str, range: &Range<usize>) -> bool {
    let from = text.ceil_char_boundary(range.start.saturating_sub(160));
    let before = text.get(from..range.start).unwrap_or_default();
    [
        "BEGIN CERTIFICATE",
        "BEGIN PUBLIC KEY",
        "BEGIN RSA PUBLIC",
        "BEGIN PGP PUBLIC",
        "BEGIN PGP SIGNATURE",
        "BEGIN SSH SIGNATURE",
        "BEGIN CERTIFICATE REQUEST",
        "data:image/",
        "data:font/",
        "data:audio/",
        "data:application/font",
        "ssh-rsa ",
        "ecdsa-sha2-",
        "://",
    ]
    .iter()
    .any(|mark| before.contains(mark))
}
