//! What a document is: by its declared type, checked against its first bytes.

use mediatype::MediaType;

use crate::ContentError;

/// Formats that are read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// HTML.
    Html,
    /// HTML in XML's clothes.
    Xhtml,
    /// XML of no known vocabulary.
    Xml,
    /// RSS, Atom or RDF.
    Feed,
    /// JSON, or JSON lines.
    Json,
    /// Markdown.
    Markdown,
    /// Values separated by commas or tabs.
    Csv,
    /// Anything else that is text.
    Text,
}

impl Kind {
    /// The name used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xhtml => "xhtml",
            Self::Xml => "xml",
            Self::Feed => "feed",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Text => "text",
        }
    }
}

/// What a `Content-Type` header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    /// `None` if the header is absent, unreadable or says nothing (`application/octet-stream`).
    pub(crate) kind: Option<Kind>,
    pub(crate) charset: Option<String>,
}

/// Reads the header; a type that no agent reads as text is refused.
pub(crate) fn declared(header: Option<&str>) -> Result<Declared, ContentError> {
    let nothing = Declared {
        kind: None,
        charset: None,
    };
    let Some(header) = header.map(str::trim).filter(|header| !header.is_empty()) else {
        return Ok(nothing);
    };
    let essence = header
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let charset = charset_parameter(header);
    let kind = match essence.as_str() {
        "text/html" => Kind::Html,
        "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Kind::Xhtml,
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => Kind::Feed,
        "text/xml" | "application/xml" => Kind::Xml,
        "application/json"
        | "text/json"
        | "application/ld+json"
        | "application/ndjson"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/jsonlines"
        | "application/json-seq" => Kind::Json,
        "text/markdown" | "text/x-markdown" => Kind::Markdown,
        "text/csv" | "text/tab-separated-values" | "application/csv" => Kind::Csv,
        "application/javascript"
        | "application/x-javascript"
        | "application/x-sh"
        | "application/toml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/sql"
        | "application/graphql" => Kind::Text,
        "application/octet-stream" | "application/unknown" | "unknown/unknown" | "*/*" => {
            return Ok(Declared {
                kind: None,
                charset,
            });
        }
        essence => match MediaType::parse(essence) {
            Ok(parsed) if parsed.suffix.is_some_and(|suffix| suffix == "json") => Kind::Json,
            Ok(parsed) if parsed.ty == "image" => return Err(ContentError::UnsupportedType),
            Ok(parsed) if parsed.suffix.is_some_and(|suffix| suffix == "xml") => Kind::Xml,
            Ok(parsed) if parsed.ty == "text" => Kind::Text,
            Ok(_) => return Err(ContentError::UnsupportedType),
            Err(_) => {
                return Ok(Declared {
                    kind: None,
                    charset,
                });
            }
        },
    };
    Ok(Declared {
        kind: Some(kind),
        charset,
    })
}

fn charset_parameter(header: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty())
            .then(|| value.to_ascii_lowercase())
    })
}

/// Refuses bytes that are those of a picture, an archive, a program: whatever the header says.
pub(crate) fn refuse_binary(bytes: &[u8]) -> Result<(), ContentError> {
    const OWN: &[(&[u8], &str)] = &[
        (b"\x89PNG", "png"),
        (b"GIF8", "gif"),
        (b"\xff\xd8\xff", "jpeg"),
        (b"%PDF-", "pdf"),
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"\x7fELF", "elf"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"Rar!\x1a", "rar"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"BZh", "bzip2"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x00asm", "wasm"),
        (b"\xca\xfe\xba\xbe", "class"),
        (b"\xd0\xcf\x11\xe0", "ole"),
        (b"OggS", "ogg"),
        (b"fLaC", "flac"),
        (b"ID3", "mp3"),
        (b"\x1aE\xdf\xa3", "matroska"),
        (b"wOFF", "woff"),
        (b"wOF2", "woff2"),
        (b"SQLite format 3\0", "sqlite"),
        (b"\xcf\xfa\xed\xfe", "macho"),
        (b"\0\0\x01\0", "ico"),
    ];
    let body = bytes.trim_ascii_start();
    for (magic, actual) in OWN {
        if bytes.starts_with(magic) || (magic.len() > 3 && body.starts_with(magic)) {
            return Err(ContentError::TypeMismatch { actual });
        }
    }
    let in_text = bytes
        .get(..1024)
        .unwrap_or(bytes)
        .windows(5)
        .any(|window| window == b"%PDF-");
    if in_text && !body.starts_with(b"<") {
        return Err(ContentError::TypeMismatch { actual: "pdf" });
    }
    match infer::get(bytes) {
        Some(found)
            if found.matcher_type() != infer::MatcherType::Text && !looks_like_text(bytes) =>
        {
            Err(ContentError::TypeMismatch {
                actual: found.extension(),
            })
        }
        _ => Ok(()),
    }
}

/// Whether the beginning is printable: some formats are recognised by two letters.
fn looks_like_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..512).unwrap_or(bytes);
    !head
        .iter()
        .any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127))
}

/// Whether decoded bytes have more control characters than any text.
pub(crate) fn mostly_controls(bytes: &[u8]) -> bool {
    let head = bytes.get(..4096).unwrap_or(bytes);
    // In pieces whose count fits a byte, so that many are compared at once.
    let count = |piece: &[u8]| {
        let control = |byte: &u8| u8::from(matches!(byte, 1..=8 | 14..=26 | 28..=31));
        usize::from(piece.iter().map(control).sum::<u8>())
    };
    let controls: usize = head.chunks(128).map(count).sum();
    controls * 20 > head.len() && controls > 4
}

/// What a text is, judged by its beginning.
pub(crate) fn sniff(text: &str) -> Kind {
    let head = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    let start: String = head
        .chars()
        .take(512)
        .collect::<String>()
        .to_ascii_lowercase();
    if start.starts_with("<?xml")
        || start.starts_with("<rss")
        || start.starts_with("<feed")
        || start.starts_with("<rdf")
    {
        return if start.contains("<html") {
            Kind::Xhtml
        } else {
            xml_kind(head)
        };
    }
    const TAGS: &[&str] = &[
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a ",
        "<a>",
        "<style",
        "<title",
        "<b>",
        "<br",
        "<p>",
        "<p ",
        "<!--",
        "<meta",
        "<span",
        "<ul",
        "<article",
        "<section",
        "<main",
        "<img",
        "<form",
        "<link",
        "<center",
        "<h2",
        "<h3",
        "<svg",
        "<template",
        "<noscript",
    ];
    if TAGS.iter().any(|tag| start.starts_with(tag)) {
        return Kind::Html;
    }
    if start.starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text.trim()).is_ok()
    {
        return Kind::Json;
    }
    Kind::Text
}

/// A feed, a page, or XML of another kind, by its first element.
pub(crate) fn xml_kind(text: &str) -> Kind {
    let mut rest = text;
    for _ in 0..64 {
        let Some(at) = rest.find('<') else {
            return Kind::Xml;
        };
        let tag = rest.get(at + 1..).unwrap_or_default();
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            continue;
        }
        if tag.starts_with(['?', '!']) {
            rest = tag.split_once('>').map_or("", |(_, rest)| rest);
            continue;
        }
        let name: String = tag
            .chars()
            .take_while(|c| !c.is_whitespace() && !matches!(c, '>' | '/'))
            .collect();
        let name = name
            .rsplit(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        return match name.as_str() {
            "rss" | "feed" | "rdf" => Kind::Feed,
            "html" => Kind::Xhtml,
            _ => Kind::Xml,
        };
    }
    Kind::Xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_refused_under_any_name() {
        for bytes in [
            &b"\x89PNG\r\n\x1a\n\0\0"[..],
            b"%PDF-1.4 fake",
            b"PK\x03\x04\0\0",
            b"\x7fELF\x02\x01",
            b"GIF89a<script>",
        ] {
            assert!(matches!(
                refuse_binary(bytes),
                Err(ContentError::TypeMismatch { .. })
            ));
        }
        assert_eq!(refuse_binary(b"<!doctype html><p>BMW and MZ</p>"), Ok(()));
        assert_eq!(
            refuse_binary(b"BM is a prefix of bitmaps and of words"),
            Ok(())
        );
    }

    #[test]
    fn types_are_read_from_headers() {
        let kind = |header| declared(Some(header)).map(|declared| declared.kind);
        assert_eq!(kind("Text/HTML; Charset=\"UTF-8\""), Ok(Some(Kind::Html)));
        assert_eq!(kind("application/vnd.api+json"), Ok(Some(Kind::Json)));
        assert_eq!(kind("image/svg+xml"), Err(ContentError::UnsupportedType));
        assert_eq!(kind("application/pdf"), Err(ContentError::UnsupportedType));
        assert_eq!(kind("nonsense"), Ok(None));
    }

    #[test]
    fn texts_are_recognised() {
        assert_eq!(sniff("\n <!DOCTYPE HTML><p>"), Kind::Html);
        assert_eq!(sniff("{\"a\":1}"), Kind::Json);
        assert_eq!(sniff("{not json"), Kind::Text);
        assert_eq!(sniff("<?xml version='1.0'?><!-- x --><rss>"), Kind::Feed);
        assert_eq!(sniff("<?xml version='1.0'?><note/>"), Kind::Xml);
    }
}
