//! Names of files as reports and baselines have them: relative, on one line, and with a way back.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One step of a path. What is not a letter, a digit or harmless punctuation is written as `%` and two digits a byte.
pub(super) fn encode(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_plain(c) {
                shown.push(c);
            } else {
                escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown);
            }
        }
        escape(chunk.invalid(), &mut shown);
    }
    shown
}

/// The steps of a path again; nothing if it leads out of its folder.
pub(super) fn decode(path: &str) -> Option<Vec<OsString>> {
    if !blastshield_guard::memory::is_relative(path) {
        return None;
    }
    path.split('/').map(step).collect()
}

fn step(text: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let leads_out = matches!(bytes.as_slice(), b"" | b"." | b"..") || bytes.contains(&b'/');
    (!leads_out && !bytes.contains(&0)).then(|| OsString::from_vec(bytes))
}

fn is_plain(c: char) -> bool {
    match c {
        '%' | ':' | '\\' | '/' => false,
        // Letters that nobody sees.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => false,
        ' ' => true,
        c if c.is_ascii() => c.is_ascii_graphic(),
        c => c.is_alphanumeric(),
    }
}

fn escape(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        shown.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_way_back() {
        let names: [&[u8]; 7] = [
            b"MEMORY.md",
            "Überblick 2.md".as_bytes(),
            b"10:30 100%.md",
            b"a\x1b[2J\nb",
            b"\xff\xfe",
            "i\u{200b}g\u{202e}n".as_bytes(),
            b"back\\slash",
        ];
        for name in names {
            let name = OsStr::from_bytes(name);
            let shown = encode(name);
            assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'));
            assert_eq!(decode(&shown).unwrap(), [name], "{shown}");
        }
        assert_eq!(encode(OsStr::new("10:30.md")), "10%3A30.md");
    }

    #[test]
    fn no_name_leads_out() {
        for path in [
            "", "..", "a/../b", "/etc", "%2E%2E", "a%2Fb", "a%00", "a%4", "a%zz",
        ] {
            assert_eq!(decode(path), None, "{path}");
        }
    }
}
