//! Selectors of the simple kinds, matched right to left without backtracking.

mod parse;

use html5ever::{LocalName, local_name};

use super::ancestors::Ancestors;
use crate::html::dom::{Dom, Element, Id, NONE, ROOT};

pub(crate) use parse::parse_list;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Tag(LocalName),
    Id(String),
    Class(String),
    Attr {
        name: LocalName,
        op: char,
        value: String,
    },
    Root,
    First,
    Last,
    Only,
    Nth {
        a: i32,
        b: i32,
    },
    AnyOf(Vec<Compound>),
    NoneOf(Vec<Compound>),
    Never,
}

/// Tests that one element must pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Compound(Vec<Test>);

/// Compounds from right to left, each with the way to the one on its left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    subject: Compound,
    rest: Vec<(Combinator, Compound)>,
    pub(crate) specificity: u32,
    /// How much a single try may take.
    cost: usize,
    /// Names that must be among the ancestors.
    needs: Vec<u16>,
}

/// Where to file a selector: what its subject must at least have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Id(&'a str),
    Class(&'a str),
    Tag(&'a LocalName),
    Any,
}

const MAX_STEPS: usize = 1024;
/// Siblings that are counted for `:nth-child`.
const NTH_LIMIT: i32 = 256;
/// What is looked at of an attribute's value.
const MAX_VALUE: usize = 16 * 1024;

impl Compound {
    fn specificity(&self) -> u32 {
        let of = |test: &Test| match test {
            Test::Id(_) => 1 << 16,
            Test::Tag(_) => 1,
            Test::AnyOf(inner) | Test::NoneOf(inner) => {
                inner.iter().map(Self::specificity).max().unwrap_or(0)
            }
            Test::Never => 0,
            _ => 1 << 8,
        };
        self.0.iter().map(of).sum()
    }

    /// A name that an element must have to pass.
    fn name(&self) -> Option<&str> {
        self.0.iter().find_map(|test| match test {
            Test::Id(name) | Test::Class(name) => Some(name.as_str()),
            Test::Tag(tag) => Some(&**tag),
            _ => None,
        })
    }

    fn matches(&self, dom: &Dom, id: Id) -> bool {
        dom.element(id)
            .is_some_and(|element| self.0.iter().all(|test| test.matches(dom, id, element)))
    }
}

impl Test {
    fn matches(&self, dom: &Dom, id: Id, element: &Element) -> bool {
        match self {
            Self::Tag(tag) => element.name.local == *tag,
            Self::Id(wanted) => element.attr(&local_name!("id")) == Some(wanted),
            Self::Class(wanted) => element.classes().any(|class| class == wanted),
            Self::Attr { name, op, value } => element
                .attr(name)
                .is_some_and(|have| attribute_matches(have, *op, value)),
            Self::Root => dom.node(id).parent == ROOT,
            Self::First => dom.prev_element(id) == NONE,
            Self::Last => next_element(dom, id) == NONE,
            Self::Only => dom.prev_element(id) == NONE && next_element(dom, id) == NONE,
            Self::Nth { a, b } => nth(dom, id, *a, *b),
            Self::AnyOf(compounds) => compounds.iter().any(|compound| compound.matches(dom, id)),
            Self::NoneOf(compounds) => !compounds.iter().any(|compound| compound.matches(dom, id)),
            Self::Never => false,
        }
    }
}

fn next_element(dom: &Dom, id: Id) -> Id {
    let mut at = dom.node(id).next;
    while at != NONE && dom.element(at).is_none() {
        at = dom.node(at).next;
    }
    at
}

fn nth(dom: &Dom, id: Id, a: i32, b: i32) -> bool {
    let mut index = 1;
    let mut at = dom.prev_element(id);
    while at != NONE && index < NTH_LIMIT {
        index += 1;
        at = dom.prev_element(at);
    }
    if a == 0 {
        index == b
    } else {
        (index - b) % a == 0 && (index - b) / a >= 0
    }
}

fn attribute_matches(have: &str, op: char, value: &str) -> bool {
    let have = have
        .get(..have.floor_char_boundary(MAX_VALUE))
        .unwrap_or_default();
    match op {
        ' ' => true,
        '=' => have == value,
        '~' => have.split_ascii_whitespace().any(|word| word == value),
        '|' => {
            have == value
                || have
                    .strip_prefix(value)
                    .is_some_and(|rest| rest.starts_with('-'))
        }
        '^' => !value.is_empty() && have.starts_with(value),
        '$' => !value.is_empty() && have.ends_with(value),
        '*' => !value.is_empty() && have.contains(value),
        _ => false,
    }
}

impl Selector {
    pub(crate) fn key(&self) -> Key<'_> {
        let mut key = Key::Any;
        for test in &self.subject.0 {
            match test {
                Test::Id(id) => return Key::Id(id),
                Test::Class(class) if !matches!(key, Key::Class(_)) => key = Key::Class(class),
                Test::Tag(tag) if key == Key::Any => key = Key::Tag(tag),
                _ => {}
            }
        }
        key
    }

    /// Whether some test can never be passed.
    pub(crate) fn is_dead(&self) -> bool {
        let dead = |compound: &Compound| compound.0.contains(&Test::Never);
        dead(&self.subject) || self.rest.iter().any(|(_, compound)| dead(compound))
    }

    /// Whether the ancestors could be the right ones.
    pub(crate) fn may_match(&self, above: &Ancestors) -> bool {
        self.needs.iter().all(|slot| above.may_have(*slot))
    }

    /// Whether the element matches. Each run of compounds joined by anything but descent is tried at every ancestor,
    /// nearest first; the nearest that fits leaves most room for the rest, so no choice is ever taken back.
    pub(crate) fn matches(&self, dom: &Dom, id: Id, work: &mut usize) -> bool {
        *work += self.cost;
        if !self.subject.matches(dom, id) {
            return false;
        }
        let mut at = id;
        let mut rest = self.rest.as_slice();
        // The run that begins at the subject has only one place to be.
        match run(dom, at, rest, work) {
            Some((end, tail)) => (at, rest) = (end, tail),
            None => return false,
        }
        while let Some(((_, compound), tail)) = rest.split_first() {
            let mut found = None;
            for up in dom.ancestors(at).take(MAX_STEPS) {
                *work += 1;
                if compound.matches(dom, up)
                    && let Some(end) = run(dom, up, tail, work)
                {
                    found = Some(end);
                    break;
                }
            }
            match found {
                Some((end, tail)) => (at, rest) = (end, tail),
                None => return false,
            }
        }
        true
    }
}

/// Follows the combinators other than descent from `at`; gives where that ended and what is left.
fn run<'a>(
    dom: &Dom,
    mut at: Id,
    mut rest: &'a [(Combinator, Compound)],
    work: &mut usize,
) -> Option<(Id, &'a [(Combinator, Compound)])> {
    while let Some(((combinator, compound), tail)) = rest.split_first() {
        match combinator {
            Combinator::Descendant => break,
            Combinator::Child => at = dom.node(at).parent,
            Combinator::Next => at = dom.prev_element(at),
            Combinator::Later => {
                at = dom.prev_element(at);
                let mut steps = 0;
                while at != NONE && !compound.matches(dom, at) && steps < MAX_STEPS {
                    at = dom.prev_element(at);
                    steps += 1;
                }
                *work += steps;
            }
        }
        *work += 1;
        if !compound.matches(dom, at) {
            return None;
        }
        rest = tail;
    }
    Some((at, rest))
}
