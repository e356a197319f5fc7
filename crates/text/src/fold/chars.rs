//! How single characters fold, and which of them compose with their neighbours.

use super::invisible::{invisible, is_decoration};
use super::latin;
use std::iter;
use std::sync::LazyLock;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

/// Scripts and symbols whose characters fold one by one; the others may compose with what follows them.
pub(super) fn is_spelt(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{58f}' | '\u{10a0}'..='\u{10ff}' | '\u{13a0}'..='\u{167f}' | '\u{1c80}'..='\u{1cbf}' | '\u{1d00}'..='\u{1dbf}'
        | '\u{1e00}'..='\u{2e7f}' | '\u{3000}' | '\u{a4d0}'..='\u{a4ff}' | '\u{a640}'..='\u{a69f}' | '\u{a720}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{abbf}' | '\u{fb00}'..='\u{fb17}' | '\u{fe10}'..='\u{fe6f}' | '\u{ff01}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffee}'
        | '\u{10400}'..='\u{1044f}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
}

/// The letters that fold to a single one, for the scripts and blocks met most often.
static LETTERS: LazyLock<[Vec<Option<char>>; 2]> =
    LazyLock::new(|| COMMON.map(|(first, last)| (first..=last).map(single_letter).collect()));

const COMMON: [(char, char); 2] = [('\u{80}', '\u{58f}'), ('\u{1e00}', '\u{206f}')];

fn single_letter(c: char) -> Option<char> {
    let mut spelt = Vec::new();
    spell_out(c, &mut spelt);
    spelt
        .first()
        .copied()
        .filter(|first| spelt.len() == 1 && first.is_alphabetic())
}

/// The one letter that `c` folds to, if that is known offhand.
pub(super) fn letter(c: char) -> Option<char> {
    let [common, rest] = &*LETTERS;
    let (table, first) = if c < '\u{590}' {
        (common, 0x80)
    } else {
        (rest, 0x1e00)
    };
    let index = usize::try_from(u32::from(c).checked_sub(first)?).ok()?;
    table.get(index).copied().flatten()
}

/// The folded spelling of a character that folds on its own.
pub(super) fn spell_out(c: char, out: &mut Vec<char>) {
    match c {
        'Й' => out.push('й'),
        'Ї' => out.push('ї'),
        'Ў' => out.push('ў'),
        '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
        '\u{80}'..='\u{9f}' | '\u{2800}' => out.push(' '),
        // Some Cyrillic letters decompose into others with a mark, and negated operators into the operator and a stroke;
        // neither mark is a mere accent.
        'й'
        | 'ї'
        | 'ў'
        | '\u{2190}'..='\u{2211}'
        | '\u{2213}'..='\u{2214}'
        | '\u{2216}'..='\u{22ff}' => out.push(c),
        _ => match latin::enclosed(c) {
            Some(letter) => out.push(letter),
            None => decompose_compatible(c, |part| spell_part(part, out)),
        },
    }
}

fn spell_part(part: char, out: &mut Vec<char>) {
    if is_decoration(part) || invisible(part).is_some() {
        return;
    }
    if let Some(ascii) = latin::spelling(part) {
        out.extend(ascii.chars());
        return;
    }
    for c in settle(part) {
        match latin::spelling(c) {
            Some(ascii) => out.extend(ascii.chars()),
            None => out.push(c),
        }
    }
}

/// Lower-cases what is not ASCII and unifies letter variants and spaces.
pub(super) fn settle(c: char) -> impl Iterator<Item = char> {
    let unified = match c {
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' | 'ی' => 'ي',
        'ک' => 'ك',
        'ة' | 'ۀ' | 'ە' => 'ه',
        'ς' => 'σ',
        c if c.is_whitespace() && c != '\n' => ' ',
        c => c,
    };
    let ascii = unified.is_ascii().then_some(unified);
    let lower = (!unified.is_ascii())
        .then(|| unified.to_lowercase())
        .into_iter()
        .flatten();
    ascii
        .into_iter()
        .chain(lower.filter(|c| !is_decoration(*c)))
}

/// Whether `c` may compose with, or be reordered around, a character before it.
pub(super) fn attaches(c: char) -> bool {
    let never = matches!(c, ..'\u{590}' | '\u{620}'..='\u{64a}' | '\u{904}'..='\u{93b}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{3400}'..='\u{a000}' | '\u{ac00}'..='\u{d7a3}');
    if never || is_decoration(c) {
        return false;
    }
    matches!(c, '\u{ff9e}' | '\u{ff9f}')
        || canonical_combining_class(c) != 0
        || is_nfkc_quick(iter::once(c)) == IsNormalized::Maybe
}

/// Whether it is known offhand that `c` folds to itself when nothing attaches to it.
pub(super) fn is_plain(c: char) -> bool {
    matches!(c,
        '\u{621}' | '\u{624}' | '\u{626}'..='\u{628}' | '\u{62a}'..='\u{63a}' | '\u{641}'..='\u{648}' | '\u{64a}'
        | '\u{904}'..='\u{939}' | '\u{93e}'..='\u{94c}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e000}'..='\u{f8ff}')
}

/// How `c` folds when nothing attaches to it; `None` if it must be normalised first.
pub(super) fn alone(c: char) -> Option<impl Iterator<Item = char>> {
    let normal = ('\u{620}'..='\u{64a}').contains(&c)
        || (is_nfkc_quick(iter::once(c)) == IsNormalized::Yes && !is_decoration(c));
    normal.then(|| settle(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_the_long_way() {
        for c in (0x80..0x3000).filter_map(char::from_u32) {
            assert!(
                letter(c).is_none_or(|folded| single_letter(c) == Some(folded)),
                "{c:?}"
            );
        }
        assert_eq!(letter('é'), Some('e'));
        assert_eq!(letter('Ж'), Some('ж'));
        assert_eq!(letter('’'), None);
        assert_eq!(letter('ß'), None);
    }

    #[test]
    fn what_folds_alone_needs_no_normalising() {
        use unicode_normalization::UnicodeNormalization;
        for c in (0x590..0x2_0000)
            .filter_map(char::from_u32)
            .filter(|c| !is_spelt(*c) && !is_decoration(*c) && invisible(*c).is_none())
        {
            let normalised: String = iter::once(c).nfkc().flat_map(settle).collect();
            assert!(!is_plain(c) || normalised == c.to_string(), "{c:?}");
            if let Some(folded) = alone(c) {
                assert_eq!(folded.collect::<String>(), normalised, "{c:?}");
            }
        }
    }

    #[test]
    fn what_never_attaches_is_a_starter() {
        for c in (0x590..0x2_0000)
            .filter_map(char::from_u32)
            .filter(|c| !attaches(*c) && !is_decoration(*c))
        {
            assert!(
                canonical_combining_class(c) == 0
                    && is_nfkc_quick(iter::once(c)) != IsNormalized::Maybe,
                "{c:?}"
            );
        }
    }
}
