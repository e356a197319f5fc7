//! What was already found out about a word: texts repeat their words.

/// Remembers a value for each of the words seen last. A word may push another out; it is then
/// found out again, so a text without a repetition costs little more than without a memo.
#[derive(Debug)]
pub(crate) struct Memo<V> {
    slots: Vec<(u64, V)>,
}

/// A memo that grows with the text would leave the nearest cache.
const MOST_SLOTS: usize = 2048;
/// No word has this hash, for all practice; if one had, it would be found out each time.
const EMPTY: u64 = 0;

impl<V: Copy + Default> Memo<V> {
    /// A memo for a text of so many words.
    pub(crate) fn new(words: usize) -> Self {
        let slots = words.next_power_of_two().clamp(16, MOST_SLOTS);
        Self {
            slots: vec![(EMPTY, V::default()); slots],
        }
    }

    /// The value known for a word.
    #[inline]
    pub(crate) fn get(&self, word: u64) -> Option<V> {
        let (known, value) = self.slots.get(self.slot(word))?;
        (*known == word && word != EMPTY).then_some(*value)
    }

    /// Notes a word's value.
    #[inline]
    pub(crate) fn put(&mut self, word: u64, value: V) {
        let slot = self.slot(word);
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = (word, value);
        }
    }

    fn slot(&self, word: u64) -> usize {
        word as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_pushed_out_is_unknown_not_mistaken() {
        let mut memo = Memo::new(0);
        memo.put(3, 'a');
        assert_eq!(memo.get(3), Some('a'));
        memo.put(3 + 16, 'b');
        assert_eq!((memo.get(3), memo.get(19)), (None, Some('b')));
        memo.put(EMPTY, 'c');
        assert_eq!(memo.get(EMPTY), None);
    }
}
