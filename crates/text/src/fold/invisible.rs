//! Characters that print nothing, and combining marks that only decorate.

/// Why a character is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invisible {
    /// Zero-width spaces, word joiners, byte order marks and other default-ignorable characters.
    ZeroWidth,
    /// The zero-width joiner and non-joiner, which several scripts and emoji need.
    Joiner,
    SoftHyphen,
    /// Left-to-right, right-to-left and Arabic letter marks.
    BidiMark,
    /// Embeddings, overrides and isolates with their terminators.
    BidiControl,
    Tag,
    Variation,
    /// Hangul and Khmer fillers.
    Filler,
}

/// What kind of invisible character `c` is, if it is one.
pub(crate) fn invisible(c: char) -> Option<Invisible> {
    if c < '\u{ad}' || ('\u{3165}'..'\u{fe00}').contains(&c) {
        return None;
    }
    Some(match c {
        '\u{ad}' => Invisible::SoftHyphen,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => Invisible::BidiMark,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => {
            Invisible::Filler
        }
        '\u{180b}'..='\u{180d}'
        | '\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Invisible::Variation,
        '\u{200c}' | '\u{200d}' => Invisible::Joiner,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Invisible::BidiControl,
        '\u{e0000}'..='\u{e007f}' => Invisible::Tag,
        '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e0fff}' => Invisible::ZeroWidth,
        _ => return None,
    })
}

/// Accents and other marks that say nothing about which letter is meant: general diacritics, Arabic tashkeel and
/// Hebrew points. Vowel signs of the Indic scripts are letters in all but name and are not among them.
pub(crate) fn is_decoration(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{8d3}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}' | '\u{fb1e}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_characters_are_not_invisible() {
        for c in "aé я字한가नि🇩👍🏽 \u{a0}\n".chars() {
            assert_eq!(invisible(c), None, "{c:?}");
        }
    }

    #[test]
    fn vowel_signs_are_not_decoration() {
        for c in "\u{93f}\u{94d}\u{e31}\u{3099}\u{9be}".chars() {
            assert!(!is_decoration(c), "{c:?}");
        }
        for c in "\u{301}\u{64e}\u{5b8}\u{20dd}".chars() {
            assert!(is_decoration(c), "{c:?}");
        }
    }
}
