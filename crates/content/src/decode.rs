//! The first step: what bytes are, and the text in them.

use std::collections::BTreeSet;

use crate::charset::to_text;
use crate::kind::{declared, mostly_controls, refuse_binary, sniff, xml_kind};
use crate::{ContentError, Flag, Kind};

/// The most that is read of a body.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A body as text of a known kind.
#[derive(Clone, PartialEq, Eq)]
pub struct Decoded {
    /// What it is.
    pub kind: Kind,
    /// Its text, without NUL characters and marks of byte order.
    pub text: String,
    /// The charset it was in.
    pub charset: &'static str,
    /// What was noticed on the way.
    pub flags: BTreeSet<Flag>,
}

// The text may be an attack and may be private.
impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoded")
            .field("kind", &self.kind)
            .field("len", &self.text.len())
            .field("charset", &self.charset)
            .field("flags", &self.flags)
            .finish_non_exhaustive()
    }
}

/// Decodes a body. The declared type is checked against the bytes: a picture called a page is refused.
///
/// # Errors
/// If the body is too large, of a type that is not text, binary, or in a charset that the web does not know.
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Result<Decoded, ContentError> {
    if bytes.len() > MAX_BYTES {
        return Err(ContentError::TooLarge { limit: MAX_BYTES });
    }
    let header = declared(content_type)?;
    refuse_binary(bytes)?;
    let mut flags = BTreeSet::new();
    let (text, charset) = to_text(bytes, header.charset.as_deref(), &mut flags)?;
    if mostly_controls(text.as_bytes()) {
        return Err(ContentError::Binary);
    }
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    let kind = match header.kind {
        None => sniff(&text),
        Some(Kind::Xml) => xml_kind(&text),
        Some(Kind::Html) if is_feed(&text) => {
            flags.insert(Flag::TypeMismatch);
            Kind::Feed
        }
        Some(kind) => kind,
    };
    Ok(Decoded {
        kind,
        text,
        charset,
        flags,
    })
}

/// Feeds are often served as pages.
fn is_feed(text: &str) -> bool {
    text.trim_start().starts_with("<?xml") && xml_kind(text) == Kind::Feed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], header: &str) -> String {
        decode(bytes, Some(header)).unwrap().text
    }

    #[test]
    fn charset_by_mark_header_document_and_guess() {
        assert_eq!(text(b"\xff\xfeh\0i\0", "text/plain; charset=utf-8"), "hi");
        assert_eq!(text(b"caf\xe9", "text/plain; charset=iso-8859-1"), "café");
        assert_eq!(
            text(b"<meta charset=koi8-r>\xee\xcf", "text/html"),
            "<meta charset=koi8-r>Но"
        );
        assert_eq!(text("naïve".as_bytes(), "text/plain"), "naïve");
        assert_eq!(
            text(
                b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>",
                "text/xml"
            ),
            "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>"
        );
    }

    #[test]
    fn wide_text_without_a_mark_is_read() {
        let wide: Vec<u8> = "<p>ignore this</p>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let decoded = decode(&wide, Some("text/html; charset=utf-8")).unwrap();
        assert_eq!(decoded.text, "<p>ignore this</p>");
        assert!(decoded.flags.contains(&Flag::CharsetMismatch));
    }

    #[test]
    fn tricks_do_not_make_markup() {
        let overlong = decode(b"\xc0\xbcscript\xc0\xbe", Some("text/html; charset=utf-8")).unwrap();
        assert!(!overlong.text.contains("<script"));
        assert!(overlong.flags.contains(&Flag::InvalidBytes));
        let seven = decode(b"+ADw-script+AD4-", Some("text/html; charset=utf-7")).unwrap();
        assert_eq!(seven.text, "+ADw-script+AD4-");
        assert!(seven.flags.contains(&Flag::Utf7));
        let nul = decode(b"<scr\0ipt>", Some("text/html")).unwrap();
        assert_eq!(nul.text, "<script>");
        assert!(nul.flags.contains(&Flag::NulBytes));
        let hz = decode(b"~{<:Ky2;S{#,~}", Some("text/html; charset=hz-gb-2312")).unwrap();
        assert_eq!(hz.text, "\u{fffd}");
    }

    #[test]
    fn refusals_name_their_cause() {
        assert_eq!(
            decode(b"\x89PNG\r\n\x1a\n", Some("text/html")),
            Err(ContentError::TypeMismatch { actual: "png" })
        );
        assert_eq!(
            decode(b"x", Some("image/png")),
            Err(ContentError::UnsupportedType)
        );
        assert_eq!(
            decode(b"x", Some("text/html; charset=ibm037")),
            Err(ContentError::UnsupportedCharset)
        );
        assert_eq!(
            decode(&[1, 2, 3, 4, 5, 6, 7, 8], None),
            Err(ContentError::Binary)
        );
    }
}
