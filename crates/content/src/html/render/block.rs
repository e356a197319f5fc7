//! Blocks: paragraphs, headings, lists, quotes, code and tables, each with the prefix of what it is in.

use std::collections::BTreeSet;

use super::inline::{Inline, longest_run};
use super::table::Grid;
use crate::invisible::clean_into;
use crate::page::Hidden;
use crate::{Flag, Mode};

#[derive(Debug)]
enum Frame {
    Quote,
    List,
    Item { marker: String, used: bool },
}

/// The text written so far, and what encloses the next block.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) inline: Inline,
    out: String,
    frames: Vec<Frame>,
    heading: usize,
    pre: Option<(Option<String>, String)>,
    mode: Mode,
    /// The block before was an item of the list that is still open.
    tight: bool,
}

/// Frames that leave a trace in the prefix: deeper ones would only cost space.
const MAX_FRAMES: usize = 16;

impl Blocks {
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            inline: Inline::new(mode),
            out: String::new(),
            frames: Vec::new(),
            heading: 0,
            pre: None,
            mode,
            tight: false,
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.close_pre();
        self.flush();
        let end = self.out.trim_end().len();
        self.out.truncate(end);
        self.out
    }

    /// Writes the block that was collected.
    pub(crate) fn flush(&mut self) {
        if self.pre.is_some() {
            return;
        }
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        if self.heading > 0 && self.mode == Mode::Markdown {
            let marks = "#".repeat(self.heading);
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.block(&format!("{marks} {line}"));
        } else {
            self.block(&text);
        }
    }

    fn block(&mut self, text: &str) {
        let fresh_item = self
            .frames
            .iter()
            .any(|frame| matches!(frame, Frame::Item { used: false, .. }));
        if !self.out.is_empty() {
            self.out.push('\n');
            if !(self.tight && fresh_item) {
                let blank = self.prefix(false);
                self.out.push_str(blank.trim_end());
                self.out.push('\n');
            }
        }
        let first = self.prefix(true);
        let rest = self.prefix(false);
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            self.out.push_str(if number == 0 { &first } else { &rest });
            self.out.push_str(line.trim_end_matches(' '));
        }
        self.tight = self
            .frames
            .iter()
            .any(|frame| matches!(frame, Frame::Item { .. }));
    }

    /// What stands before a line; the first line of an item carries its marker.
    fn prefix(&mut self, first: bool) -> String {
        let mut out = String::new();
        let markdown = self.mode == Mode::Markdown;
        for frame in self.frames.iter_mut().take(MAX_FRAMES) {
            match frame {
                Frame::Quote if markdown => out.push_str("> "),
                Frame::Quote | Frame::List => {}
                Frame::Item { marker, used } => {
                    if first && !*used {
                        *used = true;
                        out.push_str(marker);
                    } else {
                        out.extend(std::iter::repeat_n(' ', marker.len()));
                    }
                }
            }
        }
        out
    }

    pub(crate) fn open_quote(&mut self) {
        self.tight = false;
        self.frames.push(Frame::Quote);
    }

    pub(crate) fn close_quote(&mut self) {
        if let Some(at) = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame, Frame::Quote))
        {
            self.frames.remove(at);
        }
    }

    pub(crate) fn open_list(&mut self) {
        if !self
            .frames
            .iter()
            .any(|frame| matches!(frame, Frame::Item { .. }))
        {
            self.tight = false;
        }
        self.frames.push(Frame::List);
    }

    pub(crate) fn close_list(&mut self) {
        if let Some(at) = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame, Frame::List))
        {
            self.frames.truncate(at);
        }
        if !self
            .frames
            .iter()
            .any(|frame| matches!(frame, Frame::Item { .. }))
        {
            self.tight = false;
        }
    }

    pub(crate) fn open_item(&mut self, marker: String) {
        self.frames.push(Frame::Item {
            marker,
            used: false,
        });
    }

    pub(crate) fn close_item(&mut self) {
        if let Some(at) = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame, Frame::Item { .. }))
        {
            self.frames.truncate(at);
        }
    }

    pub(crate) fn open_heading(&mut self, level: usize) {
        self.heading = level;
    }

    pub(crate) fn close_heading(&mut self) {
        self.heading = 0;
    }

    pub(crate) fn rule(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("---") {
            self.block("---");
        }
    }

    pub(crate) fn open_pre(&mut self, language: Option<String>) {
        self.pre = Some((language, String::new()));
    }

    pub(crate) fn verbatim(&mut self, text: &str, flags: &mut BTreeSet<Flag>, hidden: &mut Hidden) {
        if let Some((_, code)) = &mut self.pre {
            let removed = clean_into(&text.replace('\r', ""), code, flags);
            if removed >= 6 {
                hidden.add(Flag::InvisibleCharacters, text);
            }
        }
    }

    /// A block inside of preformatted text begins a line.
    pub(crate) fn verbatim_break(&mut self) {
        if let Some((_, code)) = &mut self.pre
            && !code.is_empty()
            && !code.ends_with('\n')
        {
            code.push('\n');
        }
    }

    pub(crate) fn close_pre(&mut self) {
        let Some((language, code)) = self.pre.take() else {
            return;
        };
        let code = code.trim_matches('\n').trim_end();
        if code.trim().is_empty() {
            return;
        }
        if self.mode == Mode::Markdown {
            let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
            let language = language.unwrap_or_default();
            self.block(&format!("{fence}{language}\n{code}\n{fence}"));
        } else {
            self.block(code);
        }
    }

    pub(crate) fn table(&mut self, grid: &Grid) {
        let text = grid.write(self.mode);
        if !text.is_empty() {
            self.block(&text);
        }
    }
}
