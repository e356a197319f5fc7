//! The second half of a look: byte classes. Long runs may be encoded, digits may be somebody's number, rows of short
//! words may be a phrase, rows of equal pieces may be one token.

use crate::blocks::{self, Reader, Run};
use crate::number::{self, Kind};
use crate::pass::{Hits, Pass, rank};
use crate::view::{self, View};
use crate::{Class, Scope, net, phrase, split};
use std::ops::Range;

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

struct Look<'l, 't> {
    text: &'t str,
    bytes: &'t [u8],
    pass: &'l Pass<'l>,
    hits: &'l mut Hits,
    views: &'l mut Vec<View>,
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
        pass,
        hits,
        views,
        rows: Rows::default(),
        numbers_done: 0,
        line_done: 0,
        colons_done: 0,
        bare: pass.scope.has(Scope::SNOWFLAKES),
    };
    blocks::read(bytes, &mut look);
    look.end_pieces(bytes.len()..bytes.len());
    look.end_words();
    look.end_lines();
}

impl Reader for Look<'_, '_> {
    #[inline]
    fn run(&mut self, run: Run) {
        if run.digit {
            self.numbers(&run.place);
        }
        if run.place.len() >= LONG {
            self.long(&run);
        }
        self.row(run);
    }

    fn sign(&mut self, at: usize) {
        if self.bytes.get(at) == Some(&b':') {
            self.colon(at);
        } else if at >= self.line_done && view::trick(self.bytes, at) {
            let before = self.bytes.get(self.line_done..at).unwrap_or_default();
            let start = memchr::memrchr(b'\n', before)
                .map_or(self.line_done, |place| self.line_done + place + 1);
            let rest = self.bytes.get(at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |place| at + place);
            crate::work::looked(end - start);
            self.line_done = end;
            self.views.extend(view::unfold(self.text, start..end));
        }
    }
}

impl Look<'_, '_> {
    /// A run that may be a key, an address, or another text.
    #[inline(never)]
    fn long(&mut self, run: &Run) {
        let place = &run.place;
        let bytes = self.bytes.get(place.clone()).unwrap_or_default();
        crate::work::looked(2 * bytes.len());
        if run.mixed && bytes.iter().any(|b| matches!(b, b'/' | b'+')) {
            let mut from = place.start;
            for part in bytes.split(|b| matches!(b, b'/' | b'+')) {
                let part = from..from + part.len();
                from = part.end + 1;
                self.pass.run_rules(self.bytes, part.clone(), self.hits);
                if part.len() >= LONG && part.len() < bytes.len() {
                    self.views.extend(view::decoded(self.bytes, part));
                }
            }
        } else {
            self.pass.run_rules(self.bytes, place.clone(), self.hits);
        }
        self.address(place);
        self.views.extend(view::decoded(self.bytes, place.clone()));
        if run.mixed {
            self.views.extend(split::strided(self.bytes, place.clone()));
        }
    }

    /// Wallet and hardware addresses, which are runs of their own.
    fn address(&mut self, run: &Range<usize>) {
        let Some(text) = self.bytes.get(run.clone()) else {
            return;
        };
        if text.len() == 17 && net::hardware(text, b'-') {
            self.hits.push(
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
            self.hits.push(
                Scope::ADDRESSES,
                "wallet-address",
                Class::Personal,
                rank::SUMMED,
                run.clone(),
            );
        }
    }

    fn numbers(&mut self, run: &Range<usize>) {
        let mut at = run.start;
        while at < run.end {
            let digit = self.bytes.get(at).is_some_and(u8::is_ascii_digit);
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
                self.hits.push(
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
                self.hits.push(
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
                self.hits
                    .push(Scope::PERSONAL, rule, Class::Personal, rank, place);
            }
            at += 1;
        }
    }

    fn colon(&mut self, at: usize) {
        let hex = |b: &u8| b.is_ascii_hexdigit() || *b == b':';
        if at < self.colons_done || !self.bytes.get(at + 1).is_some_and(hex) {
            return;
        }
        let (found, next) = net::around(self.bytes, at);
        self.colons_done = next;
        if let Some((rule, place)) = found {
            self.hits.push(
                Scope::ADDRESSES,
                rule,
                Class::Personal,
                rank::ADDRESS,
                place,
            );
        }
    }

    /// What this run has in common with those before it. Nearly every word of a text comes here, and no two are alike:
    /// what happens to each is counted without asking, and only what is rare is asked for.
    #[inline]
    fn row(&mut self, run: Run) {
        let Run {
            place: run,
            digit,
            mixed,
        } = run;
        let gap = run.start - self.rows.last.end;
        let length = run.len();
        let adjacent = (1..=4).contains(&gap);
        let same = (length == self.rows.piece) & adjacent;
        if !same && self.rows.pieces >= 4 {
            self.end_pieces(run.clone());
        }
        let rows = &mut self.rows;
        let before = if adjacent & (rows.last.len() <= 12) {
            rows.last.start
        } else {
            run.start
        };
        rows.before_pieces = if same { rows.before_pieces } else { before };
        rows.pieces_start = if same { rows.pieces_start } else { run.start };
        rows.pieces = usize::from(same) * rows.pieces + 1;
        rows.piece = length;
        if length == 4 && self.rows.pieces == 3 && gap == 1 {
            let place = run.start.saturating_sub(10)..run.end;
            if self.bytes.get(place.clone()).is_some_and(net::dotted) {
                self.hits.push(
                    Scope::ADDRESSES,
                    "mac-address",
                    Class::Personal,
                    rank::ADDRESS,
                    place,
                );
            }
        }
        let word = !digit & !mixed & (3..=8).contains(&length);
        let near = gap <= 8;
        let goes_on = word & near;
        let ends = !(goes_on | digit & (length <= 2) & near);
        if ends && self.rows.words >= PHRASE {
            self.end_words();
        }
        let rows = &mut self.rows;
        let anew = ends | (rows.words == 0);
        rows.words_start = if anew { run.start } else { rows.words_start };
        rows.words = if ends {
            usize::from(word)
        } else {
            rows.words + usize::from(goes_on)
        };
        // A word that no phrase has ends the row: few rows of prose are ever read again.
        if rows.words >= PHRASE && goes_on && !self.bytes.get(run.clone()).is_some_and(phrase::may)
        {
            self.rows.words -= 1;
            self.end_words();
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
            self.end_lines();
        }
        self.rows.last = run;
    }

    /// Pieces of one length in a row, and the shorter one after them, as one token.
    fn end_pieces(&mut self, next: Range<usize>) {
        let rows = &self.rows;
        if rows.pieces >= 4 && rows.piece <= 8 && rows.pieces * rows.piece >= 16 {
            let adjacent = next.start.saturating_sub(rows.last.end) <= 4 && next.len() < rows.piece;
            let end = if adjacent { next.end } else { rows.last.end };
            let bytes = self.bytes;
            let stay = |place: &usize| bytes.get(*place).is_some_and(|b| blocks::token(*b));
            self.views.push(view::joined(
                self.bytes,
                (rows.pieces_start..end).filter(stay),
            ));
            if rows.before_pieces < rows.pieces_start {
                self.views.push(view::joined(
                    self.bytes,
                    (rows.before_pieces..end).filter(stay),
                ));
            }
        }
        self.rows.pieces = 0;
        self.rows.piece = 0;
    }

    fn end_words(&mut self) {
        if self.rows.words >= PHRASE {
            phrase::find(
                self.bytes,
                self.rows.words_start..self.rows.last.end,
                |place| {
                    self.hits.push(
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
    fn end_lines(&mut self) {
        if self.rows.lines > 0 {
            let block = self.rows.lines_start..self.rows.last.end;
            let bytes = self.bytes;
            let stay = |place: &usize| bytes.get(*place).is_some_and(|b| blocks::token(*b));
            self.views
                .push(view::joined(self.bytes, block.filter(stay)));
        }
        self.rows.lines = 0;
    }
}
