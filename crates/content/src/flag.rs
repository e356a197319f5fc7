//! What was noticed, removed or changed on the way from bytes to text.

use std::fmt;

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// One remark about a document. Flags say what was done; they are not a verdict.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Flag { $($(#[$doc])* $name,)* }

        impl Flag {
            /// The stable name used on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

flags! {
    /// Style sheets or inline style made text invisible.
    HiddenCss => "hidden_css",
    /// `hidden`, `aria-hidden`, `inert` and presentational attributes made text invisible.
    HiddenAttribute => "hidden_attribute",
    /// Comments with text in them.
    Comment => "comment",
    /// `<template>`, `<noscript>`, `<datalist>`, a closed `<dialog>` and other elements that are not rendered.
    HiddenElement => "hidden_element",
    /// Fallback text in `<iframe>`, `<object>`, `<canvas>`, `<video>`.
    FallbackContent => "fallback_content",
    /// Descriptions in `<meta>` elements.
    Metadata => "metadata",
    /// Text in parts of SVG or MathML that are not drawn.
    HiddenForeign => "hidden_foreign",
    /// Characters that take no space were removed.
    InvisibleCharacters => "invisible_characters",
    /// Characters that reorder text were removed.
    BidiControl => "bidi_control",
    /// NUL bytes were removed.
    NulBytes => "nul_bytes",
    /// The body claims or resembles UTF-7; it was not decoded as such.
    Utf7 => "utf7",
    /// Bytes that the charset does not allow were replaced.
    InvalidBytes => "invalid_bytes",
    /// The declared charset and the bytes disagree.
    CharsetMismatch => "charset_mismatch",
    /// The declared charset is one that the web replaces as a whole.
    ReplacementCharset => "replacement_charset",
    /// The declared type and the bytes disagree, both being text.
    TypeMismatch => "type_mismatch",
    /// A link with a scheme that runs code, or carries a document, was made plain text.
    UnsafeLink => "unsafe_link",
    /// User name or password were removed from a link.
    LinkCredentials => "link_credentials",
    /// Elements nested beyond the limit were flattened.
    DepthLimit => "depth_limit",
    /// The document has more nodes than are read; the rest was dropped.
    NodeLimit => "node_limit",
    /// Style sheets were larger or more complex than are evaluated.
    StyleLimit => "style_limit",
    /// More text was hidden than is kept for inspection.
    HiddenLimit => "hidden_limit",
    /// A document type definition was ignored.
    DoctypeIgnored => "doctype_ignored",
    /// Only the main part of the page was kept.
    MainContent => "main_content",
    /// The content was cut at the requested length.
    Truncated => "truncated",
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
