//! Letter ciphers that move or mirror the alphabet.

/// A cipher that moves every letter by the same amount, possibly after mirroring the alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Shift {
    mirror: bool,
    by: u8,
}

impl Shift {
    /// The plain letter behind a lower-case `byte`; other bytes stay.
    pub(crate) fn undo(self, byte: u8) -> u8 {
        if !byte.is_ascii_lowercase() {
            return byte;
        }
        let moved = (byte - b'a' + 26 - self.by) % 26;
        b'a' + if self.mirror { 25 - moved } else { moved }
    }

    /// The cipher that turns `plain` into `word`.
    pub(super) fn between(plain: &[u8], word: &[u8]) -> Option<Shift> {
        let (first, seen) = (plain.first()?, word.first()?);
        let ciphers = [false, true].map(|mirror| {
            let start = if mirror { b'z' - first } else { first - b'a' };
            Shift {
                mirror,
                by: (seen - b'a' + 26 - start) % 26,
            }
        });
        let identity = Shift {
            mirror: false,
            by: 0,
        };
        ciphers.into_iter().find(|cipher| {
            *cipher != identity
                && word
                    .iter()
                    .map(|byte| cipher.undo(*byte))
                    .eq(plain.iter().copied())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cipher_between_two_words_undoes_itself() {
        for (plain, word) in [
            ("ignore", "vtaber"),
            ("ignore", "jhopsf"),
            ("ignore", "rtmliv"),
        ] {
            let shift = Shift::between(plain.as_bytes(), word.as_bytes()).unwrap();
            assert_eq!(
                word.bytes()
                    .map(|byte| char::from(shift.undo(byte)))
                    .collect::<String>(),
                plain
            );
        }
        assert_eq!(Shift::between(b"ignore", b"ignore"), None);
        assert_eq!(Shift::between(b"ignore", b"system"), None);
    }
}
