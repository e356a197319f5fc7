//! Which bytes of a text are of which class, sixty-four at a time: the bounds of words are found by counting bits.

use std::ops::Range;

/// One bit for each byte of a block, from the lowest on.
struct Masks {
    token: u64,
    digit: u64,
    mixed: u64,
    sign: u64,
}

const BLOCK: usize = 64;

/// A run of letters, digits, `_`, `-`, `+` and `/`, and what is in it.
pub(crate) struct Run {
    pub(crate) place: Range<usize>,
    pub(crate) digit: bool,
    /// One of the four signs.
    pub(crate) mixed: bool,
}

fn digit(b: u8) -> bool {
    b.wrapping_sub(b'0') < 10
}

fn mixed(b: u8) -> bool {
    (b == b'_') | (b == b'-') | (b == b'+') | (b == b'/')
}

/// A byte of a run.
pub(crate) fn token(b: u8) -> bool {
    ((b | 32).wrapping_sub(b'a') < 26) | digit(b) | mixed(b)
}

/// A colon, or a byte that may begin something hidden, widened or escaped.
fn sign(b: u8) -> bool {
    (b == b':')
        | (b == b'%')
        | (b == b'&')
        | (b == b'\\')
        | (b == 0xC2)
        | (b == 0xCD)
        | (b == 0xD8)
        | (b.wrapping_sub(0xE1) < 3)
        | (b == 0xEF)
        | (b == 0xF3)
}

/// Written so that a compiler does sixteen bytes in one step.
#[inline]
fn mask(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0_u8; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is(*byte));
    }
    // Eight flags of one byte each become eight bits.
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

impl Masks {
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Self {
        Self {
            token: mask(block, token),
            digit: mask(block, digit),
            mixed: mask(block, mixed),
            sign: mask(block, sign),
        }
    }
}

/// All bits below a place of a block.
#[inline]
fn below(end: u32) -> u64 {
    1_u64.checked_shl(end).map_or(u64::MAX, |bit| bit - 1)
}

/// What is told of a text: its runs in order, and the signs between them.
pub(crate) trait Reader {
    /// A whole run.
    fn run(&mut self, run: Run);
    /// A sign, before any run that begins in its block.
    fn sign(&mut self, at: usize);
}

/// Reads a text to its end.
pub(crate) fn read(text: &[u8], reader: &mut impl Reader) {
    crate::work::looked(text.len());
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut open: Option<Run> = None;
    let mut base = 0;
    for block in blocks {
        read_block(&Masks::of(block), base, &mut open, reader);
        base += BLOCK;
    }
    let mut last = [0; BLOCK];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    read_block(&Masks::of(&last), base, &mut open, reader);
}

/// The text behind the last block is no token, so that the last run ends in one.
#[inline]
fn read_block(masks: &Masks, base: usize, open: &mut Option<Run>, reader: &mut impl Reader) {
    let mut signs = masks.sign;
    while signs != 0 {
        reader.sign(base + signs.trailing_zeros() as usize);
        signs &= signs - 1;
    }
    let mut rest = masks.token;
    if let Some(mut run) = open.take() {
        let end = rest.trailing_ones();
        run.place.end = base + end as usize;
        run.digit |= masks.digit & below(end) != 0;
        run.mixed |= masks.mixed & below(end) != 0;
        if end == 64 {
            *open = Some(run);
            return;
        }
        rest &= !below(end);
        reader.run(run);
    }
    while rest != 0 {
        let start = rest.trailing_zeros();
        let end = start + (rest >> start).trailing_ones();
        let span = below(end) & !below(start);
        let run = Run {
            place: base + start as usize..base + end as usize,
            digit: masks.digit & span != 0,
            mixed: masks.mixed & span != 0,
        };
        if end == 64 {
            *open = Some(run);
            return;
        }
        rest &= !span;
        reader.run(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Heard {
        runs: Vec<(Range<usize>, bool, bool)>,
        signs: Vec<usize>,
    }

    impl Reader for Heard {
        fn run(&mut self, run: Run) {
            self.runs.push((run.place, run.digit, run.mixed));
        }

        fn sign(&mut self, at: usize) {
            self.signs.push(at);
        }
    }

    fn slowly(text: &[u8]) -> Heard {
        let mut heard = Heard::default();
        let mut at = 0;
        while at < text.len() {
            let length = text[at..].iter().take_while(|b| token(**b)).count();
            if length > 0 {
                let run = &text[at..at + length];
                heard.runs.push((
                    at..at + length,
                    run.iter().any(u8::is_ascii_digit),
                    run.iter().any(|b| b"_-+/".contains(b)),
                ));
            } else if sign(text[at]) {
                heard.signs.push(at);
            }
            at += length.max(1);
        }
        heard
    }

    proptest! {
        #[test]
        fn the_same_as_byte_by_byte(text in "([a-c1_/+-]{0,70}|[ :%é\u{200b}]{0,3}){0,8}") {
            let mut heard = Heard::default();
            read(text.as_bytes(), &mut heard);
            let slowly = slowly(text.as_bytes());
            prop_assert_eq!(heard.runs, slowly.runs);
            prop_assert_eq!(heard.signs, slowly.signs);
        }
    }

    #[test]
    fn runs_that_end_where_a_block_ends() {
        for length in [63, 64, 65, 127, 128, 129, 192] {
            for lead in 0..3 {
                let text = [" ".repeat(lead), "a".repeat(length)].concat();
                let mut heard = Heard::default();
                read(text.as_bytes(), &mut heard);
                assert_eq!(heard.runs, [(lead..lead + length, false, false)]);
            }
        }
    }
}
