//! Decides for every node whether a person sees it.

use html5ever::local_name;

use super::css::{
    Ancestors, Blend, Decl, Declared, FontSize, Paint, Sheet, Style, parse_inline, parse_one,
    same_colour,
};
use super::dom::{Data, Dom, Element, Id, NONE, ROOT, Step};
use super::unseen::{gather, hidden_by_attribute, presentational, unrendered};
use crate::Flag;
use crate::page::Hidden;

/// Comparisons spent on custom properties in one document.
const MAX_LOOKUPS: usize = 8_000_000;

/// The colour of a link that no style gives another.
const LINK: Paint = Paint::Rgba(0.0, 0.0, 238.0, 1.0);

/// What a person sees of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mark {
    #[default]
    Seen,
    /// The node's own text is invisible; its children may not be.
    Muted,
    /// Neither the node nor anything in it.
    Gone,
}

/// A mark for every node of a document.
#[derive(Debug)]
pub(crate) struct Marks(Vec<Mark>);

impl Marks {
    #[inline]
    pub(crate) fn get(&self, id: Id) -> Mark {
        self.0.get(id as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, id: Id, mark: Mark) {
        if let Some(old) = self.0.get_mut(id as usize) {
            *old = mark;
        }
    }
}

/// What an element hands down to its children.
#[derive(Debug, Clone, Copy)]
struct Inherited {
    color: Paint,
    fill: Paint,
    ground: Paint,
    font: f32,
    opacity: f32,
    visible: bool,
    /// How many custom properties were in force before this element.
    customs: usize,
}

/// Marks every node; what cannot be seen goes to `hidden`.
pub(crate) fn mark(dom: &Dom, hidden: &mut Hidden) -> Marks {
    let mut pass = Pass {
        dom,
        sheet: collect_sheets(dom),
        marks: Marks(Vec::new()),
        customs: Vec::new(),
        found: Vec::new(),
        above: Ancestors::new(),
        faded: 0,
        shown: 0,
        lookups: 0,
        revealed: false,
        unsure: false,
    };
    let mut found = Hidden::default();
    pass.run(Paint::WHITE, &mut found);
    // A page that shows nothing at all waits for its script to show it; many do against flicker and framing.
    if pass.shown == 0 && dom.find(ROOT, &local_name!("script")).is_some() {
        found = Hidden::default();
        pass.revealed = true;
        pass.run(Paint::WHITE, &mut found);
    }
    // A page most of whose text would be white on white has its dark ground from a style sheet that is not here.
    if pass.faded > pass.shown && has_linked_sheet(dom) {
        found = Hidden::default();
        pass.unsure = true;
        pass.run(Paint::Unknown, &mut found);
    }
    if pass.sheet.limited || pass.lookups >= MAX_LOOKUPS {
        found.flags.insert(Flag::StyleLimit);
    }
    hidden.absorb(found);
    pass.marks
}

fn has_linked_sheet(dom: &Dom) -> bool {
    dom.nodes
        .iter()
        .filter_map(|node| node.element())
        .any(|element| {
            element.tag() == &local_name!("link")
                && element
                    .attr(&local_name!("rel"))
                    .is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
        })
}

fn collect_sheets(dom: &Dom) -> Sheet {
    let mut sheet = Sheet::default();
    for &id in &dom.styles {
        let node = dom.node(id);
        let Some(element) = node.element().filter(|_| node.parent != NONE) else {
            continue;
        };
        let media = element
            .attr(&local_name!("media"))
            .unwrap_or_default()
            .to_ascii_lowercase();
        if !super::css::media_applies(&media) {
            continue;
        }
        let mut child = node.first;
        while let Data::Text(text) = &dom.node(child).data {
            sheet.add(text);
            child = dom.node(child).next;
        }
    }
    sheet
}

struct Pass<'a> {
    dom: &'a Dom,
    sheet: Sheet,
    marks: Marks,
    /// Custom properties in force, innermost last.
    customs: Vec<(String, String)>,
    found: Vec<(u32, usize)>,
    above: Ancestors,
    /// Text that is lost because of its colour alone, and text that is seen.
    faded: usize,
    shown: usize,
    /// Custom properties looked at.
    lookups: usize,
    /// What hides the page as a whole is undone.
    revealed: bool,
    /// The ground of the page as a whole is not to be relied on.
    unsure: bool,
}

impl Pass<'_> {
    fn run(&mut self, ground: Paint, hidden: &mut Hidden) {
        self.marks = Marks(vec![Mark::Seen; self.dom.nodes.len()]);
        (self.faded, self.shown) = (0, 0);
        let start = Inherited {
            color: Paint::BLACK,
            fill: Paint::Inherit,
            ground,
            font: 16.0,
            opacity: 1.0,
            visible: true,
            customs: 0,
        };
        let mut stack = vec![start];
        let has_rules = !self.sheet.is_empty();
        let dom = self.dom;
        let mut walk = dom.walk(ROOT);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) => match &dom.node(id).data {
                    Data::Document => {}
                    Data::Comment(text) => {
                        hidden.add(Flag::Comment, text);
                        self.marks.set(id, Mark::Gone);
                    }
                    Data::Text(text) => {
                        let length = text.trim_ascii().len();
                        if self.marks.get(dom.node(id).parent) == Mark::Muted {
                            self.marks.set(id, Mark::Gone);
                            hidden.add(Flag::HiddenCss, text);
                            if stack
                                .last()
                                .is_some_and(|around| around.visible && around.font >= 2.0)
                            {
                                self.faded += length;
                            }
                        } else {
                            self.shown += length;
                        }
                    }
                    Data::Element(element) => {
                        let outer = stack.last().copied().unwrap_or(start);
                        match self.element(id, element, outer) {
                            Seeing::Yes(inner, mark) => {
                                self.marks.set(id, mark);
                                stack.push(inner);
                                if has_rules {
                                    self.above.push(element);
                                }
                            }
                            Seeing::No(reason) => {
                                self.marks.set(id, Mark::Gone);
                                if let Some(flag) = reason {
                                    gather(dom, id, flag, hidden);
                                }
                                walk.pass_over(id);
                                stack.push(Inherited {
                                    customs: self.customs.len(),
                                    ..outer
                                });
                            }
                        }
                    }
                },
                Step::Leave(id) => {
                    let Some(element) = dom.element(id) else {
                        continue;
                    };
                    if let Some(inner) = stack.pop() {
                        self.customs.truncate(inner.customs);
                    }
                    if has_rules && self.marks.get(id) != Mark::Gone {
                        self.above.pop(element);
                    }
                }
            }
        }
    }

    fn element(&mut self, id: Id, element: &Element, outer: Inherited) -> Seeing {
        if let Some(reason) = unrendered(self.dom, id, element) {
            return Seeing::No(reason);
        }
        if hidden_by_attribute(element) {
            return Seeing::No(Some(Flag::HiddenAttribute));
        }
        let mut inner = Inherited {
            customs: self.customs.len(),
            ..outer
        };
        let inline = element
            .attr(&local_name!("style"))
            .map(parse_inline)
            .unwrap_or_default();
        let attributes = presentational(element);
        if self.sheet.is_empty() && inline.is_empty() && attributes.is_empty() {
            if element.tag() == &local_name!("a") && element.attr(&local_name!("href")).is_some() {
                inner.color = LINK;
            }
            return Seeing::Yes(inner, mute(&inner));
        }
        let whole_page = matches!(*element.tag(), local_name!("html") | local_name!("body"));
        let Some(mut style) = self.cascade(id, &attributes, &inline) else {
            if element.tag() == &local_name!("a") {
                inner.color = LINK;
            }
            if self.unsure && whole_page {
                inner.ground = Paint::Unknown;
            }
            return Seeing::Yes(inner, mute(&inner));
        };
        if self.revealed && whole_page {
            let Style {
                color,
                fill,
                ground,
                font,
                ..
            } = style;
            style = Style {
                color,
                fill,
                ground,
                font,
                ..Style::default()
            };
        }
        if style.gone() || blended_away(&style, outer.ground) {
            self.customs.truncate(inner.customs);
            return Seeing::No(Some(Flag::HiddenCss));
        }
        inner.opacity = outer.opacity * style.opacity.unwrap_or(1.0);
        if inner.opacity <= 0.06 {
            self.customs.truncate(inner.customs);
            return Seeing::No(Some(Flag::HiddenCss));
        }
        inner.visible = style.visible.unwrap_or(outer.visible);
        inner.font = match style.font {
            Some(FontSize::Px(size)) => size,
            Some(FontSize::Times(by)) => by * outer.font,
            None => outer.font,
        };
        inner.color = match style.color {
            Some(Paint::Inherit) => outer.color,
            Some(paint) => paint,
            None if element.tag() == &local_name!("a") => LINK,
            None => outer.color,
        };
        inner.fill = match style.fill {
            Some(Paint::Inherit) | None => outer.fill,
            Some(paint) => paint,
        };
        inner.ground = style
            .ground
            .map_or(outer.ground, |paint| paint.over(outer.ground));
        if self.unsure && whole_page {
            inner.ground = Paint::Unknown;
        }
        let letters_show_ground = style.text_clip == Some(true)
            && style.ground.is_some_and(|paint| paint != Paint::CLEAR);
        if letters_show_ground {
            inner.ground = outer.ground;
            inner.color = Paint::Unknown;
            inner.fill = Paint::Unknown;
        }
        Seeing::Yes(inner, mute(&inner))
    }

    /// The element's own style; nothing if nothing is declared for it.
    fn cascade(&mut self, id: Id, attributes: &[Declared], inline: &[Declared]) -> Option<Style> {
        let mut found = std::mem::take(&mut self.found);
        self.sheet.declared(self.dom, id, &self.above, &mut found);
        if found.is_empty() && attributes.is_empty() && inline.is_empty() {
            self.found = found;
            return None;
        }
        let blocks = found.iter().map(|(_, index)| self.sheet.block(*index));
        let all: Vec<&Declared> = attributes
            .iter()
            .chain(blocks.flatten())
            .chain(inline)
            .collect();
        for declared in &all {
            if let Decl::Custom(custom) = &declared.decl
                && self.customs.len() < 4096
            {
                self.customs.push((**custom).clone());
            }
        }
        let mut style = Style::default();
        for important in [false, true] {
            for declared in all
                .iter()
                .filter(|declared| declared.important == important)
            {
                match &declared.decl {
                    Decl::Deferred(deferred) => {
                        let (property, value) = &**deferred;
                        let value = if self.lookups < MAX_LOOKUPS {
                            self.lookups += self.customs.len() + 1;
                            substitute(value, &self.customs)
                        } else {
                            String::new()
                        };
                        for decl in parse_one(property, &value) {
                            style.apply(&decl);
                        }
                    }
                    decl => style.apply(decl),
                }
            }
        }
        self.found = found;
        Some(style)
    }
}

enum Seeing {
    Yes(Inherited, Mark),
    /// Not at all; with the flag, if what is lost is worth a look.
    No(Option<Flag>),
}

fn mute(inner: &Inherited) -> Mark {
    let paint = if inner.fill == Paint::Inherit {
        inner.color
    } else {
        inner.fill
    };
    if !inner.visible || inner.font.abs() < 2.0 || same_colour(paint, inner.ground) {
        Mark::Muted
    } else {
        Mark::Seen
    }
}

fn blended_away(style: &Style, ground: Paint) -> bool {
    match style.blended {
        Some(Blend::Lighten) => same_colour(Paint::WHITE, ground),
        Some(Blend::Darken) => same_colour(Paint::BLACK, ground),
        _ => false,
    }
}

/// Puts the values of custom properties in the place of `var(…)`, a few levels deep.
fn substitute(value: &str, customs: &[(String, String)]) -> String {
    let mut text = value.to_owned();
    for _ in 0..8 {
        let Some(start) = text.find("var(") else {
            break;
        };
        let Some(inside) = text.get(start + 4..) else {
            break;
        };
        let mut depth = 1_usize;
        let Some(length) = inside.find(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        }) else {
            break;
        };
        let call = inside.get(..length).unwrap_or_default();
        let (name, fallback) = call.split_once(',').unwrap_or((call, ""));
        let known = customs
            .iter()
            .rev()
            .find(|(known, _)| known == name.trim())
            .map(|(_, value)| value.as_str());
        let put = known.unwrap_or(fallback.trim()).to_owned();
        text.replace_range(start..start + 4 + length + 1, &put);
        if text.len() > 1024 {
            return String::new();
        }
    }
    text
}
