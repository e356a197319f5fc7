//! The text of one block while it is being written: white space, emphasis, code and links.

use std::collections::BTreeSet;

use super::plain::{is_space, plain_length};
use crate::invisible::cleaned;
use crate::page::Hidden;
use crate::{Flag, Mode};

#[derive(Debug)]
enum Span {
    Mark {
        mark: &'static str,
        start: usize,
    },
    Link {
        target: Option<String>,
        start: usize,
    },
    Code {
        start: usize,
    },
}

/// One block's text with its open spans.
#[derive(Debug)]
pub(crate) struct Inline {
    text: String,
    spans: Vec<Span>,
    markdown: bool,
}

/// Removed invisible characters from which on the original text is worth a look.
const SUSPICIOUS: usize = 6;
const MAX_SPANS: usize = 64;

impl Inline {
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            text: String::new(),
            spans: Vec::new(),
            markdown: mode == Mode::Markdown,
        }
    }

    /// Adds text with white space joined.
    pub(crate) fn text(
        &mut self,
        text: &str,
        code: bool,
        flags: &mut BTreeSet<Flag>,
        hidden: &mut Hidden,
    ) {
        let (visible, removed) = cleaned(text, flags);
        if removed >= SUSPICIOUS {
            hidden.add(Flag::InvisibleCharacters, text);
        }
        self.words(&visible, self.markdown && !code);
    }

    fn words(&mut self, text: &str, escape: bool) {
        let mut rest = text.trim_start_matches(is_space);
        if text.is_empty() || rest.len() < text.len() {
            self.space();
        }
        while !rest.is_empty() {
            // The first word of a line may forge more than the others.
            let at_line_start = self.text.is_empty() || self.text.ends_with('\n');
            let plain = if escape && at_line_start {
                0
            } else {
                plain_length(rest, escape)
            };
            let whole_word = || rest.find(is_space).unwrap_or(rest.len());
            let (part, after) = rest.split_at(if plain > 0 { plain } else { whole_word() });
            if escape && plain == 0 {
                push_escaped(&mut self.text, part);
            } else {
                self.text.push_str(part);
            }
            rest = after.trim_start_matches(is_space);
            if rest.len() < after.len() {
                self.space();
            }
        }
    }

    /// Adds text as it is.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn space(&mut self) {
        if !matches!(self.text.as_bytes().last(), None | Some(b' ' | b'\n')) {
            self.text.push(' ');
        }
    }

    pub(crate) fn line_break(&mut self) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Raised digits after a number or letter: `10^6`.
    pub(crate) fn raise(&mut self) {
        if self.markdown && self.text.ends_with(|c: char| c.is_ascii_digit()) {
            self.text.push('^');
        }
    }

    pub(crate) fn open(&mut self, mark: &'static str) {
        if self.markdown && self.spans.len() < MAX_SPANS {
            self.spans.push(Span::Mark {
                mark,
                start: self.text.len(),
            });
        }
    }

    pub(crate) fn close(&mut self, mark: &'static str) {
        let at = self
            .spans
            .iter()
            .rposition(|span| matches!(span, Span::Mark { mark: open, .. } if *open == mark));
        if let Some(at) = at {
            let nested = self
                .spans
                .iter()
                .take(at)
                .any(|span| matches!(span, Span::Mark { mark: open, .. } if *open == mark));
            if let Span::Mark { start, .. } = self.spans.remove(at)
                && !nested
            {
                self.wrap(start, mark, mark);
            }
        }
    }

    pub(crate) fn open_code(&mut self, outermost: bool) {
        if self.markdown && outermost && self.spans.len() < MAX_SPANS {
            self.spans.push(Span::Code {
                start: self.text.len(),
            });
        }
    }

    pub(crate) fn close_code(&mut self) {
        if let Some(at) = self
            .spans
            .iter()
            .rposition(|span| matches!(span, Span::Code { .. }))
            && let Span::Code { start } = self.spans.remove(at)
        {
            self.wrap_code(start);
        }
    }

    pub(crate) fn open_link(&mut self, target: Option<String>) {
        if self.markdown && self.spans.len() < MAX_SPANS {
            self.spans.push(Span::Link {
                target,
                start: self.text.len(),
            });
        }
    }

    pub(crate) fn close_link(&mut self) {
        if let Some(at) = self
            .spans
            .iter()
            .rposition(|span| matches!(span, Span::Link { .. }))
            && let Span::Link {
                target: Some(target),
                start,
            } = self.spans.remove(at)
        {
            self.wrap(start, "[", &format!("]({target})"));
        }
    }

    /// Puts marks around what was written since `start`, white space left outside.
    fn wrap(&mut self, start: usize, before: &str, after: &str) {
        let inside = self.text.get(start..).unwrap_or_default();
        let trimmed = inside.trim();
        if trimmed.is_empty() {
            return;
        }
        let from = start + (inside.len() - inside.trim_start().len());
        let to = from + trimmed.len();
        self.text.insert_str(to, after);
        self.text.insert_str(from, before);
    }

    fn wrap_code(&mut self, start: usize) {
        let inside = self.text.get(start..).unwrap_or_default();
        let longest = longest_run(inside, '`');
        let fence = "`".repeat(longest + 1);
        let pad = if inside.starts_with('`') || inside.ends_with('`') {
            " "
        } else {
            ""
        };
        self.wrap(start, &format!("{fence}{pad}"), &format!("{pad}{fence}"));
    }

    /// Ends the block: closes what is open, gives the text, and opens it again in the next.
    pub(crate) fn take(&mut self) -> String {
        for at in (0..self.spans.len()).rev() {
            let Some(span) = self.spans.get(at) else {
                break;
            };
            match span {
                Span::Mark { mark, start } => {
                    let (mark, start) = (*mark, *start);
                    let nested =
                        self.spans.iter().take(at).any(
                            |span| matches!(span, Span::Mark { mark: open, .. } if *open == mark),
                        );
                    if !nested {
                        self.wrap(start, mark, mark);
                    }
                }
                Span::Link { target, start } => {
                    let (after, start) =
                        (target.as_ref().map(|target| format!("]({target})")), *start);
                    if let Some(after) = after {
                        self.wrap(start, "[", &after);
                    }
                }
                Span::Code { start } => {
                    let start = *start;
                    self.wrap_code(start);
                }
            }
        }
        for span in &mut self.spans {
            match span {
                Span::Mark { start, .. } | Span::Link { start, .. } | Span::Code { start } => {
                    *start = 0;
                }
            }
        }
        let text = self.text.trim().to_owned();
        self.text.clear();
        text
    }

    pub(crate) fn clear(&mut self) {
        self.take();
    }
}

pub(crate) fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Writes a word so that none of its characters can be taken for markup.
fn push_escaped(out: &mut String, word: &str) {
    if !word.contains([
        '\\', '`', '*', '_', '[', ']', '<', '~', '#', '>', '-', '+', '=', '|', '!', '.', ')',
    ]) {
        out.push_str(word);
        return;
    }
    let mut word = word;
    if out.is_empty() || out.ends_with('\n') {
        if forges_block(word) {
            out.push('\\');
        } else if let Some(digits) = word.strip_suffix(['.', ')'])
            && digits.len() <= 9
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.is_empty()
        {
            out.push_str(digits);
            out.push('\\');
            word = word.get(digits.len()..).unwrap_or_default();
        }
    }
    let mut before = ' ';
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        let escape = match c {
            '`' | '*' | '[' | ']' => true,
            '\\' => after.is_ascii_punctuation(),
            '_' => !(before.is_alphanumeric() && after.is_alphanumeric()),
            '<' => after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?'),
            '~' => after == '~',
            _ => false,
        };
        if escape {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
}

/// Whether a word at the start of a line would make the line a list, a quote, a heading or a rule.
fn forges_block(word: &str) -> bool {
    matches!(word, "-" | "+" | "|")
        || word.starts_with(['>', '|'])
        || (word.starts_with('#') && word.chars().all(|c| c == '#'))
        || ["--", "==", "~~~"]
            .iter()
            .any(|mark| word.starts_with(mark))
}
