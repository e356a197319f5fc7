//! Key words with their letters in disorder, with one too many or one missing, or backwards.

use super::lexicon::{LEXICON, MIN_DISORDER};

/// What a word turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disorder {
    Misspelt(&'static str),
    Backwards,
}

/// How `word`, whose letters sum up to `letter_sum`, is a key word in disorder.
pub(super) fn disorder(word: &str, letter_sum: u64) -> Option<Disorder> {
    if LEXICON.is_never_a_typo(word) {
        return None;
    }
    LEXICON
        .disordered(letter_sum)
        .find_map(|key| judge(word.as_bytes(), key))
}

fn judge(word: &[u8], key: &'static str) -> Option<Disorder> {
    let plain = key.as_bytes();
    let misspelt = match word.len().cmp(&plain.len()) {
        std::cmp::Ordering::Equal if word.iter().eq(plain.iter().rev()) => {
            return Some(Disorder::Backwards);
        }
        std::cmp::Ordering::Equal => {
            word.len() >= MIN_DISORDER
                && (same_ends(word, plain) || neighbours_swapped(word, plain))
        }
        std::cmp::Ordering::Less => same_ends(word, plain) && one_missing(plain, word),
        std::cmp::Ordering::Greater => same_ends(word, plain) && one_missing(word, plain),
    };
    misspelt.then_some(Disorder::Misspelt(key))
}

/// Endings are how words are inflected, so only slips inside a word count.
fn same_ends(a: &[u8], b: &[u8]) -> bool {
    a.first() == b.first() && a.last() == b.last()
}

fn neighbours_swapped(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).filter(|(a, b)| a != b).count();
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
    differing == 2 && a.get(at) == b.get(at + 1) && a.get(at + 1) == b.get(at)
}

/// Whether `short` is `long` without one letter.
fn one_missing(long: &[u8], short: &[u8]) -> bool {
    let common = long
        .iter()
        .zip(short)
        .take_while(|(long, short)| long == short)
        .count();
    long.get(common + 1..) == short.get(common..)
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::LETTER;
    use super::*;

    fn of(word: &str) -> Option<Disorder> {
        disorder(
            word,
            word.bytes()
                .fold(0, |sum: u64, byte| sum.wrapping_add(LETTER.of(byte))),
        )
    }

    #[test]
    fn slips_are_put_right() {
        for (word, key) in [
            ("ingore", "ignore"),
            ("ignroe", "ignore"),
            ("ginore", "ignore"),
            ("isntrcutions", "instructions"),
            ("instuctions", "instructions"),
            ("insttructions", "instructions"),
            ("pervoius", "previous"),
            ("previuos", "previous"),
            ("sytsem", "system"),
            ("pomrpt", "prompt"),
            ("passwrod", "password"),
            ("overide", "override"),
        ] {
            assert_eq!(of(word), Some(Disorder::Misspelt(key)), "{word}");
        }
    }

    #[test]
    fn real_words_are_left_alone() {
        for word in [
            "ignore",
            "small",
            "shall",
            "taken",
            "form",
            "from",
            "executed",
            "commandos",
            "instal",
            "conservation",
            "prints",
            "ruler",
            "systems",
            "forwards",
            "reveals",
            "silent",
            "listen",
            "trail",
            "trial",
            "quiet",
            "quite",
            "angel",
            "angle",
            "untied",
            "united",
            "dairy",
            "diary",
        ] {
            assert_eq!(of(word), None, "{word}");
        }
    }

    #[test]
    fn backwards_is_told_apart() {
        assert_eq!(of("snoitcurtsni"), Some(Disorder::Backwards));
        assert_eq!(of("erongi"), Some(Disorder::Backwards));
        assert_eq!(of("tpmorp"), Some(Disorder::Backwards));
    }
}
