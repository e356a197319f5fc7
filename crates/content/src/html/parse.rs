//! HTML into an arena, in time linear in the input.
//!
//! html5ever searches its stack of open elements for almost every tag, so that depth is what makes it quadratic. A guard
//! between its tokenizer and its tree builder keeps that stack (and the list of active formatting elements) short: start
//! tags beyond the limit are dropped together with their end tags, so their content belongs to the ancestor at the limit.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::interface::tree_builder::Tracer;
use html5ever::interface::{ElemName, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name, ns};

use super::dom::{Dom, Id};
use super::sink::Sink;
use crate::Flag;

/// Open elements and active formatting elements together.
const MAX_OPEN: usize = 512;
/// Nodes in a document.
const MAX_NODES: usize = 250_000;
/// Pages have more bytes than this for each node, so that room for their nodes is seldom made twice.
const BYTES_PER_NODE: usize = 32;
/// What is fed at once.
const PIECE: usize = 256 * 1024;

/// A parsed document and what had to be cut from it.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) dom: Dom,
    pub(crate) flags: Vec<Flag>,
}

/// Parses a whole document. No input makes it fail.
pub(crate) fn parse(html: &str) -> Parsed {
    let builder = TreeBuilder::new(
        Sink::with_room((html.len() / BYTES_PER_NODE).min(MAX_NODES)),
        TreeBuilderOpts {
            drop_doctype: true,
            ..TreeBuilderOpts::default()
        },
    );
    let guard = Guard {
        builder,
        bound: Cell::new(0),
        full: Cell::new(false),
        deep: Cell::new(false),
        exhausted: Cell::new(false),
        foreign: Cell::new(false),
        dropped: RefCell::default(),
        muted: RefCell::new(None),
        in_script: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(
        guard,
        TokenizerOpts {
            discard_bom: true,
            ..TokenizerOpts::default()
        },
    );
    let queue = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() && !tokenizer.sink.exhausted.get() {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE));
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        rest = tail;
    }
    tokenizer.end();
    let guard = tokenizer.sink;
    let mut flags = Vec::new();
    if guard.deep.get() {
        flags.push(Flag::DepthLimit);
    }
    if guard.exhausted.get() {
        flags.push(Flag::NodeLimit);
    }
    Parsed {
        dom: guard.builder.sink.finish(),
        flags,
    }
}

struct Guard {
    builder: TreeBuilder<Id, Sink>,
    /// At least as many as there are open elements.
    bound: Cell<usize>,
    /// The limit was reached, and nothing was closed since.
    full: Cell<bool>,
    deep: Cell<bool>,
    exhausted: Cell<bool>,
    /// SVG or MathML was seen.
    foreign: Cell<bool>,
    /// Start tags that were dropped and whose end tags have yet to be.
    dropped: RefCell<HashMap<LocalName, usize>>,
    /// The element whose raw text is being thrown away.
    muted: RefCell<Option<LocalName>>,
    /// The text of a script is being read, which nobody looks at.
    in_script: Cell<bool>,
}

struct Count(Cell<usize>);

/// Where among the open elements the last list item and the last SVG or MathML element are.
struct Places<'a> {
    sink: &'a Sink,
    at: Cell<usize>,
    item: Cell<usize>,
    foreign: Cell<usize>,
}

impl Tracer for Places<'_> {
    type Handle = Id;
    fn trace_handle(&self, id: &Id) {
        self.at.set(self.at.get() + 1);
        let name = self.sink.elem_name(id);
        if *name.ns() != ns!(html) && *name.ns() != ns!() {
            self.foreign.set(self.at.get());
        } else if matches!(
            *name.local_name(),
            local_name!("li") | local_name!("dd") | local_name!("dt")
        ) {
            self.item.set(self.at.get());
        }
    }
}

impl Tracer for Count {
    type Handle = Id;
    fn trace_handle(&self, _: &Id) {
        self.0.set(self.0.get() + 1);
    }
}

impl Guard {
    fn too_deep(&self) -> bool {
        if self.full.get() {
            return true;
        }
        if self.bound.get() < MAX_OPEN {
            return false;
        }
        let count = Count(Cell::new(0));
        self.builder.trace_handles(&count);
        self.bound.set(count.0.get());
        self.full.set(count.0.get() >= MAX_OPEN);
        self.full.get()
    }

    /// html5ever lets a list item inside of SVG or MathML close one outside of it; browsers do not, and so text in a
    /// hidden item could come out of it.
    fn escapes_foreign(&self, name: &LocalName) -> bool {
        if matches!(*name, local_name!("svg") | local_name!("math")) {
            self.foreign.set(true);
            return false;
        }
        if !self.foreign.get()
            || !matches!(
                *name,
                local_name!("li") | local_name!("dd") | local_name!("dt")
            )
        {
            return false;
        }
        let places = Places {
            sink: &self.builder.sink,
            at: Cell::new(0),
            item: Cell::new(0),
            foreign: Cell::new(0),
        };
        self.builder.trace_handles(&places);
        places.foreign.get() > places.item.get()
    }

    fn drop_start(&self, name: &LocalName) -> TokenSinkResult<Id> {
        let raw = match *name {
            local_name!("script") => Some(RawKind::ScriptData),
            local_name!("style")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript") => Some(RawKind::Rawtext),
            local_name!("title") | local_name!("textarea") => Some(RawKind::Rcdata),
            _ => None,
        };
        if let Some(kind) = raw {
            *self.muted.borrow_mut() = Some(name.clone());
            return TokenSinkResult::RawData(kind);
        }
        *self.dropped.borrow_mut().entry(name.clone()).or_default() += 1;
        TokenSinkResult::Continue
    }
}

impl TokenSink for Guard {
    type Handle = Id;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Id> {
        if self.exhausted.get() {
            if matches!(token, Token::EOFToken) {
                return self.builder.process_token(token, line);
            }
            return TokenSinkResult::Continue;
        }
        if self.builder.sink.len() > MAX_NODES {
            self.exhausted.set(true);
            return TokenSinkResult::Continue;
        }
        let muted = self.muted.borrow().clone();
        if let Some(name) = muted {
            match &token {
                Token::TagToken(tag) if tag.kind == TagKind::EndTag && tag.name == name => {
                    *self.muted.borrow_mut() = None;
                    return TokenSinkResult::Continue;
                }
                Token::EOFToken => {}
                _ => return TokenSinkResult::Continue,
            }
        }
        if self.in_script.get() {
            match &token {
                Token::TagToken(_) | Token::EOFToken => self.in_script.set(false),
                _ => return TokenSinkResult::Continue,
            }
        }
        if let Token::TagToken(tag) = &token {
            match tag.kind {
                TagKind::StartTag => {
                    if self.too_deep() {
                        self.deep.set(true);
                        return self.drop_start(&tag.name);
                    }
                    if self.escapes_foreign(&tag.name) {
                        return self.drop_start(&tag.name);
                    }
                    self.bound.set(self.bound.get() + 1);
                }
                TagKind::EndTag => {
                    if let Some(count) = self
                        .dropped
                        .borrow_mut()
                        .get_mut(&tag.name)
                        .filter(|count| **count > 0)
                    {
                        *count -= 1;
                        return TokenSinkResult::Continue;
                    }
                    self.full.set(false);
                }
            }
        }
        let result = self.builder.process_token(token, line);
        if let TokenSinkResult::RawData(RawKind::ScriptData) = result {
            self.in_script.set(true);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}
