//! Why a message is not read. Nothing here repeats a byte of it.

use thiserror::Error;

/// A head that has no one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeadError {
    /// Not HTTP at all.
    #[error("this is not HTTP")]
    NotHttp,
    /// Not `METHOD target HTTP/1.x` or `HTTP/1.x code reason`.
    #[error("the first line is malformed")]
    Line,
    /// A method that no client sends.
    #[error("the method is malformed")]
    Method,
    /// A request target in none of the known forms.
    #[error("the request target is malformed")]
    Target,
    /// Neither HTTP/1.0 nor HTTP/1.1.
    #[error("only HTTP/1.0 and HTTP/1.1 are spoken here")]
    Version,
    /// A status that is no three-digit number.
    #[error("the status is malformed")]
    Status,
    /// More than is read.
    #[error("the {0} is too long")]
    TooLong(&'static str),
    /// More headers than are read.
    #[error("there are too many headers")]
    TooMany,
    /// A header's name holds what no name may.
    #[error("a header name is malformed")]
    Name,
    /// A header's value holds control characters.
    #[error("a header value holds control characters")]
    Value,
    /// A header that goes on in the next line.
    #[error("a header is folded over several lines")]
    Fold,
    /// A line that ends with LF alone, or a CR within one.
    #[error("a line does not end with CR LF")]
    LineEnd,
    /// A header that may come once comes twice.
    #[error("the header {0} comes twice")]
    Twice(&'static str),
    /// A name that others might take for one that frames the message.
    #[error("a header name is easily taken for another")]
    LookAlike,
    /// No plain number, or several.
    #[error("Content-Length is malformed")]
    Length,
    /// Not ending in one `chunked`.
    #[error("Transfer-Encoding is malformed")]
    Encoding,
    /// Both lengths at once.
    #[error("Content-Length and Transfer-Encoding are both there")]
    TwoLengths,
}

/// A chunked body that has no one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChunkError {
    /// Not a hexadecimal number that ends in CR LF.
    #[error("a chunk's size is malformed")]
    Size,
    /// More than a short note beside the size, or a malformed one.
    #[error("a chunk's extension is malformed")]
    Extension,
    /// A chunk is longer or shorter than announced.
    #[error("a chunk does not end where it should")]
    End,
    /// A trailer that is no header, or one that must not come last.
    #[error("a trailer is malformed or not allowed")]
    Trailer,
}
