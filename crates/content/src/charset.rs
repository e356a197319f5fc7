//! Which charset bytes are in, and the text they spell.

use std::collections::BTreeSet;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::prescan::{is_utf7, prescan, xml_declaration};
use crate::{ContentError, Flag};

/// Decodes bytes by mark, header, declaration in the document, or guess, in this order.
pub(crate) fn to_text(
    bytes: &[u8],
    label: Option<&str>,
    flags: &mut BTreeSet<Flag>,
) -> Result<(String, &'static str), ContentError> {
    if bytes.starts_with(b"+/v") && bytes.get(3).is_some_and(|byte| b"89+/".contains(byte)) {
        flags.insert(Flag::Utf7);
    }
    let encoding = choose(bytes, label, flags)?;
    if encoding == REPLACEMENT {
        flags.insert(Flag::ReplacementCharset);
    }
    let (text, broken) = encoding.decode_with_bom_removal(bytes);
    if broken {
        flags.insert(Flag::InvalidBytes);
    }
    let mut text = text.into_owned();
    if text.contains('\0') {
        flags.insert(Flag::NulBytes);
        text.retain(|c| c != '\0');
    }
    Ok((text, encoding.name()))
}

fn choose(
    bytes: &[u8],
    label: Option<&str>,
    flags: &mut BTreeSet<Flag>,
) -> Result<&'static Encoding, ContentError> {
    let declared = match label {
        Some(label) => header(label, flags)?,
        None => None,
    };
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        if declared.is_some_and(|declared| declared != marked) {
            flags.insert(Flag::CharsetMismatch);
        }
        return Ok(marked);
    }
    if let Some(wide) = wide(bytes) {
        if declared.is_some_and(|declared| declared != wide) {
            flags.insert(Flag::CharsetMismatch);
        }
        return Ok(wide);
    }
    if let Some(declared) = declared {
        // Without a mark and without a single zero byte it is not UTF-16, whatever is said.
        if declared != UTF_16LE && declared != UTF_16BE {
            return Ok(declared);
        }
        flags.insert(Flag::CharsetMismatch);
    }
    let own = prescan(bytes);
    if own.utf7 {
        flags.insert(Flag::Utf7);
    }
    if let Some(encoding) = own.encoding.or_else(|| xml_declaration(bytes)) {
        return Ok(encoding);
    }
    Ok(guess(bytes))
}

fn header(
    label: &str,
    flags: &mut BTreeSet<Flag>,
) -> Result<Option<&'static Encoding>, ContentError> {
    if is_utf7(label.as_bytes()) {
        flags.insert(Flag::Utf7);
        return Ok(None);
    }
    let encoding = Encoding::for_label(label.as_bytes());
    if encoding.is_none() && is_mainframe(label) {
        return Err(ContentError::UnsupportedCharset);
    }
    Ok(encoding)
}

/// EBCDIC: readable by no browser, and letters in it look like anything.
fn is_mainframe(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let number =
        label.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '-' || c == '_');
    label.contains("ebcdic")
        || ((label.starts_with("ibm") || label.starts_with("cp"))
            && matches!(
                number,
                "037"
                    | "37"
                    | "273"
                    | "277"
                    | "278"
                    | "280"
                    | "284"
                    | "285"
                    | "290"
                    | "297"
                    | "420"
                    | "424"
                    | "500"
                    | "838"
                    | "870"
                    | "871"
                    | "875"
                    | "930"
                    | "933"
                    | "935"
                    | "937"
                    | "939"
                    | "1025"
                    | "1026"
                    | "1047"
                    | "1140"
                    | "1141"
                    | "1142"
                    | "1143"
                    | "1144"
                    | "1145"
                    | "1146"
                    | "1147"
                    | "1148"
                    | "1149"
            ))
}

/// UTF-16 without a mark: every other byte of western text is zero.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..512).unwrap_or(bytes);
    let pairs = head.len() / 2;
    if pairs < 4 {
        return None;
    }
    let zeros = |at: usize| {
        head.iter()
            .skip(at)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    if odd * 10 >= pairs * 4 && even * 10 < pairs {
        Some(UTF_16LE)
    } else if even * 10 >= pairs * 4 && odd * 10 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if bytes.is_ascii() {
        return WINDOWS_1252;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let head = bytes.get(..256 * 1024).unwrap_or(bytes);
    detector.feed(head, true);
    detector.guess(None, Utf8Detection::Allow)
}
