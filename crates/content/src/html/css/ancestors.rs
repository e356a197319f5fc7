//! Which names occur among the ancestors of the element at hand: most selectors that cannot match are ruled out by one look.

use html5ever::local_name;

use crate::html::dom::Element;

/// A counting filter: a name that is not in it is not there; one that is may be.
#[derive(Debug)]
pub(crate) struct Ancestors(Vec<u16>);

const SLOTS: usize = 4096;

impl Ancestors {
    pub(crate) fn new() -> Self {
        Self(vec![0; SLOTS])
    }

    /// The slot of a name.
    pub(crate) fn slot(name: &str) -> u16 {
        let mut hash = 0x811c_9dc5_u32;
        for byte in name.bytes().take(64) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        ((hash ^ (hash >> 15)) as usize % SLOTS) as u16
    }

    pub(crate) fn may_have(&self, slot: u16) -> bool {
        self.0.get(usize::from(slot)).is_none_or(|count| *count > 0)
    }

    pub(crate) fn push(&mut self, element: &Element) {
        self.each(element, |count| count.saturating_add(1));
    }

    pub(crate) fn pop(&mut self, element: &Element) {
        // A counter that has reached its top stays there: it then rules nothing out.
        self.each(element, |count| {
            if count == u16::MAX {
                count
            } else {
                count.saturating_sub(1)
            }
        });
    }

    fn each(&mut self, element: &Element, change: impl Fn(u16) -> u16) {
        let id = element.attr(&local_name!("id"));
        for name in element.classes().chain(id).chain([&*element.name.local]) {
            if let Some(count) = self.0.get_mut(usize::from(Self::slot(name))) {
                *count = change(*count);
            }
        }
    }
}
