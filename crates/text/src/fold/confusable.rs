//! Letters of other scripts that look Latin, and when a word of them is meant to be read as Latin.

use unicode_security::confusable_detection::skeleton;

/// The script families that matter for look-alikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Latin,
    Greek,
    Cyrillic,
    /// Scripts seldom met in prose whose letters copy Latin ones: Armenian, Cherokee, Coptic, Lisu and the like.
    Rare,
}

/// Which family a letter belongs to; `None` for what is no letter or has no look-alikes.
pub(super) fn family(c: char) -> Option<Family> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => Family::Latin,
        '\u{370}'..='\u{373}'
        | '\u{376}'..='\u{37d}'
        | '\u{37f}'..='\u{3e1}'
        | '\u{3f0}'..='\u{3ff}'
        | '\u{1f00}'..='\u{1fff}' => Family::Greek,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' => {
            Family::Cyrillic
        }
        '\u{3e2}'..='\u{3ef}'
        | '\u{531}'..='\u{556}'
        | '\u{561}'..='\u{587}'
        | '\u{13a0}'..='\u{13ff}'
        | '\u{1401}'..='\u{166c}'
        | '\u{2c80}'..='\u{2ce4}'
        | '\u{a4d0}'..='\u{a4f7}'
        | '\u{ab70}'..='\u{abbf}'
        | '\u{10400}'..='\u{1044f}' => Family::Rare,
        _ => return None,
    })
}

/// The Latin letter that `c` looks exactly like.
pub(super) fn twin(c: char) -> Option<char> {
    let listed = match c {
        'а' | 'α' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' => 'C',
        'ԁ' => 'd',
        'е' | 'є' | 'ε' => 'e',
        'Е' | 'Ε' => 'E',
        'һ' => 'h',
        'Н' | 'Η' => 'H',
        'і' | 'ι' => 'i',
        'І' | 'Ι' | 'Ӏ' => 'I',
        'ј' | 'ϳ' => 'j',
        'Ј' | 'Ϳ' => 'J',
        'К' | 'Κ' | 'κ' => 'k',
        'ӏ' => 'l',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'о' | 'ο' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ԛ' => 'q',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'Т' | 'Τ' | 'τ' => 't',
        'υ' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ѡ' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'ү' | 'γ' => 'y',
        'У' | 'Υ' | 'Ү' => 'Y',
        'Ζ' => 'Z',
        _ => return rare_twin(c),
    };
    Some(listed)
}

/// The Latin letter that `c` passes for in a word that is otherwise Latin.
pub(super) fn passing(c: char) -> Option<char> {
    let loose = match c {
        'в' | 'ь' | 'ъ' | 'ѣ' | 'β' => 'b',
        'к' => 'k',
        'м' => 'm',
        'н' => 'h',
        'п' | 'π' | 'η' | 'ղ' | 'ռ' => 'n',
        'г' | 'ѓ' | 'я' | 'Я' => 'r',
        'т' => 't',
        'и' | 'ц' | 'μ' => 'u',
        'ї' | 'Ї' => 'i',
        'ш' | 'щ' | 'ω' => 'w',
        'з' | 'З' => 'z',
        'σ' | 'ө' | 'θ' | 'Θ' | 'ф' => 'o',
        'ё' | 'э' | 'Σ' | 'ξ' => 'e',
        'δ' | 'д' | 'ժ' => 'd',
        'λ' | 'Λ' | 'Д' | 'Δ' => 'a',
        _ => return twin(c),
    };
    Some(loose)
}

/// The Cyrillic letter that a Latin one looks exactly like.
fn cyrillic_twin(c: char) -> Option<char> {
    Some(match c {
        'a' | 'A' => 'а',
        'B' => 'в',
        'c' | 'C' => 'с',
        'e' | 'E' => 'е',
        'H' => 'н',
        'i' | 'I' => 'і',
        'K' | 'k' => 'к',
        'M' | 'm' => 'м',
        'o' | 'O' => 'о',
        'p' | 'P' => 'р',
        'T' => 'т',
        'x' | 'X' => 'х',
        'y' | 'Y' => 'у',
        _ => return None,
    })
}

/// Look-alikes of the rarer scripts, from the Unicode confusables. Their prototype `l` stands for the capital I.
fn rare_twin(c: char) -> Option<char> {
    if family(c) != Some(Family::Rare) {
        return None;
    }
    let mut buffer = [0; 4];
    let mut prototype = skeleton(c.encode_utf8(&mut buffer));
    let first = prototype.next().filter(char::is_ascii_alphabetic)?;
    let alone = prototype.next().is_none();
    alone.then_some(if first == 'l' { 'i' } else { first })
}

/// Letters that only resemble Latin ones and make up Greek's commonest words, such as "και" and "τα".
const COMMON_GREEK: [char; 8] = ['α', 'ε', 'ι', 'κ', 'τ', 'υ', 'χ', 'γ'];

/// Letters in something like "sinα" or "ρgh".
const MAX_FORMULA: usize = 5;

/// How a word is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    AsWritten,
    Latin,
    Cyrillic,
}

/// Decides how to read a word given as the letters seen. `after_latin` says that the word before it is Latin and the
/// one after it is not plainly foreign; `is_listed` recognises words that are expected in disguise.
pub(super) fn reading(
    letters: &(impl Iterator<Item = char> + Clone),
    after_latin: impl FnOnce() -> bool,
    is_listed: impl Fn(&str) -> bool,
) -> Reading {
    let (mut latin, mut foreign, mut scripts, mut switches) = (0usize, 0usize, 0u8, 0usize);
    let mut before = None;
    for family in letters.clone().filter_map(family) {
        if family == Family::Latin {
            latin += 1;
        } else {
            foreign += 1;
            scripts |= 1 << family as u8;
        }
        switches += usize::from(before.is_some_and(|before| before != family));
        before = Some(family);
    }
    let mut foreign_letters = letters
        .clone()
        .filter(|c| family(*c).is_some_and(|family| family != Family::Latin));
    if scripts == 0 || (latin == 0 && foreign < 2) {
        return Reading::AsWritten;
    }
    let all_twins = foreign_letters.clone().all(|c| twin(c).is_some());
    if latin == 0 && scripts.is_power_of_two() {
        let read_latin =
            all_twins && !letters.clone().any(|c| COMMON_GREEK.contains(&c)) && after_latin();
        return if read_latin {
            Reading::Latin
        } else {
            Reading::AsWritten
        };
    }
    let as_latin: String = letters
        .clone()
        .map(|c| passing(c).unwrap_or(c).to_ascii_lowercase())
        .collect();
    let is_formula = scripts == 1 << Family::Greek as u8 && latin + foreign <= MAX_FORMULA;
    if is_listed(&as_latin) || (all_twins && !is_formula) {
        return Reading::Latin;
    }
    let all_cyrillic = scripts == 1 << Family::Cyrillic as u8;
    if all_cyrillic
        && switches > 1
        && letters
            .clone()
            .all(|c| family(c) != Some(Family::Latin) || cyrillic_twin(c).is_some())
    {
        return Reading::Cyrillic;
    }
    // Loan words take native endings, as in "SMSки".
    let is_loan =
        switches == 1 && latin > 1 && letters.clone().find_map(family) == Some(Family::Latin);
    let all_passing = foreign_letters.all(|c| passing(c).is_some());
    if all_passing && !is_formula && !is_loan {
        Reading::Latin
    } else {
        Reading::AsWritten
    }
}

/// `c` as it is read; `folded` is what it folds to when read as written.
pub(super) fn read(reading: Reading, c: char, folded: char) -> char {
    match reading {
        Reading::AsWritten => folded,
        Reading::Latin => passing(c).unwrap_or(folded),
        Reading::Cyrillic => cyrillic_twin(c).unwrap_or(folded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_word(word: &str, after_latin: bool) -> String {
        let reading = reading(
            &word.chars(),
            || after_latin,
            |word| matches!(word, "key" | "token"),
        );
        word.chars().map(|c| read(reading, c, c)).collect()
    }

    #[test]
    fn mixed_words_are_read_as_latin() {
        assert_eq!(read_word("ignоrе", false), "ignore");
        assert_eq!(read_word("рrevious", false), "previous");
        assert_eq!(read_word("ѕуѕtem", false), "system");
        assert_eq!(read_word("ιnstructιοns", false), "instructions");
        assert_eq!(read_word("Ꭵgnore", false), "ignore");
        assert_eq!(read_word("ꓲgnore", false), "ignore");
        assert_eq!(read_word("кeу", false), "key");
        assert_eq!(read_word("тоkеn", false), "token");
        assert_eq!(read_word("ιnѕтrucтιons", false), "instructions");
        assert_eq!(read_word("мagic", false), "magic");
        assert_eq!(read_word("сοղfіrмατіοղ", false), "confirmation");
    }

    #[test]
    fn whole_foreign_words_stay_unless_they_follow_latin() {
        assert_eq!(read_word("оре", false), "оре");
        assert_eq!(read_word("оре", true), "ope");
        assert_eq!(read_word("привет", true), "привет");
        assert_eq!(read_word("λόγος", true), "λόγος");
    }

    #[test]
    fn loan_words_with_endings_stay() {
        assert_eq!(read_word("SMSки", false), "SMSки");
        assert_eq!(read_word("μm", true), "μm");
        assert_eq!(read_word("sinα", true), "sinα");
    }

    #[test]
    fn latin_letters_in_a_russian_word_become_russian() {
        assert_eq!(read_word("игнopиpуй", false), "игнорируй");
    }
}
