//! The ASCII spelling of letters and punctuation in fancy dress that Unicode does not decompose itself.

/// How `c` is written in ASCII, for stroked, small-capital, phonetic and turned letters and for quotes and dashes.
pub(super) fn spelling(c: char) -> Option<&'static str> {
    Some(match c {
        '‘' | '’' | '‚' | '‛' | '′' | '‹' | '›' | 'ʼ' | 'ʻ' | 'ʹ' => "'",
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => "\"",
        '‐'..='―' | '−' | '﹘' | '﹣' => "-",
        '⁄' | '∕' => "/",
        'ß' => "ss",
        'ẞ' => "SS",
        'æ' | 'ᴁ' | 'ᴂ' => "ae",
        'Æ' => "AE",
        'œ' | 'ɶ' => "oe",
        'Œ' => "OE",
        'þ' => "th",
        'Þ' => "TH",
        'ɐ' | 'ɑ' | 'ɒ' | 'ᴀ' | 'ⱥ' => "a",
        'Ⱥ' | 'Ɐ' | 'Ɑ' => "A",
        'ƀ' | 'ɓ' | 'ʙ' | 'ᴃ' | 'ᵬ' | 'ᶀ' => "b",
        'Ƀ' | 'Ɓ' | 'Ƃ' => "B",
        'ƈ' | 'ɕ' | 'ȼ' | 'ᴄ' | 'ꞓ' | 'ↄ' => "c",
        'Ƈ' | 'Ȼ' | 'Ↄ' => "C",
        'đ' | 'ð' | 'ɖ' | 'ɗ' | 'ƌ' | 'ȡ' | 'ᴅ' | 'ᴆ' | 'ᵭ' | 'ᶁ' | 'ꝺ' => "d",
        'Đ' | 'Ð' | 'Ɖ' | 'Ɗ' | 'Ƌ' => "D",
        'ə' | 'ǝ' | 'ɘ' | 'ɛ' | 'ɜ' | 'ɝ' | 'ɞ' | 'ɚ' | 'ɇ' | 'ᴇ' | 'ⱸ' => "e",
        'Ə' | 'Ǝ' | 'Ɛ' | 'Ɇ' => "E",
        'ƒ' | 'ɟ' | 'ꜰ' | 'ᵮ' | 'ꞙ' => "f",
        'Ƒ' => "F",
        'ɡ' | 'ɢ' | 'ɠ' | 'ǥ' | 'ʛ' | 'ƃ' | 'ᵹ' | 'ꞡ' => "g",
        'Ǥ' | 'Ɠ' => "G",
        'ħ' | 'ɦ' | 'ɥ' | 'ʜ' | 'ɧ' | 'ⱨ' => "h",
        'Ħ' | 'Ⱨ' => "H",
        'ı' | 'ɨ' | 'ɩ' | 'ɪ' | 'ᴉ' | 'ᵻ' | 'ᵼ' | 'ꟾ' => "i",
        'İ' | 'Ɨ' | 'Ɩ' => "I",
        'ɉ' | 'ɾ' | 'ʝ' | 'ȷ' | 'ᴊ' => "j",
        'Ɉ' => "J",
        'ƙ' | 'ʞ' | 'ᴋ' | 'ĸ' | 'ⱪ' | 'ꝁ' => "k",
        'Ƙ' | 'Ⱪ' => "K",
        'ł' | 'ƚ' | 'ɫ' | 'ɬ' | 'ɭ' | 'ʟ' | 'ᴌ' | 'ȴ' | 'ⱡ' => "l",
        'Ł' | 'Ƚ' | 'Ɫ' | 'Ⱡ' => "L",
        'ɯ' | 'ɱ' | 'ᴍ' | 'ᵯ' => "m",
        'Ɯ' => "M",
        'ŋ' | 'ɲ' | 'ɳ' | 'ɴ' | 'ƞ' | 'ȵ' | 'ᴎ' | 'ᵰ' => "n",
        'Ŋ' | 'Ɲ' | 'Ƞ' => "N",
        'ø' | 'ɔ' | 'ɵ' | 'ɤ' | 'ᴏ' | 'ᴑ' | 'ⱺ' => "o",
        'Ø' | 'Ɔ' | 'Ɵ' => "O",
        'ƥ' | 'ᴘ' | 'ᵱ' | 'ᵽ' => "p",
        'Ƥ' | 'Ᵽ' => "P",
        'ɋ' | 'ʠ' | 'ꞯ' => "q",
        'Ɋ' => "Q",
        'ɹ' | 'ɺ' | 'ɻ' | 'ɼ' | 'ɽ' | 'ʀ' | 'ʁ' | 'ɍ' | 'ᴙ' | 'ᴚ' | 'ᵲ' => "r",
        'Ɍ' | 'Ɽ' => "R",
        'ʂ' | 'ȿ' | 'ꜱ' | 'ƨ' | 'ᵴ' => "s",
        'Ƨ' => "S",
        'ŧ' | 'ƫ' | 'ƭ' | 'ʇ' | 'ʈ' | 'ȶ' | 'ᴛ' | 'ⱦ' | 'ᵵ' => "t",
        'Ŧ' | 'Ƭ' | 'Ʈ' | 'Ⱦ' => "T",
        'ʉ' | 'ʊ' | 'ᴜ' | 'ᴝ' | 'ᵾ' => "u",
        'Ʉ' | 'Ʊ' => "U",
        'ʋ' | 'ʌ' | 'ᴠ' | 'ⱱ' | 'ⱴ' => "v",
        'Ʋ' | 'Ʌ' => "V",
        'ʍ' | 'ᴡ' | 'ⱳ' => "w",
        'Ⱳ' => "W",
        'ᶍ' => "x",
        'ƴ' | 'ʎ' | 'ʏ' | 'ɏ' | 'ỿ' => "y",
        'Ƴ' | 'Ɏ' | 'Ỿ' => "Y",
        'ƶ' | 'ȥ' | 'ʐ' | 'ʑ' | 'ɀ' | 'ᴢ' | 'ⱬ' | 'ᵶ' => "z",
        'Ƶ' | 'Ȥ' | 'Ⱬ' => "Z",
        _ => return None,
    })
}

/// The letter inside an enclosed or regional-indicator letter, in capitals where it is drawn so.
pub(super) fn enclosed(c: char) -> Option<char> {
    let (first, base) = match c {
        '\u{249c}'..='\u{24b5}' => ('\u{249c}', b'a'),
        '\u{1f110}'..='\u{1f129}' => ('\u{1f110}', b'A'),
        '\u{1f150}'..='\u{1f169}' => ('\u{1f150}', b'A'),
        '\u{1f170}'..='\u{1f189}' => ('\u{1f170}', b'A'),
        '\u{1f1e6}'..='\u{1f1ff}' => ('\u{1f1e6}', b'A'),
        _ => return None,
    };
    let offset = u8::try_from(u32::from(c) - u32::from(first)).ok()?;
    Some(char::from(base + offset))
}

/// Letters that are Latin but drawn in a style nobody writes prose in.
pub(super) fn is_styled(c: char) -> bool {
    matches!(c,
        '\u{249c}'..='\u{24e9}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f110}'..='\u{1f189}' | '\u{1f1e6}'..='\u{1f1ff}'
        | '\u{1d00}'..='\u{1d22}' | '\u{1d2c}'..='\u{1d6a}' | '\u{2090}'..='\u{209c}' | 'ʙ' | 'ɢ' | 'ʜ' | 'ɪ' | 'ʟ' | 'ɴ' | 'ʀ' | 'ʏ' | 'ꜰ' | 'ꜱ')
        || is_full_width(c)
}

/// Full-width letters: a style in Latin text, ordinary next to Han, kana and Hangul.
pub(super) fn is_full_width(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosed_letters_run_through_the_alphabet() {
        assert_eq!(enclosed('⒜'), Some('a'));
        assert_eq!(enclosed('⒵'), Some('z'));
        assert_eq!(enclosed('🅐'), Some('A'));
        assert_eq!(enclosed('🆉'), Some('Z'));
        assert_eq!(enclosed('🇿'), Some('Z'));
        assert_eq!(enclosed('🎉'), None);
    }

    #[test]
    fn every_spelling_is_ascii() {
        for c in (0..0x2fff).filter_map(char::from_u32) {
            assert!(spelling(c).is_none_or(str::is_ascii), "{c:?}");
            assert!(!c.is_ascii() || spelling(c).is_none(), "{c:?}");
        }
    }
}
