//! A document as one arena: nodes know each other by index, walks need no stack, and dropping needs no recursion.

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

/// The index of a node.
pub(crate) type Id = u32;
/// No node.
pub(crate) const NONE: Id = Id::MAX;
/// The document itself.
pub(crate) const ROOT: Id = 0;

#[derive(Debug)]
pub(crate) enum Data {
    Document,
    Element(Element),
    Text(StrTendril),
    Comment(StrTendril),
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: QualName,
    pub(crate) attrs: Vec<Attribute>,
    /// Where a template keeps its children.
    pub(crate) contents: Id,
    pub(crate) integration_point: bool,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Id,
    pub(crate) first: Id,
    pub(crate) last: Id,
    pub(crate) prev: Id,
    pub(crate) next: Id,
    pub(crate) data: Data,
}

impl Node {
    pub(crate) const fn new(data: Data) -> Self {
        Self {
            parent: NONE,
            first: NONE,
            last: NONE,
            prev: NONE,
            next: NONE,
            data,
        }
    }

    pub(crate) fn element(&self) -> Option<&Element> {
        match &self.data {
            Data::Element(element) => Some(element),
            _ => None,
        }
    }
}

impl Element {
    pub(crate) fn attr(&self, name: &LocalName) -> Option<&str> {
        self.attrs
            .iter()
            .find(|attr| attr.name.local == *name)
            .map(|attr| &*attr.value)
    }

    pub(crate) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }

    /// The tag's name if it is an HTML element.
    pub(crate) fn tag(&self) -> &LocalName {
        const FOREIGN: &LocalName = &local_name!("svg");
        if self.is_html() {
            &self.name.local
        } else {
            FOREIGN
        }
    }

    /// Class names, as many as any real element has.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &str> {
        let names = self.attr(&local_name!("class")).unwrap_or_default();
        names
            .get(..names.floor_char_boundary(4096))
            .unwrap_or_default()
            .split_ascii_whitespace()
            .take(128)
    }
}

/// All nodes of a document. Unknown indices read as an empty, unlinked node.
#[derive(Debug)]
pub(crate) struct Dom {
    pub(crate) nodes: Vec<Node>,
    /// Elements named `style` in the order of the source, wherever they ended up.
    pub(crate) styles: Vec<Id>,
    /// Whether there was an element named `base`.
    pub(crate) has_base: bool,
    nothing: Node,
}

/// What an iterative walk meets. Texts and comments are entered and not left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Enter(Id),
    Leave(Id),
}

impl Dom {
    /// An empty document with room for so many nodes.
    pub(crate) fn with_room(nodes: usize) -> Self {
        let mut room = Vec::with_capacity(nodes.max(1));
        room.push(Node::new(Data::Document));
        Self {
            nodes: room,
            styles: Vec::new(),
            has_base: false,
            nothing: Node::new(Data::Document),
        }
    }

    #[inline]
    pub(crate) fn node(&self, id: Id) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&self.nothing)
    }

    pub(crate) fn element(&self, id: Id) -> Option<&Element> {
        self.node(id).element()
    }

    /// The name of an HTML element, `svg` for any foreign one, the empty name for what is no element.
    pub(crate) fn tag(&self, id: Id) -> &LocalName {
        const EMPTY: &LocalName = &local_name!("");
        self.element(id).map_or(EMPTY, Element::tag)
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(self.node(id).first), |&child| {
            Some(self.node(child).next)
        })
        .take_while(|&child| child != NONE)
    }

    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(self.node(id).parent), |&up| Some(self.node(up).parent))
            .take_while(|&up| up != NONE)
    }

    /// The element before this one among its siblings, if it is not too far.
    pub(crate) fn prev_element(&self, id: Id) -> Id {
        let mut at = self.node(id).prev;
        let mut steps = 0;
        while at != NONE && self.element(at).is_none() {
            steps += 1;
            if steps > 256 {
                return NONE;
            }
            at = self.node(at).prev;
        }
        at
    }

    /// Walks the subtree of `top` in document order; `Walk::pass_over` leaves out the children of the node just entered.
    pub(crate) fn walk(&self, top: Id) -> Walk<'_> {
        Walk {
            dom: self,
            top,
            next: Some(Step::Enter(top)),
        }
    }

    pub(crate) fn find(&self, top: Id, tag: &LocalName) -> Option<Id> {
        self.walk(top).find_map(|step| match step {
            Step::Enter(id) if self.tag(id) == tag => Some(id),
            _ => None,
        })
    }
}

#[derive(Debug)]
pub(crate) struct Walk<'a> {
    dom: &'a Dom,
    top: Id,
    next: Option<Step>,
}

impl Walk<'_> {
    /// Leaves out what is below the node that was entered last.
    pub(crate) fn pass_over(&mut self, entered: Id) {
        self.next = Some(Step::Leave(entered));
    }

    fn after(&self, id: Id, node: &Node) -> Option<Step> {
        if id == self.top {
            return None;
        }
        match (node.next, node.parent) {
            (NONE, NONE) => None,
            (NONE, parent) => Some(Step::Leave(parent)),
            (next, _) => Some(Step::Enter(next)),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(id) => {
                let node = self.dom.node(id);
                match (node.first, &node.data) {
                    (NONE, Data::Text(_) | Data::Comment(_)) => self.after(id, node),
                    (NONE, _) => Some(Step::Leave(id)),
                    (child, _) => Some(Step::Enter(child)),
                }
            }
            Step::Leave(id) => self.after(id, self.dom.node(id)),
        };
        Some(step)
    }
}
