//! Writes what is left of a document as plain text or markdown, in one walk.

mod block;
mod inline;
mod link;
mod plain;
mod table;
mod tags;

use std::collections::BTreeSet;

use html5ever::local_name;
use url::Url;

use super::dom::{Data, Dom, Element, Id, Step};
use crate::page::Hidden;
use crate::{Flag, Mode};
use block::Blocks;
pub(crate) use link::resolve as resolve_link;
use table::{Grid, is_data_table};
pub(crate) use tags::is_block;
use tags::{alt_has_meaning, code_language, heading};

/// What of a document is to be written.
pub(crate) struct Source<'a> {
    pub(crate) dom: &'a Dom,
    pub(crate) base: Option<&'a Url>,
    pub(crate) mode: Mode,
    /// Whether a node and all in it is left out.
    pub(crate) skip: &'a dyn Fn(Id) -> bool,
}

/// Writes the subtrees of `tops` in order.
pub(crate) fn render(
    source: &Source<'_>,
    tops: &[Id],
    flags: &mut BTreeSet<Flag>,
    hidden: &mut Hidden,
) -> String {
    let mut writer = Writer {
        source,
        blocks: Blocks::new(source.mode),
        flags,
        hidden,
        grids: Vec::new(),
        pre: 0,
        code: 0,
        lists: Vec::new(),
    };
    for &top in tops {
        writer.subtree(top);
    }
    writer.blocks.finish()
}

struct Writer<'a> {
    source: &'a Source<'a>,
    blocks: Blocks,
    flags: &'a mut BTreeSet<Flag>,
    hidden: &'a mut Hidden,
    /// Tables being written, innermost last.
    grids: Vec<(Id, Grid)>,
    pre: usize,
    code: usize,
    /// The next number of each open list, or nothing for bullets.
    lists: Vec<Option<i64>>,
}

impl Writer<'_> {
    fn subtree(&mut self, top: Id) {
        let dom = self.source.dom;
        let mut walk = dom.walk(top);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) => {
                    if (self.source.skip)(id) {
                        // A skipped node is not entered, so it must not be left either.
                        walk.pass_over(id);
                        walk.next();
                        continue;
                    }
                    match &dom.node(id).data {
                        Data::Text(text) => self.text(text),
                        Data::Element(element) => self.enter(id, element),
                        _ => {}
                    }
                }
                Step::Leave(id) => {
                    if let Data::Element(element) = &dom.node(id).data {
                        self.leave(id, element);
                    }
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.pre > 0 {
            self.blocks.verbatim(text, self.flags, self.hidden);
        } else {
            self.blocks
                .inline
                .text(text, self.code > 0, self.flags, self.hidden);
        }
    }

    fn markdown(&self) -> bool {
        self.source.mode == Mode::Markdown
    }

    fn enter(&mut self, id: Id, element: &Element) {
        if !element.is_html() {
            if matches!(&*element.name.local, "text" | "svg") {
                self.blocks.inline.space();
            }
            return;
        }
        match *element.tag() {
            local_name!("br") => {
                if self.pre > 0 {
                    self.blocks.verbatim("\n", self.flags, self.hidden);
                } else {
                    self.blocks.inline.line_break();
                }
            }
            local_name!("hr") => {
                self.blocks.flush();
                if self.markdown() && self.grids.is_empty() {
                    self.blocks.rule();
                }
            }
            local_name!("img") => self.image(id, element),
            local_name!("wbr") => {}
            local_name!("a") => {
                let target = link::target(element, self.source.base, self.flags);
                self.blocks.inline.open_link(
                    target.filter(|_| self.source.mode == Mode::Markdown && self.pre == 0),
                );
            }
            local_name!("strong") | local_name!("b") if self.pre == 0 => {
                self.blocks.inline.open("**");
            }
            local_name!("em") | local_name!("i") if self.pre == 0 => self.blocks.inline.open("*"),
            local_name!("del") | local_name!("s") | local_name!("strike") if self.pre == 0 => {
                self.blocks.inline.open("~~");
            }
            local_name!("q") => self.blocks.inline.raw("\""),
            local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => {
                if self.pre == 0 {
                    self.blocks.inline.open_code(self.code == 0);
                }
                self.code += 1;
            }
            local_name!("sup") => self.blocks.inline.raise(),
            local_name!("pre")
            | local_name!("xmp")
            | local_name!("listing")
            | local_name!("plaintext") => {
                if self.pre == 0 {
                    self.blocks.flush();
                    self.blocks.open_pre(code_language(self.source.dom, id));
                }
                self.pre += 1;
            }
            local_name!("blockquote") => {
                self.blocks.flush();
                self.blocks.open_quote();
            }
            local_name!("ul") | local_name!("menu") | local_name!("dir") => {
                self.blocks.flush();
                self.lists.push(None);
                self.blocks.open_list();
            }
            local_name!("ol") => {
                self.blocks.flush();
                let start = element
                    .attr(&local_name!("start"))
                    .and_then(|text| text.trim().parse().ok());
                self.lists.push(Some(start.unwrap_or(1)));
                self.blocks.open_list();
            }
            local_name!("li") => {
                self.blocks.flush();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => "- ".to_owned(),
                };
                self.blocks.open_item(marker);
            }
            local_name!("table") => {
                self.blocks.flush();
                if self.grids.is_empty() && is_data_table(self.source.dom, id, self.source.skip) {
                    self.grids.push((id, Grid::default()));
                }
            }
            local_name!("tr") if !self.grids.is_empty() => {
                if let Some((_, grid)) = self.grids.last_mut() {
                    grid.open_row();
                }
            }
            local_name!("td") | local_name!("th") if !self.grids.is_empty() => {
                self.blocks.inline.clear();
                if let Some((_, grid)) = self.grids.last_mut() {
                    grid.open_cell(element);
                }
            }
            ref tag => {
                if let Some(level) = heading(tag) {
                    self.blocks.flush();
                    self.blocks.open_heading(level);
                } else if is_block(tag) {
                    self.break_block();
                } else if self.pre == 0
                    && matches!(*tag, local_name!("label") | local_name!("span"))
                {
                    // Inline, nothing to write.
                }
            }
        }
    }

    fn leave(&mut self, id: Id, element: &Element) {
        if !element.is_html() {
            if matches!(&*element.name.local, "text" | "svg" | "tspan") {
                self.blocks.inline.space();
            }
            return;
        }
        match *element.tag() {
            local_name!("a") => self.blocks.inline.close_link(),
            local_name!("strong") | local_name!("b") if self.pre == 0 => {
                self.blocks.inline.close("**");
            }
            local_name!("em") | local_name!("i") if self.pre == 0 => self.blocks.inline.close("*"),
            local_name!("del") | local_name!("s") | local_name!("strike") if self.pre == 0 => {
                self.blocks.inline.close("~~");
            }
            local_name!("q") => self.blocks.inline.raw("\""),
            local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => {
                self.code = self.code.saturating_sub(1);
                if self.pre == 0 && self.code == 0 {
                    self.blocks.inline.close_code();
                }
            }
            local_name!("pre")
            | local_name!("xmp")
            | local_name!("listing")
            | local_name!("plaintext") => {
                self.pre = self.pre.saturating_sub(1);
                if self.pre == 0 {
                    self.blocks.close_pre();
                }
            }
            local_name!("blockquote") => {
                self.blocks.flush();
                self.blocks.close_quote();
            }
            local_name!("ul") | local_name!("menu") | local_name!("dir") | local_name!("ol") => {
                self.blocks.flush();
                self.lists.pop();
                self.blocks.close_list();
            }
            local_name!("li") => {
                self.blocks.flush();
                self.blocks.close_item();
            }
            local_name!("table") => {
                if self.grids.last().is_some_and(|(table, _)| *table == id) {
                    if let Some((_, grid)) = self.grids.pop() {
                        self.blocks.inline.clear();
                        self.blocks.table(&grid);
                    }
                } else {
                    self.break_block();
                }
            }
            local_name!("td") | local_name!("th") if !self.grids.is_empty() => {
                let text = self.blocks.inline.take();
                if let Some((_, grid)) = self.grids.last_mut() {
                    grid.close_cell(text);
                }
            }
            local_name!("td") | local_name!("th") => self.break_block(),
            ref tag => {
                if heading(tag).is_some() || is_block(tag) {
                    self.break_block();
                    self.blocks.close_heading();
                }
            }
        }
    }

    /// In a table a block is a space: a cell is one line.
    fn break_block(&mut self) {
        if self.pre > 0 {
            self.blocks.verbatim_break();
        } else if self.grids.is_empty() {
            self.blocks.flush();
        } else {
            self.blocks.inline.space();
        }
    }

    fn image(&mut self, id: Id, element: &Element) {
        let alt = element.attr(&local_name!("alt")).unwrap_or_default().trim();
        if !self.markdown() || self.pre > 0 || !alt_has_meaning(self.source.dom, id, element, alt) {
            return;
        }
        self.blocks.inline.raw("(Image: ");
        self.blocks.inline.text(alt, false, self.flags, self.hidden);
        self.blocks.inline.raw(")");
    }
}
