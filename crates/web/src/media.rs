//! Which content types are read at all. What a body really is, is judged later, from its bytes.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use thiserror::Error;

use crate::error::FetchError;

const DEFAULT: &[&str] = &[
    "text/*",
    "application/json",
    "application/xml",
    "application/xhtml+xml",
    "application/*+json",
    "application/*+xml",
    "application/csv",
    "application/markdown",
    "application/x-markdown",
    "application/ndjson",
    "application/x-ndjson",
    "application/jsonlines",
    "application/yaml",
    "application/x-yaml",
    "!text/javascript",
    "!text/ecmascript",
    "!text/x-javascript",
    "!text/jscript",
    "!text/livescript",
];

/// An allowlist of types such as `text/*`, `application/json`, `application/*+xml`; a leading `!` excludes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaTypes {
    allowed: Vec<Pattern>,
    excluded: Vec<Pattern>,
    /// Whether a response without a type is read.
    pub missing: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    kind: Box<str>,
    subtype: Subtype,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subtype {
    Any,
    Suffix(Box<str>),
    Exact(Box<str>),
}

/// An entry is not `type/subtype`, `type/*` or `type/*+suffix`, with an optional leading `!`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "content types are written type/subtype, type/* or type/*+suffix, with ! in front to exclude"
)]
pub struct BadMediaType;

impl Default for MediaTypes {
    fn default() -> Self {
        // Every entry above is valid; a test says so.
        Self::from_entries(DEFAULT.iter().copied()).unwrap_or(Self {
            allowed: vec![],
            excluded: vec![],
            missing: true,
        })
    }
}

impl MediaTypes {
    /// Reads entries; empty ones are skipped.
    ///
    /// # Errors
    /// When one is not a type.
    pub fn from_entries<'a>(
        entries: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, BadMediaType> {
        let mut types = Self {
            allowed: Vec::new(),
            excluded: Vec::new(),
            missing: true,
        };
        for entry in entries
            .into_iter()
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            match entry.strip_prefix('!') {
                Some(entry) => types.excluded.push(Pattern::parse(entry)?),
                None => types.allowed.push(Pattern::parse(entry)?),
            }
        }
        Ok(types)
    }

    /// The content type of a response as sent, if it is one that is read.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<Option<String>, FetchError> {
        let mut values = headers.get_all(CONTENT_TYPE).iter();
        let Some(value) = values.next() else {
            return if self.missing {
                Ok(None)
            } else {
                Err(FetchError::ContentType)
            };
        };
        if values.any(|other| other != value) {
            return Err(FetchError::ContentType);
        }
        let text = value.to_str().map_err(|_| FetchError::ContentType)?;
        if self.allows(text) {
            Ok(Some(text.to_owned()))
        } else {
            Err(FetchError::ContentType)
        }
    }

    /// Whether a `Content-Type` value, with or without parameters, is read.
    #[must_use]
    pub fn allows(&self, content_type: &str) -> bool {
        let essence = content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let Some((kind, subtype)) = essence.split_once('/') else {
            return false;
        };
        let held = |patterns: &[Pattern]| {
            patterns
                .iter()
                .any(|pattern| pattern.matches(kind, subtype))
        };
        is_token(kind) && is_token(subtype) && held(&self.allowed) && !held(&self.excluded)
    }
}

impl Pattern {
    fn parse(entry: &str) -> Result<Self, BadMediaType> {
        let entry = entry.to_ascii_lowercase();
        let (kind, subtype) = entry.split_once('/').ok_or(BadMediaType)?;
        let subtype = match subtype.strip_prefix('*') {
            Some("") => Subtype::Any,
            Some(suffix) if suffix.starts_with('+') && is_token(suffix) => {
                Subtype::Suffix(suffix.into())
            }
            None if is_token(subtype) => Subtype::Exact(subtype.into()),
            _ => return Err(BadMediaType),
        };
        if is_token(kind) {
            Ok(Self {
                kind: kind.into(),
                subtype,
            })
        } else {
            Err(BadMediaType)
        }
    }

    fn matches(&self, kind: &str, subtype: &str) -> bool {
        *self.kind == *kind
            && match &self.subtype {
                Subtype::Any => true,
                Subtype::Suffix(suffix) => subtype.ends_with(&**suffix),
                Subtype::Exact(exact) => **exact == *subtype,
            }
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-._".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_and_the_rest_is_not() {
        let types = MediaTypes::default();
        for read in [
            "text/html",
            "TEXT/HTML; charset=x",
            "text/html;;;=,\"",
            "application/ld+json",
            "application/atom+xml",
            "text/markdown",
            "application/json ; a=b",
        ] {
            assert!(types.allows(read), "{read}");
        }
        for refused in [
            "",
            "text",
            "text/",
            "image/png",
            "image/svg+xml",
            "application/pdf",
            "text/javascript",
            "application/octet-stream",
            "text/html, image/png",
            "multipart/x-mixed-replace",
            "application/javascript",
        ] {
            assert!(!types.allows(refused), "{refused}");
        }
    }

    #[test]
    fn the_defaults_are_valid_and_bad_entries_are_not() {
        assert_eq!(
            MediaTypes::from_entries(DEFAULT.iter().copied()),
            Ok(MediaTypes::default())
        );
        assert!(!MediaTypes::default().allowed.is_empty());
        for bad in ["text", "*/*", "text/*x", "te xt/a", "text/a;b"] {
            assert_eq!(MediaTypes::from_entries([bad]), Err(BadMediaType), "{bad}");
        }
    }
}
