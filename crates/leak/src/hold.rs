//! From where on the end of a text must wait, because what follows may make it part of a finding.

use crate::engine::{Engine, Trigger};
use crate::known::Known;
use crate::rules::RULES;
use crate::{assign, phrase, view};

/// No literal further back than this has anything open.
const REACH: usize = 1024;
/// Numbers with their separators.
const NUMBER: usize = 64;
/// Rows of pieces, of words, of lines.
const ROW: usize = 512;

/// The first byte that must wait.
pub(crate) fn from(engine: &Engine, known: &Known, text: &str) -> usize {
    let run = last_run(text);
    let mut hold = run
        .min(rows(text.as_bytes(), run))
        .min(literals(engine, text));
    if let Some(word) = view::last_trick(text, 256) {
        hold = hold.min(word);
    }
    let tail = tail(text, REACH);
    let mut pending = text.len() - tail;
    known.find(
        text.as_bytes().get(tail..).unwrap_or_default(),
        &mut pending,
        |_| {},
    );
    text.floor_char_boundary(hold.min(tail + pending))
}

fn tail(text: &str, length: usize) -> usize {
    text.floor_char_boundary(text.len().saturating_sub(length))
}

/// The beginning of the run of visible ASCII, and of what only hides or widens it, at the end.
fn last_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        let joins = c.is_ascii_graphic()
            || !c.is_ascii()
                && (view::hidden(bytes, at).is_some() || view::wide_form(bytes, at).is_some());
        if !joins {
            break;
        }
        start = at;
    }
    start
}

/// The beginning of the row of words at the end that may be one number, one token in pieces, one phrase or one block.
fn rows(bytes: &[u8], run: usize) -> usize {
    let mut hold = run;
    let (mut number, mut words, mut lines) = (true, true, true);
    let mut piece: Option<usize> = None;
    let mut pieces = true;
    let mut end = run;
    let first = run;
    loop {
        let before = bytes.get(..end).unwrap_or_default();
        let gap = before
            .iter()
            .rev()
            .take(9)
            .take_while(|b| !b.is_ascii_graphic())
            .count();
        let stop = end - gap;
        let word_start = before
            .get(..stop)
            .unwrap_or_default()
            .iter()
            .rposition(|b| !b.is_ascii_graphic())
            .map_or(0, |at| at + 1);
        let Some(word) = bytes
            .get(word_start..stop)
            .filter(|word| !word.is_empty() && gap <= 8)
        else {
            return hold;
        };
        number &= first - word_start <= NUMBER && numeric(word);
        words &= first - word_start <= ROW && listed(word);
        lines &= word.len() >= 40;
        let mut before_pieces = false;
        if pieces {
            let length = word.len();
            match piece {
                _ if gap > 4 || first - word_start > ROW => pieces = false,
                None if length <= 8 => piece = Some(length),
                Some(expected) if length == expected => {}
                _ => {
                    pieces = false;
                    before_pieces = length <= 12;
                }
            }
        }
        if !(number || words || lines || pieces || before_pieces) {
            return hold;
        }
        hold = word_start;
        end = word_start;
    }
}

/// Part of a number, or of an account number.
fn numeric(word: &[u8]) -> bool {
    let signs = word
        .iter()
        .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || b"()+./-:,".contains(b));
    let open = word
        .iter()
        .rposition(|b| b"(:+=\"'".contains(b))
        .map_or(word, |at| word.get(at + 1..).unwrap_or_default());
    signs && (word.len() <= 4 || word.iter().any(u8::is_ascii_digit))
        || !open.is_empty() && open.iter().all(u8::is_ascii_digit)
}

/// A word of a phrase, or its number in the row.
fn listed(word: &[u8]) -> bool {
    let start = word.iter().position(u8::is_ascii_alphabetic);
    let Some(start) = start else {
        return word.len() <= 4;
    };
    let letters: Vec<u8> = word
        .iter()
        .skip(start)
        .copied()
        .take_while(u8::is_ascii_alphabetic)
        .collect();
    phrase::number(&letters).is_some()
}

/// The first literal near the end of which something is still open.
fn literals(engine: &Engine, text: &str) -> usize {
    let start = tail(text, REACH);
    let Some(end) = text.get(start..) else {
        return text.len();
    };
    let mut hold = text.len();
    let lower = end.to_ascii_lowercase();
    for literal in &engine.spaced {
        let half = (1..literal.len()).rev().find(|length| {
            literal
                .get(..*length)
                .is_some_and(|head| lower.ends_with(head))
        });
        hold = hold.min(text.len() - half.unwrap_or_default());
    }
    engine.literals.find(end.as_bytes(), |number, place| {
        let at = start + place.start..start + place.end;
        let left = text.len() - at.start;
        let open = match engine.triggers.get(number) {
            Some(Trigger::Rule(number)) => RULES.get(usize::from(*number)).and_then(|rule| {
                let word = at
                    .start
                    .checked_sub(1)
                    .and_then(|place| text.as_bytes().get(place))
                    .is_some_and(u8::is_ascii_alphanumeric);
                let headless = word && rule.splittable();
                (left < rule.reach() && !headless && rule.may_begin(text.as_bytes(), &at))
                    .then(|| at.start.saturating_sub(rule.behind()))
            }),
            Some(Trigger::Assign) => assign::unfinished(text, at),
            Some(Trigger::Key) => (left < 160).then_some(at.start.saturating_sub(5)),
            _ => None,
        };
        hold = hold.min(open.unwrap_or(hold));
    });
    hold
}
