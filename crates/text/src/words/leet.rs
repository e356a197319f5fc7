//! Key words written with digits and symbols for letters.

use super::lexicon::{Entry, LEXICON, MAX_WORD};

/// Digits and symbols that stand for letters, and the letters they stand for.
const STAND_INS: [(u8, &[u8]); 17] = [
    (b'0', b"o"),
    (b'1', b"il"),
    (b'2', b"z"),
    (b'3', b"e"),
    (b'4', b"a"),
    (b'5', b"s"),
    (b'6', b"gb"),
    (b'7', b"t"),
    (b'8', b"b"),
    (b'9', b"g"),
    (b'@', b"a"),
    (b'$', b"s"),
    (b'!', b"il"),
    (b'|', b"il"),
    (b'+', b"t"),
    (b'(', b"c"),
    (b'#', b"h"),
];

/// One letter for all that a byte may stand for or be mistaken for.
pub(super) fn canonical(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' | b'!' | b'|' | b'l' => b'i',
        b'2' => b'z',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'6' | b'8' | b'9' | b'b' => b'g',
        b'7' | b'+' => b't',
        b'(' => b'c',
        b'#' => b'h',
        other => other,
    }
}

/// Whether a byte beside a word makes it worth a closer look. Brackets and hashes abound in code and do not.
pub(super) const fn is_stand_in(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'@' | b'$' | b'!' | b'|' | b'+')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_lowercase() || is_stand_in(byte) || matches!(byte, b'(' | b'#')
}

/// The bytes around `at` that may be one disguised word.
pub(super) fn token(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let before = text
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(MAX_WORD + 1)
        .take_while(|byte| is_token(**byte))
        .count();
    let after = text
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(2 * MAX_WORD)
        .take_while(|byte| is_token(**byte))
        .count();
    at - before..at + after
}

/// The word that `token` spells, and how much punctuation at its end is not part of it.
pub(super) fn read(token: &[u8]) -> Option<(Entry, usize)> {
    let punctuation = token
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'!' | b'(' | b'|' | b'+'))
        .count();
    (0..=punctuation).find_map(|dropped| {
        let token = token.get(..token.len() - dropped)?;
        let disguised = token.iter().any(|byte| !byte.is_ascii_lowercase());
        let plausible = (3..=MAX_WORD).contains(&token.len()) && disguised && !is_numbered(token);
        let mut entries = plausible.then(|| LEXICON.leet(token)).into_iter().flatten();
        entries
            .find(|entry| spells(token, entry.text.as_bytes()))
            .map(|entry| (entry, dropped))
    })
}

/// `key5` is the fifth key, not several.
fn is_numbered(token: &[u8]) -> bool {
    let letters = token
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    letters >= 3 && token.iter().skip(letters).all(u8::is_ascii_digit)
}

fn spells(token: &[u8], word: &[u8]) -> bool {
    let stands_for = |byte: u8, letter: u8| {
        byte == letter
            || STAND_INS
                .iter()
                .any(|(symbol, letters)| *symbol == byte && letters.contains(&letter))
    };
    token.len() == word.len()
        && token
            .iter()
            .zip(word)
            .all(|(byte, letter)| stands_for(*byte, *letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(token: &str) -> Option<&'static str> {
        read(token.as_bytes()).map(|(entry, _)| entry.text)
    }

    #[test]
    fn digits_and_symbols_are_read_as_letters() {
        for (token, word) in [
            ("1gn0r3", "ignore"),
            ("pr3v10us", "previous"),
            ("@ll", "all"),
            ("a11", "all"),
            ("$y$t3m", "system"),
            ("!gnore", "ignore"),
            ("ins7ruct10ns", "instructions"),
            ("ru1es", "rules"),
            ("p4$$w0rd!", "password"),
            ("fi1e5", "files"),
            ("6ypa55", "bypass"),
        ] {
            assert_eq!(reads(token), Some(word), "{token}");
        }
    }

    #[test]
    fn plain_and_numbered_words_are_not_leet() {
        for token in [
            "ignore", "ignore!", "key5", "token1", "utf8", "sha256", "b2b", "4242", "h264", "i18n",
            "k8s", "x86",
        ] {
            assert_eq!(reads(token), None, "{token}");
        }
    }

    #[test]
    fn every_stand_in_agrees_with_its_canonical_letter() {
        for (symbol, letters) in STAND_INS {
            assert!(
                letters
                    .iter()
                    .all(|letter| canonical(*letter) == canonical(symbol)),
                "{}",
                char::from(symbol)
            );
        }
    }
}
