//! Many literals in one pass, in any case of ASCII: every place at which one stands, overlapping or not.
//!
//! No automaton: its next step needs the one before it, and a processor waits for each. Here the first three bytes of a
//! place are asked of two small tables, and places do not wait for each other. Nearly all of them end there.

use std::ops::Range;

/// Kinds of bytes: those that stand at the beginning of some literal have numbers of their own, as far as there are.
const KINDS: usize = 64;
const PAIRS: usize = KINDS * KINDS;
/// The bit of literals that are shorter than three bytes.
const SHORT: u8 = 0x80;

pub(crate) struct Literals {
    kinds: [u8; 256],
    /// For the first and second byte, and for the second and third: the sets of literals that go on so.
    first: Box<[u8; PAIRS]>,
    second: Box<[u8; PAIRS]>,
    /// By the first two bytes: the literals and their sets, from the shorter to the longer.
    lists: Vec<Vec<(u8, u32)>>,
    texts: Vec<Box<[u8]>>,
}

fn pair(left: u8, right: u8) -> usize {
    (usize::from(left) << 6 | usize::from(right)) & (PAIRS - 1)
}

fn set(table: &mut [u8], at: usize, bits: u8) {
    if let Some(entry) = table.get_mut(at) {
        *entry |= bits;
    }
}

fn get(table: &[u8], at: usize) -> u8 {
    table.get(at).copied().unwrap_or_default()
}

impl Literals {
    /// A literal's number is its place in the list; empty ones are never found.
    pub(crate) fn new<S: AsRef<str>>(list: &[S]) -> Self {
        let texts: Vec<Box<[u8]>> = list
            .iter()
            .map(|text| text.as_ref().as_bytes().into())
            .collect();
        let mut kinds = [0; 256];
        let mut count = 0_u8;
        for byte in texts.iter().flat_map(|text| text.iter().take(3)) {
            let slots = [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
            if kinds.get(usize::from(*byte)) == Some(&0) {
                count = count % (KINDS as u8 - 1) + 1;
                for slot in slots {
                    set(&mut kinds, usize::from(slot), count);
                }
            }
        }
        let mut new = Self {
            kinds,
            first: Box::new([0; PAIRS]),
            second: Box::new([0; PAIRS]),
            lists: vec![Vec::new(); PAIRS],
            texts,
        };
        let mut order: Vec<u32> = (0..new.texts.len() as u32).collect();
        order.sort_by_key(|number| new.texts.get(*number as usize).map(|text| text.len()));
        for number in order {
            new.add(number);
        }
        new
    }

    fn add(&mut self, number: u32) {
        let Some(text) = self.texts.get(number as usize).cloned() else {
            return;
        };
        let kind = |at: usize| {
            text.get(at)
                .map(|byte| get(&self.kinds, usize::from(*byte)))
        };
        let every = 0..KINDS as u8;
        let Some(one) = kind(0) else {
            return;
        };
        let (pairs, next, bit): (Vec<usize>, Vec<usize>, u8) = match (kind(1), kind(2)) {
            (None, _) => (
                every.map(|two| pair(one, two)).collect(),
                (0..PAIRS).collect(),
                SHORT,
            ),
            (Some(two), None) => (
                vec![pair(one, two)],
                every.map(|three| pair(two, three)).collect(),
                SHORT,
            ),
            (Some(two), Some(three)) => {
                let set = (one ^ two.rotate_left(3) ^ three.rotate_left(5)) % 7;
                (vec![pair(one, two)], vec![pair(two, three)], 1 << set)
            }
        };
        for at in pairs {
            set(&mut *self.first, at, bit);
            if let Some(list) = self.lists.get_mut(at) {
                list.push((bit, number));
            }
        }
        for at in next {
            set(&mut *self.second, at, bit);
        }
    }

    /// Every literal in a text, by its number, in order of their beginnings.
    pub(crate) fn find(&self, text: &[u8], mut found: impl FnMut(usize, Range<usize>)) {
        crate::work::looked(text.len());
        let Some((head, rest)) = text.split_first() else {
            return;
        };
        let step = |last: usize, byte: u8| {
            let kind = self.kinds.get(usize::from(byte)).copied().unwrap_or(0);
            (last << 6 | usize::from(kind)) & (PAIRS - 1)
        };
        let mut last = step(0, *head);
        // What the pair before allows.
        let mut open = 0;
        for (at, byte) in rest.iter().enumerate() {
            let now = step(last, *byte);
            let may = open & self.second.get(now).copied().unwrap_or(0);
            if may != 0 {
                self.confirm(text, at - 1, last, may, &mut found);
            }
            open = self.first.get(now).copied().unwrap_or(0);
            last = now;
        }
        // Behind the end stand bytes of no kind, which only the short ones allow.
        for at in [rest.len(), rest.len() + 1] {
            let now = last << 6 & (PAIRS - 1);
            let may = open & get(&*self.second, now);
            if let Some(start) = at.checked_sub(1).filter(|_| may != 0) {
                self.confirm(text, start, last, may, &mut found);
            }
            open = get(&*self.first, now);
            last = now;
        }
    }

    #[inline(never)]
    fn confirm(
        &self,
        text: &[u8],
        start: usize,
        pair: usize,
        may: u8,
        found: &mut impl FnMut(usize, Range<usize>),
    ) {
        let list = self.lists.get(pair).into_iter().flatten();
        for (_, number) in list.filter(|(set, _)| set & may != 0) {
            let number = *number as usize;
            let Some(literal) = self.texts.get(number) else {
                continue;
            };
            let place = start..start + literal.len();
            crate::work::looked(1);
            if text
                .get(place.clone())
                .is_some_and(|here| here.eq_ignore_ascii_case(literal))
            {
                found(number, place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(literals: &[&str], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        Literals::new(literals).find(text.as_bytes(), |number, place| all.push((number, place)));
        all.sort_by_key(|(number, place)| (place.start, *number));
        all
    }

    fn expected(literals: &[&str], text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        let mut all = Vec::new();
        for start in 0..bytes.len() {
            for (number, literal) in literals.iter().enumerate() {
                let place = start..start + literal.len();
                if !literal.is_empty()
                    && bytes
                        .get(place.clone())
                        .is_some_and(|here| here.eq_ignore_ascii_case(literal.as_bytes()))
                {
                    all.push((number, place));
                }
            }
        }
        all
    }

    #[test]
    fn literals_of_every_length_are_found_to_the_last_byte() {
        let literals = [
            "@", "b_", "key", "monkey", "sk-", "sk-ant-", "é", "Straße", "",
        ];
        for text in [
            "@", "b_", "B_", "a@", "key", "KEY", "MonKey", "sk-ant-", "xsk-", "é", "éé@", "straße",
            "k", "", "b", "monke",
        ] {
            assert_eq!(found(&literals, text), expected(&literals, text), "{text}");
        }
    }

    #[test]
    fn more_kinds_of_bytes_than_numbers_hide_nothing() {
        let literals: Vec<String> = (33_u8..127)
            .map(|b| format!("{0}{0}{0}", char::from(b)))
            .collect();
        let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
        for literal in &literals {
            let text = format!("a {literal} b");
            assert_eq!(
                found(&literals, &text),
                expected(&literals, &text),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn the_same_as_looking_everywhere(
            literals in proptest::collection::vec("[abkK_@-]{0,4}", 0..8),
            text in "[abkK_@é-]{0,40}",
        ) {
            let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&literals, &text), expected(&literals, &text));
        }
    }
}
