//! Traces of hiding that a reader would never see, counted only where the writing system does not explain them.

use crate::fold::invisible::Invisible;
use crate::span::Span;
use unicode_properties::UnicodeEmoji;

/// A kind of trace, where it first stands in the original, and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// What was seen.
    pub kind: SignalKind,
    /// Its first occurrence.
    pub first: Span,
    /// How many there are: characters, or words for `MixedScript`.
    pub count: usize,
}

/// What kind of trace a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SignalKind {
    /// Zero-width characters, joiners and soft hyphens that no script or emoji calls for.
    ZeroWidth,
    /// Direction marks, overrides and isolates without right-to-left text, or left open.
    Bidi,
    /// Tag characters outside flags.
    Tags,
    /// Variation selectors on characters that have no variants, or several in a row.
    VariationSelectors,
    /// Words of Latin letters mixed with look-alikes of another script.
    MixedScript,
    /// Words spelt in mathematical, enclosed, full-width or small-capital letters.
    Styled,
    /// Three or more accents piled on one letter.
    StackedMarks,
    /// Private-use characters, which mean whatever a font says.
    PrivateUse,
    /// Control characters other than white space.
    Control,
}

impl SignalKind {
    /// All kinds, in the order in which signals are reported.
    pub const ALL: [SignalKind; 9] = [
        SignalKind::ZeroWidth,
        SignalKind::Bidi,
        SignalKind::Tags,
        SignalKind::VariationSelectors,
        SignalKind::MixedScript,
        SignalKind::Styled,
        SignalKind::StackedMarks,
        SignalKind::PrivateUse,
        SignalKind::Control,
    ];

    /// The kind in kebab-case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SignalKind::ZeroWidth => "zero-width",
            SignalKind::Bidi => "bidi",
            SignalKind::Tags => "tags",
            SignalKind::VariationSelectors => "variation-selectors",
            SignalKind::MixedScript => "mixed-script",
            SignalKind::Styled => "styled",
            SignalKind::StackedMarks => "stacked-marks",
            SignalKind::PrivateUse => "private-use",
            SignalKind::Control => "control",
        }
    }
}

/// The emoji that region tags follow.
pub(crate) const BLACK_FLAG: char = '\u{1f3f4}';
/// The longest region name and the tag that ends it.
pub(crate) const MAX_FLAG_TAGS: usize = 7;

/// Collects signals while a text is cleaned.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    tallies: [Option<(Span, usize)>; SignalKind::ALL.len()],
    bidi_marks: Option<(Span, usize)>,
    bidi_controls: Option<(Span, usize)>,
    bidi_depth: usize,
    bidi_unbalanced: bool,
    full_width: Option<(Span, usize)>,
    flag_tags: usize,
    /// Letters written from right to left were seen.
    pub(crate) right_to_left: bool,
    /// Han, kana or Hangul was seen.
    pub(crate) east_asian: bool,
    /// Invisible characters that can carry a message of their own.
    pub(crate) carriers: usize,
}

/// An invisible character and the visible ones around it.
pub(crate) struct Unseen {
    pub(crate) c: char,
    pub(crate) kind: Invisible,
    pub(crate) span: Span,
    pub(crate) before: Option<char>,
    pub(crate) after: Option<char>,
}

impl Watch {
    pub(crate) fn note(&mut self, kind: SignalKind, span: Span, count: usize) {
        if let Some(slot) = self.tallies.get_mut(kind as usize) {
            add(slot, span, count);
        }
    }

    pub(crate) fn unseen(&mut self, unseen: &Unseen) {
        match unseen.kind {
            Invisible::SoftHyphen | Invisible::Filler => {}
            Invisible::ZeroWidth | Invisible::Joiner => {
                self.carriers += 1;
                if !explained_zero_width(unseen) {
                    self.note(SignalKind::ZeroWidth, unseen.span, 1);
                }
            }
            Invisible::BidiMark => {
                self.carriers += 1;
                add(&mut self.bidi_marks, unseen.span, 1);
            }
            Invisible::BidiControl => self.bidi_control(unseen),
            Invisible::Tag => {
                self.carriers += 1;
                if !self.flag_tag(unseen) {
                    self.note(SignalKind::Tags, unseen.span, 1);
                }
            }
            Invisible::Variation => {
                self.carriers += 1;
                if !explained_variation(unseen) {
                    self.note(SignalKind::VariationSelectors, unseen.span, 1);
                }
            }
        }
    }

    /// A few tags after a black flag name a region, as in the flag of Scotland.
    fn flag_tag(&mut self, unseen: &Unseen) -> bool {
        let in_flag = unseen.before == Some(BLACK_FLAG) && self.flag_tags < MAX_FLAG_TAGS;
        self.flag_tags = if unseen.c == '\u{e007f}' {
            0
        } else {
            self.flag_tags + 1
        };
        in_flag
    }

    fn bidi_control(&mut self, unseen: &Unseen) {
        add(&mut self.bidi_controls, unseen.span, 1);
        match unseen.c {
            '\u{202c}' | '\u{2069}' if self.bidi_depth == 0 => self.bidi_unbalanced = true,
            '\u{202c}' | '\u{2069}' => self.bidi_depth -= 1,
            _ => self.bidi_depth += 1,
        }
    }

    /// A word of `letters` letters had `hyphens` soft hyphens in it.
    pub(crate) fn hyphenated(
        &mut self,
        span: Span,
        letters: usize,
        hyphens: usize,
        is_key_word: bool,
    ) {
        let every_letter_or_two = letters * 2 < (hyphens + 1) * 5;
        if is_key_word || every_letter_or_two {
            self.note(SignalKind::ZeroWidth, span, hyphens);
        }
    }

    /// A word had `letters` letters in a decorative style.
    pub(crate) fn styled(&mut self, span: Span, letters: usize, full_width: bool) {
        if full_width {
            add(&mut self.full_width, span, letters);
        } else {
            self.note(SignalKind::Styled, span, letters);
        }
    }

    /// The signals of the whole text, once all of it has been seen.
    pub(crate) fn finish(mut self, input: &str) -> Vec<Signal> {
        self.controls(input);
        if let Some((span, count)) = self.bidi_marks.filter(|_| !self.right_to_left) {
            self.note(SignalKind::Bidi, span, count);
        }
        let open = self.bidi_depth > 0 || self.bidi_unbalanced;
        if let Some((span, count)) = self.bidi_controls.filter(|_| open || !self.right_to_left) {
            self.note(SignalKind::Bidi, span, count);
        }
        if let Some((span, count)) = self.full_width.filter(|_| !self.east_asian) {
            self.note(SignalKind::Styled, span, count);
        }
        let tallied = SignalKind::ALL.into_iter().zip(self.tallies);
        tallied
            .filter_map(|(kind, tally)| tally.map(|(first, count)| Signal { kind, first, count }))
            .collect()
    }

    #[expect(
        clippy::needless_bitwise_bool,
        reason = "a branch per byte would undo the speed of judging them together"
    )]
    fn controls(&mut self, input: &str) {
        let is_control =
            |byte: u8| (byte == 0x7f) | (byte < 0x09) | ((byte > 0x0d) & (byte < 0x20));
        // Looking at whole chunks without a branch is many times faster, and there is almost never anything.
        let is_clean = |chunk: &[u8]| {
            !chunk
                .iter()
                .fold(false, |any, byte| any | is_control(*byte))
        };
        if input.as_bytes().chunks(1 << 10).all(is_clean) {
            return;
        }
        for (at, _) in input
            .bytes()
            .enumerate()
            .filter(|(_, byte)| is_control(*byte))
        {
            self.note(
                SignalKind::Control,
                Span {
                    start: at,
                    end: at + 1,
                },
                1,
            );
        }
    }
}

fn add(slot: &mut Option<(Span, usize)>, span: Span, count: usize) {
    let (first, before) = slot.get_or_insert((span, 0));
    *first = (*first).min(span);
    *before += count;
}

fn explained_zero_width(unseen: &Unseen) -> bool {
    if unseen.c == '\u{feff}' && unseen.span.start == 0 {
        return true;
    }
    let Some(before) = unseen.before else {
        return false;
    };
    if unseen.kind == Invisible::Joiner {
        let shapes_letters = needs_joiners(before)
            && !unseen
                .after
                .is_some_and(|after| after.is_ascii_alphabetic());
        return shapes_letters
            || (is_pictograph(before) && unseen.after.is_some_and(is_pictograph));
    }
    // Zero-width spaces mark where lines may break in scripts that write no spaces.
    unseen.c == '\u{200b}'
        && (writes_no_spaces(before) || unseen.after.is_some_and(writes_no_spaces))
}

fn explained_variation(unseen: &Unseen) -> bool {
    let doubled = unseen.after.is_some_and(|after| {
        crate::fold::invisible::invisible(after) == Some(Invisible::Variation)
    });
    let Some(base) = unseen.before.filter(|_| !doubled) else {
        return false;
    };
    match unseen.c {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(base) || (!base.is_alphabetic() && !base.is_whitespace())
        }
        '\u{180b}'..='\u{180f}' => ('\u{1800}'..='\u{18af}').contains(&base),
        '\u{fe00}'..='\u{fe02}' => !base.is_ascii(),
        _ => ('\u{3400}'..='\u{9fff}').contains(&base) || base >= '\u{20000}',
    }
}

/// Arabic, Syriac, Indic, Tibetan, Myanmar, Khmer, Mongolian: letters change shape with a joiner beside them.
fn needs_joiners(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{a800}'..='\u{abff}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}

fn writes_no_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3000}'..='\u{9fff}')
}

fn is_pictograph(c: char) -> bool {
    !c.is_ascii() && c.is_emoji_char()
}

#[cfg(test)]
mod tests {
    use crate::{SignalKind, Views};

    fn kinds(input: &str) -> Vec<SignalKind> {
        Views::of(input)
            .signals()
            .iter()
            .map(|signal| signal.kind)
            .collect()
    }

    #[test]
    fn ordinary_writing_raises_no_signal() {
        for text in [
            "\u{feff}A file with a byte order mark",
            "می\u{200c}خواهم کتاب\u{200c}ها را بخوانم",
            "क्\u{200d}ष and र्\u{200d}",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "Donau\u{ad}dampf\u{ad}schiff\u{ad}fahrt",
            "שלום\u{200f} (hello)\u{200e} \u{2067}עולם\u{2069}",
            "ภาษา\u{200b}ไทย",
            "日本のＮＨＫとＮＡＳＡ",
            "葛\u{e0100}城 ℹ\u{fe0f}",
            "sinα, ρgh, QΔNL and 5 μm",
            "Tiếng Việt có dấu, crème brûlée, Ελληνικά, русский текст, SMSки",
            "tabs\tand\r\nlines",
            "🇩🇪 🇫🇷 🇺🇦",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn hiding_raises_one() {
        for (text, kind) in [
            ("ig\u{200b}nore", SignalKind::ZeroWidth),
            ("ig\u{200d}nore", SignalKind::ZeroWidth),
            ("text\u{feff} here", SignalKind::ZeroWidth),
            (
                "i\u{ad}g\u{ad}n\u{ad}o\u{ad}r\u{ad}e",
                SignalKind::ZeroWidth,
            ),
            ("instruc\u{ad}tions", SignalKind::ZeroWidth),
            ("abc\u{202e}fed", SignalKind::Bidi),
            ("\u{2067}no right to left\u{2069}", SignalKind::Bidi),
            ("שלום \u{202e}עולם", SignalKind::Bidi),
            ("a\u{e0069}\u{e0067}", SignalKind::Tags),
            ("a\u{fe0f}", SignalKind::VariationSelectors),
            ("😀\u{e0158}\u{e0159}", SignalKind::VariationSelectors),
            ("ignоre", SignalKind::MixedScript),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", SignalKind::Styled),
            ("ｉｇｎｏｒｅ", SignalKind::Styled),
            ("ⓘⓖⓝⓞⓡⓔ", SignalKind::Styled),
            ("ɪɢɴᴏʀᴇ", SignalKind::Styled),
            (
                "i\u{300}\u{301}\u{302}\u{303}gnore",
                SignalKind::StackedMarks,
            ),
            ("icon \u{e123}", SignalKind::PrivateUse),
            ("nul\0byte", SignalKind::Control),
        ] {
            assert_eq!(kinds(text), [kind], "{text:?}");
        }
    }

    #[test]
    fn a_signal_knows_its_first_place_and_count() {
        let views = Views::of("a\u{200b}b\u{200b}c");
        let signal = views.signals().first().unwrap();
        assert_eq!(
            (signal.first.start, signal.first.end, signal.count),
            (1, 4, 2)
        );
    }
}
