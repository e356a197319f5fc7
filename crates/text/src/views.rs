//! The views of a text: its folded form and every hidden or encoded text found in it.

use crate::explore;
use crate::limits::Limits;
use crate::signals::Signal;
use crate::span::{Layer, Span};
use std::ops::Range;
use std::sync::Arc;

/// All that can be read in one input.
#[derive(Debug)]
pub struct Views {
    pub(crate) plain: View,
    pub(crate) others: Vec<View>,
    pub(crate) signals: Vec<Signal>,
    pub(crate) truncated: bool,
    pub(crate) work: usize,
}

impl Views {
    /// The views of `input` under the default limits.
    #[must_use]
    pub fn of(input: &str) -> Views {
        Views::with_limits(input, &Limits::default())
    }

    /// The views of `input` as far as `limits` allow.
    #[must_use]
    pub fn with_limits(input: &str, limits: &Limits) -> Views {
        explore::explore(input, limits)
    }

    /// The folded form of the whole input.
    #[must_use]
    pub fn plain(&self) -> &View {
        &self.plain
    }

    /// All views: the plain one first, then the others, shallow before deep.
    pub fn iter(&self) -> impl Iterator<Item = &View> {
        std::iter::once(&self.plain).chain(&self.others)
    }

    /// Traces of hiding in the input.
    #[must_use]
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Whether a limit left something undecoded.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Bytes looked at to make the views, a machine-independent measure of cost.
    #[doc(hidden)]
    #[must_use]
    pub fn work(&self) -> usize {
        self.work
    }
}

/// One folded text and where each of its bytes came from.
#[derive(Debug)]
pub struct View {
    pub(crate) kind: ViewKind,
    pub(crate) depth: u8,
    pub(crate) text: String,
    pub(crate) layer: Arc<Layer>,
}

impl View {
    /// How the text was found.
    #[must_use]
    pub fn kind(&self) -> ViewKind {
        self.kind
    }

    /// The folded text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many decodings lie between the original and this view; 0 for the plain view.
    #[must_use]
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// The smallest span of the original that produced `range` of the text. Any range is clamped.
    #[must_use]
    pub fn origin(&self, range: Range<usize>) -> Span {
        let start = self.text.floor_char_boundary(range.start);
        let end = self.text.ceil_char_boundary(range.end).max(start);
        self.layer.origin(start..end)
    }
}

/// How a view was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ViewKind {
    /// The fold of the whole input.
    Plain,
    /// Tag characters, variation-selector bytes or zero-width bits.
    Hidden,
    /// Leet, spaced-out, squashed and misspelt key words put right, with the text around them.
    Rewritten,
    /// Passages read backwards: as a whole, and word by word.
    Reversed,
    /// Passages under a Caesar shift or atbash.
    Shifted,
    /// Base64 and base64url.
    Base64,
    /// Base32.
    Base32,
    /// Hexadecimal digits, with or without separators.
    Hex,
    /// Octets of binary digits.
    Binary,
    /// Decimal character codes.
    AsciiCodes,
    /// Morse code.
    Morse,
    /// Percent-encoding.
    Percent,
    /// HTML entities.
    Entities,
    /// Backslash escapes.
    Escapes,
    /// Quoted-printable.
    QuotedPrintable,
}

impl ViewKind {
    /// The kind in kebab-case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ViewKind::Plain => "plain",
            ViewKind::Hidden => "hidden",
            ViewKind::Rewritten => "rewritten",
            ViewKind::Reversed => "reversed",
            ViewKind::Shifted => "shifted",
            ViewKind::Base64 => "base64",
            ViewKind::Base32 => "base32",
            ViewKind::Hex => "hex",
            ViewKind::Binary => "binary",
            ViewKind::AsciiCodes => "ascii-codes",
            ViewKind::Morse => "morse",
            ViewKind::Percent => "percent",
            ViewKind::Entities => "entities",
            ViewKind::Escapes => "escapes",
            ViewKind::QuotedPrintable => "quoted-printable",
        }
    }
}
