//! How much text, link text and prose each element holds.

use html5ever::local_name;

use crate::html::dom::{Data, Dom, Id, Step};
use crate::html::render::is_block;

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    chars: u32,
    links: u32,
    prose: u32,
    commas: u32,
    paragraphs: u32,
    items: u32,
    heads: u32,
    inputs: u32,
}

/// Sums for every element under one; a text node holds its own characters and commas.
#[derive(Debug)]
pub(crate) struct Measure {
    sums: Vec<Sum>,
    order: Vec<Id>,
}

/// A line this long, mostly not links, is prose.
const PROSE: u32 = 45;
/// Bytes that are counted together; none counts for more than two.
const PIECE: usize = 96;

impl Measure {
    /// Measures the subtree of `top` without what `skip` names.
    pub(crate) fn of(dom: &Dom, top: Id, skip: impl Fn(Id) -> bool) -> Self {
        Self::with(dom, top, skip, |_, text| count(text))
    }

    /// Measures what was measured before once more, with more left out. No text is read again.
    pub(crate) fn again(&self, dom: &Dom, top: Id, skip: impl Fn(Id) -> bool) -> Self {
        Self::with(dom, top, skip, |id, _| {
            let known = self.sum(id);
            (known.chars, known.commas)
        })
    }

    /// How many characters are under `top` without what `skip` names, counted until there are `enough`.
    pub(crate) fn chars_up_to(
        &self,
        enough: usize,
        dom: &Dom,
        top: Id,
        skip: impl Fn(Id) -> bool,
    ) -> usize {
        let mut chars = 0;
        let mut walk = dom.walk(top);
        while let Some(step) = walk.next() {
            let Step::Enter(id) = step else { continue };
            if id != top && skip(id) {
                walk.pass_over(id);
            } else if let Data::Text(_) = dom.node(id).data {
                chars += self.chars(id);
                if chars >= enough {
                    break;
                }
            }
        }
        chars
    }

    fn with(
        dom: &Dom,
        top: Id,
        skip: impl Fn(Id) -> bool,
        count: impl Fn(Id, &str) -> (u32, u32),
    ) -> Self {
        let mut sums = vec![Sum::default(); dom.nodes.len()];
        let mut order = Vec::new();
        let mut in_link = 0_usize;
        // The open block's own text and link text, in a stack of blocks.
        let mut lines: Vec<(u32, u32)> = vec![(0, 0)];
        let mut walk = dom.walk(top);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) => {
                    if id != top && skip(id) {
                        walk.pass_over(id);
                        walk.next();
                        continue;
                    }
                    match &dom.node(id).data {
                        Data::Text(text) => {
                            let (chars, commas) = count(id, text);
                            if let Some(own) = sums.get_mut(id as usize) {
                                (own.chars, own.commas) = (chars, commas);
                            }
                            if let (Some(sum), Some(line)) =
                                (sums.get_mut(dom.node(id).parent as usize), lines.last_mut())
                            {
                                sum.chars += chars;
                                sum.commas += commas;
                                line.0 += chars;
                                if in_link > 0 {
                                    sum.links += chars;
                                    line.1 += chars;
                                }
                            }
                        }
                        Data::Element(element) => {
                            order.push(id);
                            match *element.tag() {
                                local_name!("a") => in_link += 1,
                                ref tag if is_block(tag) => lines.push((0, 0)),
                                _ => {}
                            }
                        }
                        _ => {}
                    }
                }
                Step::Leave(id) => {
                    let Some(element) = dom.element(id) else {
                        continue;
                    };
                    let tag = element.tag();
                    let mut add = Sum::default();
                    match *tag {
                        local_name!("a") => in_link = in_link.saturating_sub(1),
                        ref tag if is_block(tag) => {
                            let (chars, links) = lines.pop().unwrap_or_default();
                            let weak = matches!(
                                *tag,
                                local_name!("li")
                                    | local_name!("td")
                                    | local_name!("th")
                                    | local_name!("dd")
                                    | local_name!("figcaption")
                            );
                            if chars >= PROSE && links * 2 < chars {
                                let own = chars - links;
                                add.prose += if weak { own * 2 / 3 } else { own };
                                add.paragraphs += 1;
                            }
                            match *tag {
                                local_name!("li") => add.items += 1,
                                local_name!("th") => add.heads += 1,
                                _ => {}
                            }
                        }
                        local_name!("input") | local_name!("select") | local_name!("textarea") => {
                            add.inputs += 1;
                        }
                        _ => {}
                    }
                    let parent = dom.node(id).parent;
                    let Some(own) = sums.get_mut(id as usize) else {
                        continue;
                    };
                    own.add(&add);
                    let own = *own;
                    if id != top
                        && let Some(above) = sums.get_mut(parent as usize)
                    {
                        above.add(&own);
                    }
                }
            }
        }
        Self { sums, order }
    }

    fn sum(&self, id: Id) -> Sum {
        self.sums.get(id as usize).copied().unwrap_or_default()
    }

    /// Elements in document order.
    pub(crate) fn order(&self) -> &[Id] {
        &self.order
    }

    pub(crate) fn chars(&self, id: Id) -> usize {
        self.sum(id).chars as usize
    }

    pub(crate) fn prose(&self, id: Id) -> usize {
        self.sum(id).prose as usize
    }

    pub(crate) fn commas(&self, id: Id) -> usize {
        self.sum(id).commas as usize
    }

    pub(crate) fn paragraphs(&self, id: Id) -> usize {
        self.sum(id).paragraphs as usize
    }

    pub(crate) fn items(&self, id: Id) -> usize {
        self.sum(id).items as usize
    }

    pub(crate) fn inputs(&self, id: Id) -> usize {
        self.sum(id).inputs as usize
    }

    /// Header cells of tables.
    pub(crate) fn heads(&self, id: Id) -> usize {
        self.sum(id).heads as usize
    }

    /// The share of text that is links.
    pub(crate) fn link_density(&self, id: Id) -> f32 {
        let sum = self.sum(id);
        if sum.chars == 0 {
            0.0
        } else {
            sum.links as f32 / sum.chars as f32
        }
    }
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.chars += other.chars;
        self.links += other.links;
        self.prose += other.prose;
        self.commas += other.commas;
        self.paragraphs += other.paragraphs;
        self.items += other.items;
        self.heads += other.heads;
        self.inputs += other.inputs;
    }
}

/// Visible characters, runs of white space counted once, and commas. Characters of dense scripts count double.
fn count(text: &str) -> (u32, u32) {
    let bytes = text.as_bytes();
    let Some((&first, rest)) = bytes.split_first() else {
        return (0, 0);
    };
    let mut chars = u32::from(weight_of(first));
    let mut commas = u32::from(first == b',');
    // Sums over so few bytes fit into one byte, and such sums are fast.
    for (piece, before) in rest.chunks(PIECE).zip(bytes.chunks(PIECE)) {
        let (mut weight, mut marks) = (0_u8, 0_u8);
        for (&byte, &before) in piece.iter().zip(before) {
            weight += weight_of(byte) + u8::from(is_space(byte) & !is_space(before));
            marks += u8::from(byte == b',');
        }
        chars += u32::from(weight);
        commas += u32::from(marks);
    }
    (chars, commas)
}

fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\n') | (byte == b'\t') | (byte == b'\r')
}

/// Continuation bytes of two-byte characters do not count; three-byte ones count twice.
fn weight_of(byte: u8) -> u8 {
    let counts = !is_space(byte) & (byte & 0xc0 != 0x80);
    u8::from(counts) + u8::from((0xe3..=0xef).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_join_and_dense_scripts_count_double() {
        assert_eq!(count("  a,  b\n\tc, "), (8, 2));
        assert_eq!(count("日本 é"), (6, 0));
        assert_eq!(count(""), (0, 0));
        assert_eq!(count(&"word, ".repeat(500)), (3000, 500));
        assert_eq!(count(&"語".repeat(500)), (1000, 0));
    }
}
