//! Why a body was not turned into text.

/// A body that this crate refuses to read. Every variant is the origin's fault; none carries a byte of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentError {
    /// The declared type is not one that an agent reads as text.
    #[error("this kind of document is not readable as text")]
    UnsupportedType,
    /// The bytes are those of another format than the one declared.
    #[error("the body is {actual}, whatever its declared type says")]
    TypeMismatch {
        /// What the bytes are, such as `png`.
        actual: &'static str,
    },
    /// The bytes are not text in any encoding of the web.
    #[error("the body is binary")]
    Binary,
    /// The declared charset is none of the web's.
    #[error("the declared charset is not supported")]
    UnsupportedCharset,
    /// The body is larger than this crate reads.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The most that is read.
        limit: usize,
    },
    /// The document says it is JSON or XML and is not.
    #[error("the body is not well-formed {format}")]
    Malformed {
        /// The declared format.
        format: &'static str,
    },
    /// The document nests deeper than is read.
    #[error("the body nests too deeply")]
    TooDeep,
}
