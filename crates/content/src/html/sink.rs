//! Receives the tree that html5ever builds.

use std::borrow::Cow;
use std::cell::{Ref, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use super::dom::{Data, Dom, Element, Id, NONE, Node, ROOT};

/// The arena under construction.
#[derive(Debug)]
pub(crate) struct Sink {
    dom: RefCell<Dom>,
}

/// The name of an element, borrowed from the arena.
#[derive(Debug)]
pub(crate) struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// What a node that is no element answers when asked for its name.
static NAMELESS: QualName = QualName {
    prefix: None,
    ns: ns!(),
    local: local_name!(""),
};

impl Sink {
    /// A sink with room for so many nodes.
    pub(crate) fn with_room(nodes: usize) -> Self {
        Self {
            dom: RefCell::new(Dom::with_room(nodes)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.dom.borrow().nodes.len()
    }

    fn push(&self, data: Data) -> Id {
        let nodes = &mut self.dom.borrow_mut().nodes;
        nodes.push(Node::new(data));
        Id::try_from(nodes.len() - 1).unwrap_or(NONE)
    }
}

fn edit(nodes: &mut [Node], id: Id, change: impl FnOnce(&mut Node)) {
    if let Some(node) = nodes.get_mut(id as usize) {
        change(node);
    }
}

fn links(nodes: &[Node], id: Id) -> (Id, Id, Id) {
    nodes.get(id as usize).map_or((NONE, NONE, NONE), |node| {
        (node.parent, node.prev, node.next)
    })
}

fn detach(nodes: &mut [Node], id: Id) {
    let (parent, prev, next) = links(nodes, id);
    edit(nodes, prev, |node| node.next = next);
    edit(nodes, next, |node| node.prev = prev);
    edit(nodes, parent, |node| {
        if node.first == id {
            node.first = next;
        }
        if node.last == id {
            node.last = prev;
        }
    });
    edit(nodes, id, |node| {
        (node.parent, node.prev, node.next) = (NONE, NONE, NONE);
    });
}

/// Puts `id` under `parent`, before `before` or at the end.
fn attach(nodes: &mut [Node], parent: Id, before: Id, id: Id) {
    detach(nodes, id);
    let prev = if before == NONE {
        nodes.get(parent as usize).map_or(NONE, |node| node.last)
    } else {
        links(nodes, before).1
    };
    edit(nodes, id, |node| {
        (node.parent, node.prev, node.next) = (parent, prev, before);
    });
    edit(nodes, prev, |node| node.next = id);
    edit(nodes, before, |node| node.prev = id);
    edit(nodes, parent, |node| {
        if prev == NONE {
            node.first = id;
        }
        if before == NONE {
            node.last = id;
        }
    });
}

fn insert(nodes: &mut Vec<Node>, parent: Id, before: Id, child: NodeOrText<Id>) {
    let id = match child {
        NodeOrText::AppendNode(id) => id,
        NodeOrText::AppendText(text) => {
            let prev = if before == NONE {
                nodes.get(parent as usize).map_or(NONE, |node| node.last)
            } else {
                links(nodes, before).1
            };
            if let Some(Node {
                data: Data::Text(old),
                ..
            }) = nodes.get_mut(prev as usize)
            {
                old.push_tendril(&text);
                return;
            }
            nodes.push(Node::new(Data::Text(text)));
            Id::try_from(nodes.len() - 1).unwrap_or(NONE)
        }
    };
    attach(nodes, parent, before, id);
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Dom;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Dom {
        self.dom.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name<'a> {
        Name(Ref::map(self.dom.borrow(), |dom| {
            dom.element(*target)
                .map_or(&NAMELESS, |element| &element.name)
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Id {
        let contents = if flags.template {
            self.push(Data::Document)
        } else {
            NONE
        };
        let integration_point = flags.mathml_annotation_xml_integration_point;
        let (is_style, is_base) = (
            name.local == local_name!("style"),
            name.local == local_name!("base"),
        );
        let id = self.push(Data::Element(Element {
            name,
            attrs,
            contents,
            integration_point,
        }));
        let dom = &mut *self.dom.borrow_mut();
        if is_style {
            dom.styles.push(id);
        }
        dom.has_base |= is_base;
        id
    }

    fn create_comment(&self, text: StrTendril) -> Id {
        self.push(Data::Comment(text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Id {
        self.push(Data::Comment(data))
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        insert(&mut self.dom.borrow_mut().nodes, *parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, prev_element: &Id, child: NodeOrText<Id>) {
        let parent = self.dom.borrow().node(*element).parent;
        if parent == NONE {
            self.append(prev_element, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Id) -> Id {
        self.dom
            .borrow()
            .element(*target)
            .map_or(ROOT, |element| element.contents)
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, new_node: NodeOrText<Id>) {
        let nodes = &mut self.dom.borrow_mut().nodes;
        let parent = links(nodes, *sibling).0;
        insert(nodes, parent, *sibling, new_node);
    }

    fn add_attrs_if_missing(&self, target: &Id, attrs: Vec<Attribute>) {
        edit(&mut self.dom.borrow_mut().nodes, *target, |node| {
            if let Data::Element(element) = &mut node.data {
                for attr in attrs.into_iter().take(256) {
                    if element.attrs.iter().all(|old| old.name != attr.name) {
                        element.attrs.push(attr);
                    }
                }
            }
        });
    }

    fn remove_from_parent(&self, target: &Id) {
        detach(&mut self.dom.borrow_mut().nodes, *target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        let nodes = &mut self.dom.borrow_mut().nodes;
        while let Some(child) = nodes
            .get(*node as usize)
            .map(|node| node.first)
            .filter(|&child| child != NONE)
        {
            attach(nodes, *new_parent, NONE, child);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Id) -> bool {
        self.dom
            .borrow()
            .element(*handle)
            .is_some_and(|element| element.integration_point)
    }

    fn allow_declarative_shadow_roots(&self, _: &Id) -> bool {
        false
    }
}
