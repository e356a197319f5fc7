//! Registered values, found by value in any spelling, and kept only as keyed fingerprints.
//!
//! A value is cut into pieces of at most [`PIECE`] bytes. Each piece is written in every spelling that a text may hold it
//! in, and of each spelling remain: a bit in a small table, for a quick no; and a keyed SHA-256, for a certain yes.

use crate::spellings::{self, Spelling};
use crate::{Class, Seen};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Shorter values are not registered: they would be found everywhere.
pub(crate) const SHORTEST: usize = 8;
const PIECE: usize = 48;
/// No value has more pieces than this; the rest of a long file is as telling as its beginning.
const PIECES: usize = 64;
/// Bytes that are hashed at every place of a text.
const HEAD: usize = 8;
const TABLE_BITS: u32 = 17;

/// Whose value it is.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) rule: &'static str,
    pub(crate) class: Class,
    pub(crate) name: Arc<str>,
}

#[derive(Clone)]
struct Form {
    head: u16,
    length: usize,
    sum: [u8; 16],
    owner: u32,
    seen: Seen,
    whole: bool,
}

/// One way of reading the text: as it is, or its letters and digits alone.
#[derive(Clone)]
struct Shelf {
    table: Vec<u64>,
    forms: Vec<(u32, Form)>,
}

/// All registered values.
#[derive(Clone)]
pub(crate) struct Known {
    key: [u8; 32],
    mix: u64,
    owners: Vec<Owner>,
    exact: Shelf,
    squeezed: Shelf,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} values)", self.owners.len())
    }
}

/// A registered value in a text, or the beginning of one at its end.
pub(crate) struct Sighting<'k> {
    pub(crate) owner: &'k Owner,
    pub(crate) place: Range<usize>,
    pub(crate) seen: Seen,
}

impl Known {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        let digest = Sha256::digest(key);
        let mix = digest
            .iter()
            .take(8)
            .fold(0, |sum, b| sum << 8 | u64::from(*b))
            | 1;
        let shelf = Shelf {
            table: Vec::new(),
            forms: Vec::new(),
        };
        Self {
            key,
            mix,
            owners: Vec::new(),
            exact: shelf.clone(),
            squeezed: shelf,
        }
    }

    /// Adds a value; one that is too short or too plain to be told from ordinary text is left out.
    pub(crate) fn add(&mut self, owner: Owner, value: &str) -> bool {
        let value = value.trim();
        if value.len() < SHORTEST || crate::check::entropy(value.as_bytes()) < 1.5 {
            return false;
        }
        let number = self.owners.len() as u32;
        self.owners.push(owner);
        let bytes = value.as_bytes();
        let pieces: Vec<&[u8]> = if bytes.len() <= PIECE {
            vec![bytes]
        } else {
            bytes
                .chunks_exact(PIECE)
                .take(PIECES)
                .filter(|piece| crate::check::entropy(piece) > 2.5)
                .collect()
        };
        let short = bytes.len() <= PIECE;
        for piece in pieces {
            for spelling in spellings::of(piece) {
                let plain = spelling.seen == Seen::Plain;
                self.keep(&spelling, number, plain && short && piece.len() < 16);
            }
        }
        self.exact.forms.sort_by_key(|(slot, _)| *slot);
        self.squeezed.forms.sort_by_key(|(slot, _)| *slot);
        true
    }

    fn keep(&mut self, spelling: &Spelling, owner: u32, whole: bool) {
        let text = &spelling.text;
        let Some(head) = text.first_chunk::<HEAD>() else {
            return;
        };
        let hash = self.hash(u64::from_le_bytes(*head));
        let form = Form {
            head: hash as u16,
            length: text.len(),
            sum: self.sum(text),
            owner,
            seen: spelling.seen,
            whole,
        };
        let shelf = if spelling.squeezed {
            &mut self.squeezed
        } else {
            &mut self.exact
        };
        shelf.table.resize(1 << (TABLE_BITS - 6), 0);
        let slot = slot(hash);
        if let Some(word) = shelf.table.get_mut(slot as usize >> 6) {
            *word |= 1 << (slot & 63);
        }
        shelf.forms.push((slot, form));
    }

    fn hash(&self, head: u64) -> u64 {
        let mixed = (head ^ self.mix).wrapping_mul(self.mix);
        (mixed ^ (mixed >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn sum(&self, bytes: &[u8]) -> [u8; 16] {
        let digest = Sha256::new()
            .chain_update(self.key)
            .chain_update((bytes.len() as u64).to_le_bytes())
            .chain_update(bytes)
            .finalize();
        digest.first_chunk().copied().unwrap_or_default()
    }

    /// All registered values in a text. `pending` becomes the first place at which one may be about to begin.
    pub(crate) fn find(
        &self,
        text: &[u8],
        pending: &mut usize,
        mut report: impl FnMut(Sighting<'_>),
    ) {
        if self.owners.is_empty() {
            return;
        }
        self.walk(&self.exact, text, pending, |place| place, &mut report);
        if self.squeezed.forms.is_empty() {
            return;
        }
        let bare = Bare::of(text);
        // Where the text has nothing to squeeze out, the exact forms have said it all, but for its case.
        let mut waiting = bare.text.len();
        self.walk(
            &self.squeezed,
            &bare.text,
            &mut waiting,
            |place| {
                let start = bare.place(text, place.start).unwrap_or_default();
                let last = place.end.checked_sub(1);
                let last = last.and_then(|last| bare.place(text, last));
                start..last.map_or(start, |last| last + 1)
            },
            &mut report,
        );
        *pending = (*pending).min(bare.place(text, waiting).unwrap_or(text.len()));
    }

    fn walk(
        &self,
        shelf: &Shelf,
        text: &[u8],
        pending: &mut usize,
        place: impl Fn(Range<usize>) -> Range<usize>,
        report: &mut impl FnMut(Sighting<'_>),
    ) {
        if shelf.forms.is_empty() {
            return;
        }
        crate::work::looked(text.len());
        *pending = (*pending).min(text.len().saturating_sub(HEAD - 1));
        for (start, window) in text.windows(HEAD).enumerate() {
            let Some(head) = window.first_chunk::<HEAD>() else {
                continue;
            };
            let hash = self.hash(u64::from_le_bytes(*head));
            let at = slot(hash);
            let hit = shelf
                .table
                .get(at as usize >> 6)
                .is_some_and(|word| word >> (at & 63) & 1 == 1);
            if !hit {
                continue;
            }
            let from = shelf.forms.partition_point(|(slot, _)| *slot < at);
            let candidates = shelf
                .forms
                .get(from..)
                .unwrap_or_default()
                .iter()
                .take_while(|(slot, _)| *slot == at);
            for (_, form) in candidates.filter(|(_, form)| form.head == hash as u16) {
                let Some(slice) = text.get(start..start + form.length) else {
                    *pending = (*pending).min(start);
                    continue;
                };
                let word = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
                if form.whole
                    && (word(start.checked_sub(1).and_then(|at| text.get(at)))
                        || word(text.get(start + form.length)))
                {
                    continue;
                }
                crate::work::looked(form.length);
                if self.sum(slice) == form.sum
                    && let Some(owner) = self.owners.get(form.owner as usize)
                {
                    report(Sighting {
                        owner,
                        place: place(start..start + form.length),
                        seen: form.seen,
                    });
                }
            }
        }
    }
}

fn slot(hash: u64) -> u32 {
    (hash >> (64 - TABLE_BITS)) as u32
}

/// Letters and digits alone, in lower case.
struct Bare {
    text: Vec<u8>,
    /// How many of them stand before each block of the text, from which their places can be counted.
    before: Vec<u32>,
}

impl Bare {
    const BLOCK: usize = 64;

    fn of(text: &[u8]) -> Self {
        let mut bare = vec![0; text.len()];
        let mut before = Vec::with_capacity(text.len() / Self::BLOCK + 1);
        let mut count = 0;
        for block in text.chunks(Self::BLOCK) {
            before.push(count as u32);
            for byte in block {
                // Written whether it stays or not: the next one takes its place if not.
                if let Some(slot) = bare.get_mut(count) {
                    *slot = byte | 0x20;
                }
                count += usize::from(byte.is_ascii_alphanumeric());
            }
        }
        crate::work::looked(text.len());
        bare.truncate(count);
        Self { text: bare, before }
    }

    /// Where the letter with this number stood.
    fn place(&self, text: &[u8], number: usize) -> Option<usize> {
        let block = self
            .before
            .partition_point(|before| *before as usize <= number)
            .checked_sub(1)?;
        let skip = number - *self.before.get(block)? as usize;
        let from = block * Self::BLOCK;
        let places = text.iter().enumerate().skip(from).take(Self::BLOCK);
        crate::work::looked(Self::BLOCK);
        places
            .filter(|(_, byte)| byte.is_ascii_alphanumeric())
            .map(|(place, _)| place)
            .nth(skip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(value: &str) -> Known {
        let mut known = Known::new([7; 32]);
        let owner = Owner {
            rule: "registered-secret",
            class: Class::Registered,
            name: "X".into(),
        };
        assert!(known.add(owner, value));
        known
    }

    fn found(known: &Known, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        known.find(text.as_bytes(), &mut text.len(), |sighting| {
            places.push(sighting.place);
        });
        places
    }

    #[test]
    fn a_value_is_found_in_every_form() {
        let known = known("correct-horse!battery9");
        for text in [
            "x correct-horse!battery9 y",
            "CORRECT HORSE! BATTERY9",
            "c.o.r.r.e.c.t.h.o.r.s.e.b.a.t.t.e.r.y.9",
            "9yrettab!esroh-tcerroc",
        ] {
            assert!(!found(&known, text).is_empty(), "{text}");
        }
        assert!(found(&known, "correct horse battery").is_empty());
    }

    #[test]
    fn nothing_of_the_value_is_kept() {
        let known = known("correct-horse!battery9");
        let kept = format!("{known:?}");
        assert!(!kept.contains("correct"), "{kept}");
    }

    #[test]
    fn a_part_of_a_long_value_is_found() {
        let value: String = (0..400)
            .map(|n| char::from((b'a' + (n * 7 % 26) as u8) ^ ((n as u8 & 1) << 5)))
            .collect();
        let known = known(&value);
        assert!(!found(&known, &value[100..220]).is_empty());
    }

    #[test]
    fn short_and_plain_values_are_left_out() {
        let mut known = Known::new([7; 32]);
        let owner = Owner {
            rule: "r",
            class: Class::Registered,
            name: "X".into(),
        };
        assert!(!known.add(owner.clone(), "true"));
        assert!(!known.add(owner, "aaaaaaaaaaaaaaaa"));
    }
}
