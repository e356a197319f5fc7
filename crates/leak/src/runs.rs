//! The second half of a look: byte classes. Long runs may be encoded, digits may be somebody's number, rows of short
//! words may be a phrase, rows of equal pieces may be one token.

use crate::number::{self, Kind};
use crate::pass::{Hits, Pass, rank};
use crate::view::{self, View};
use crate::{Class, Scope, net, phrase, split};
use std::ops::Range;

const TOKEN: u8 = 1;
const DIGIT: u8 = 2;
const MIXED: u8 = 4;
const COLON: u8 = 8;
const TRICK: u8 = 16;
const PATH: u8 = 32;

static CLASSES: [u8; 256] = classes();

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, over its own length"
)]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => TOKEN | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => TOKEN,
            b'_' | b'-' => TOKEN | MIXED,
            b'+' | b'/' => TOKEN | MIXED | PATH,
            b':' => COLON,
            b'%' | b'&' | b'\\' | 0xC2 | 0xCD | 0xD8 | 0xE1 | 0xE2 | 0xE3 | 0xEF | 0xF3 => TRICK,
            _ => 0,
        };
        byte += 1;
    }
    table
}

fn class(bytes: &[u8], at: usize) -> u8 {
    bytes
        .get(at)
        .and_then(|b| CLASSES.get(usize::from(*b)))
        .copied()
        .unwrap_or_default()
}

/// A shorter run hides nothing.
const LONG: usize = 17;
/// Lines of wrapped base64 are at least this long.
const WRAPPED: usize = 40;
/// Words of a phrase.
const PHRASE: usize = 12;

/// Rows of runs: what the last ones had in common.
#[derive(Default)]
struct Rows {
    last: Range<usize>,
    /// Pieces of one length.
    piece: usize,
    pieces: usize,
    pieces_start: usize,
    before_pieces: usize,
    /// Words that may be a phrase.
    words: usize,
    words_start: usize,
    /// Long lines of one length.
    lines: usize,
    lines_start: usize,
}

struct Look<'t> {
    text: &'t str,
    bytes: &'t [u8],
    rows: Rows,
    numbers_done: usize,
    line_done: usize,
    colons_done: usize,
    bare: bool,
}

/// Looks at all runs of a text.
pub(crate) fn look(text: &str, pass: &Pass<'_>, hits: &mut Hits, views: &mut Vec<View>) {
    let bytes = text.as_bytes();
    let mut look = Look {
        text,
        bytes,
        rows: Rows::default(),
        numbers_done: 0,
        line_done: 0,
        colons_done: 0,
        bare: pass.scope.has(Scope::SNOWFLAKES),
    };
    let mut at = 0;
    while at < bytes.len() {
        let first = class(bytes, at);
        if first & TOKEN != 0 {
            let start = at;
            let mut seen = first;
            at += 1;
            loop {
                let next = class(bytes, at);
                if next & TOKEN == 0 {
                    break;
                }
                seen |= next;
                at += 1;
            }
            look.run(start..at, seen, pass, hits, views);
        } else {
            if first & (COLON | TRICK) != 0 {
                look.sign(at, first, hits, views);
            }
            at += 1;
        }
    }
    look.end_pieces(bytes.len()..bytes.len(), views);
    look.end_words(hits);
    look.end_lines(views);
}

impl Look<'_> {
    fn run(
        &mut self,
        run: Range<usize>,
        seen: u8,
        pass: &Pass<'_>,
        hits: &mut Hits,
        views: &mut Vec<View>,
    ) {
        if seen & DIGIT != 0 {
            self.numbers(&run, hits);
        }
        if run.len() >= LONG {
            if seen & PATH != 0 {
                let mut from = run.start;
                while from < run.end {
                    let rest = self.bytes.get(from..run.end).unwrap_or_default();
                    let length = rest
                        .iter()
                        .position(|b| matches!(b, b'/' | b'+'))
                        .unwrap_or(rest.len());
                    pass.run_rules(self.bytes, from..from + length, hits);
                    if length >= LONG
                        && length < run.len()
                        && let Some(view) = view::decoded(self.bytes, from..from + length)
                    {
                        views.push(view);
                    }
                    from += length + 1;
                }
            } else {
                pass.run_rules(self.bytes, run.clone(), hits);
            }
            self.address(&run, hits);
            if let Some(view) = view::decoded(self.bytes, run.clone()) {
                views.push(view);
            }
            if seen & MIXED != 0
                && let Some(view) = split::strided(self.bytes, run.clone())
            {
                views.push(view);
            }
        }
        self.row(run, seen, hits, views);
    }

    /// Wallet and hardware addresses, which are runs of their own.
    fn address(&self, run: &Range<usize>, hits: &mut Hits) {
        let Some(text) = self.bytes.get(run.clone()) else {
            return;
        };
        if text.len() == 17 && net::hardware(text, b'-') {
            hits.push(
                Scope::ADDRESSES,
                "mac-address",
                Class::Personal,
                rank::ADDRESS,
                run.clone(),
            );
        }
        let coin = match text {
            [b'1' | b'3', ..] if (26..=35).contains(&text.len()) => {
                crate::check::base58check(text).is_some_and(|payload| payload.len() == 21)
            }
            [b'b' | b'B', b'c' | b'C', b'1', ..] if (42..=62).contains(&text.len()) => {
                crate::check::bech32(text)
            }
            _ => false,
        };
        if coin {
            hits.push(
                Scope::ADDRESSES,
                "wallet-address",
                Class::Personal,
                rank::SUMMED,
                run.clone(),
            );
        }
    }

    fn numbers(&mut self, run: &Range<usize>, hits: &mut Hits) {
        let mut at = run.start;
        while at < run.end {
            let digit = class(self.bytes, at) & DIGIT != 0;
            if !digit || at < self.numbers_done {
                at += 1;
                continue;
            }
            let upper = |back: usize| {
                at.checked_sub(back)
                    .and_then(|place| self.bytes.get(place))
                    .is_some_and(u8::is_ascii_uppercase)
            };
            if upper(1)
                && upper(2)
                && let Some(place) = number::iban(self.bytes, at - 2)
            {
                self.numbers_done = place.end;
                hits.push(
                    Scope::PERSONAL,
                    "iban",
                    Class::Personal,
                    rank::SUMMED,
                    place,
                );
                continue;
            }
            let dotted = self
                .bytes
                .get(at + 1..self.bytes.len().min(at + 4))
                .unwrap_or_default()
                .contains(&b'.');
            if dotted && let Some(place) = net::v4(self.bytes, at) {
                self.numbers_done = place.end;
                hits.push(
                    Scope::ADDRESSES,
                    "ip-address",
                    Class::Personal,
                    rank::ADDRESS,
                    place,
                );
                continue;
            }
            let (found, next) = number::look(self.bytes, at, self.bare);
            self.numbers_done = next;
            if let Some((kind, place)) = found {
                let (rule, rank) = match kind {
                    Kind::Card => ("payment-card", rank::SUMMED),
                    Kind::Phone => ("phone", rank::PERSON),
                    Kind::Snowflake => ("snowflake", rank::PERSON),
                    Kind::Ssn => ("us-ssn", rank::PERSON),
                    Kind::Health => ("uk-nhs", rank::PERSON),
                    Kind::Passport => ("passport", rank::PERSON),
                    Kind::Bank => ("bank-account", rank::PERSON),
                };
                hits.push(Scope::PERSONAL, rule, Class::Personal, rank, place);
            }
            at += 1;
        }
    }

    fn sign(&mut self, at: usize, class: u8, hits: &mut Hits, views: &mut Vec<View>) {
        if class & COLON != 0 {
            if at >= self.colons_done {
                let hex = |place: Option<usize>| {
                    place
                        .and_then(|place| self.bytes.get(place))
                        .is_some_and(|b| b.is_ascii_hexdigit() || *b == b':')
                };
                if hex(Some(at + 1)) {
                    let (found, next) = net::around(self.bytes, at);
                    self.colons_done = next;
                    if let Some((rule, place)) = found {
                        hits.push(
                            Scope::ADDRESSES,
                            rule,
                            Class::Personal,
                            rank::ADDRESS,
                            place,
                        );
                    }
                }
            }
        } else if at >= self.line_done && view::trick(self.bytes, at) {
            let before = self.bytes.get(self.line_done..at).unwrap_or_default();
            let start = memchr::memrchr(b'\n', before)
                .map_or(self.line_done, |place| self.line_done + place + 1);
            let rest = self.bytes.get(at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |place| at + place);
            self.line_done = end;
            views.extend(view::unfold(self.text, start..end));
        }
    }

    /// What this run has in common with those before it.
    fn row(&mut self, run: Range<usize>, seen: u8, hits: &mut Hits, views: &mut Vec<View>) {
        let gap = run.start - self.rows.last.end;
        let length = run.len();
        let adjacent = (1..=4).contains(&gap);
        if length == self.rows.piece && adjacent {
            self.rows.pieces += 1;
        } else {
            self.end_pieces(run.clone(), views);
            self.rows.before_pieces = if adjacent && self.rows.last.len() <= 12 {
                self.rows.last.start
            } else {
                run.start
            };
            self.rows.piece = length;
            self.rows.pieces = 1;
            self.rows.pieces_start = run.start;
        }
        if length == 4 && self.rows.pieces == 3 && gap == 1 {
            let place = run.start.saturating_sub(10)..run.end;
            if self.bytes.get(place.clone()).is_some_and(net::dotted) {
                hits.push(
                    Scope::ADDRESSES,
                    "mac-address",
                    Class::Personal,
                    rank::ADDRESS,
                    place,
                );
            }
        }
        let word = seen & (DIGIT | MIXED) == 0 && (3..=8).contains(&length);
        if word && gap <= 8 {
            if self.rows.words == 0 {
                self.rows.words_start = run.start;
            }
            self.rows.words += 1;
        } else if !(seen & DIGIT != 0 && length <= 2 && gap <= 8) {
            self.end_words(hits);
            if word {
                self.rows.words = 1;
                self.rows.words_start = run.start;
            }
        }
        if length >= WRAPPED
            && gap <= 2
            && length <= self.rows.last.len()
            && self.rows.last.len() >= WRAPPED
        {
            if self.rows.lines == 0 {
                self.rows.lines_start = self.rows.last.start;
            }
            self.rows.lines += 1;
        } else if self.rows.lines > 0 {
            // The last line of a block is shorter.
            if gap <= 2 && length < WRAPPED {
                self.rows.last = run.clone();
            }
            self.end_lines(views);
        }
        self.rows.last = run;
    }

    /// Pieces of one length in a row, and the shorter one after them, as one token.
    fn end_pieces(&mut self, next: Range<usize>, views: &mut Vec<View>) {
        let rows = &self.rows;
        if rows.pieces >= 4 && rows.piece <= 8 && rows.pieces * rows.piece >= 16 {
            let adjacent = next.start.saturating_sub(rows.last.end) <= 4 && next.len() < rows.piece;
            let end = if adjacent { next.end } else { rows.last.end };
            let stay = |place: &usize| class(self.bytes, *place) & TOKEN != 0;
            views.push(view::joined(
                self.bytes,
                (rows.pieces_start..end).filter(stay),
            ));
            if rows.before_pieces < rows.pieces_start {
                views.push(view::joined(
                    self.bytes,
                    (rows.before_pieces..end).filter(stay),
                ));
            }
        }
        self.rows.pieces = 0;
        self.rows.piece = 0;
    }

    fn end_words(&mut self, hits: &mut Hits) {
        if self.rows.words >= PHRASE {
            phrase::find(
                self.bytes,
                self.rows.words_start..self.rows.last.end,
                |place| {
                    hits.push(
                        Scope::CREDENTIALS,
                        "seed-phrase",
                        Class::Credential,
                        rank::KEY,
                        place,
                    );
                },
            );
        }
        self.rows.words = 0;
    }

    /// Base64 that was wrapped into lines, as one run.
    fn end_lines(&mut self, views: &mut Vec<View>) {
        if self.rows.lines > 0 {
            let block = self.rows.lines_start..self.rows.last.end;
            let stay = |place: &usize| class(self.bytes, *place) & TOKEN != 0;
            views.push(view::joined(self.bytes, block.filter(stay)));
        }
        self.rows.lines = 0;
    }
}
