//! Disguised key words: found in one pass over the folded text, and put right in the passages where they stand.

mod keywords;
mod leet;
mod letters;
mod lexicon;
mod scan;
mod segment;
mod shift;
mod spaced;
mod typo;

pub(crate) use scan::Scan;
pub(crate) use shift::Shift;

use crate::explore::Finds;
use crate::passage;
use crate::views::ViewKind;

/// Whether `word`, in lower case, is a key word.
pub(crate) fn is_key_word(word: &str) -> bool {
    lexicon::LEXICON
        .exact(word.as_bytes())
        .is_some_and(|entry| entry.key)
}

/// Whether `word`, in lower case, is a key word or one of the small words around them.
pub(crate) fn is_listed(word: &str) -> bool {
    lexicon::LEXICON.exact(word.as_bytes()).is_some()
}

/// Adds the passages with disguised key words, put right.
pub(crate) fn rewrite(text: &str, scan: &Scan, finds: &mut Finds<'_>) {
    if scan.edits.is_empty() {
        return;
    }
    let (derived, cut) = passage::rewrite(text, &scan.edits, finds.room());
    finds.worked(derived.text.len());
    finds.add_folded(ViewKind::Rewritten, derived);
    if cut {
        finds.cut();
    }
}
