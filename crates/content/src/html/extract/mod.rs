//! Finds the main part of a page: boilerplate is set aside, then the smallest element that holds most of the prose is
//! taken, and what is left in it of link lists and teasers goes as well. In doubt the whole page is kept.

mod clean;
mod hints;
mod lead;
mod measure;

use html5ever::local_name;

use super::dom::{Dom, Id, NONE};
use super::seen::{Mark, Marks};
use measure::Measure;

/// The part of a page to be written.
#[derive(Debug)]
pub(crate) struct Main {
    /// Subtrees, in document order.
    pub(crate) tops: Vec<Id>,
    dropped: Vec<bool>,
    /// Something other than the whole page was chosen.
    pub(crate) narrowed: bool,
}

impl Main {
    fn whole(dom: &Dom, body: Id) -> Self {
        Self {
            tops: vec![body],
            dropped: vec![false; dom.nodes.len()],
            narrowed: false,
        }
    }

    pub(crate) fn is_dropped(&self, id: Id) -> bool {
        self.dropped.get(id as usize).copied().unwrap_or(false)
    }
}

/// Prose below which a page is too small to say what is main in it.
const SMALL: usize = 140;

/// Characters below which nothing worth reading is left.
const FEW: usize = 25;

/// Chooses the main part of the page under `body`.
pub(crate) fn main_part(dom: &Dom, marks: &Marks, body: Id, title: &str) -> Main {
    let gone = |id: Id| marks.get(id) == Mark::Gone;
    let mut dropped = vec![false; dom.nodes.len()];
    let whole = Measure::of(dom, body, gone);
    hints::set_aside(dom, body, &whole, &gone, &mut dropped);
    let left = whole.again(dom, body, |id| gone(id) || is_set(&dropped, id));
    // If next to nothing is left, the hints were wrong: better too much than nothing.
    let lost = whole.chars(body) > left.chars(body);
    let little = left.chars(body) < 60 || left.chars(body) * 20 < whole.chars(body);
    if lost && little && left.prose(body) < SMALL {
        return Main::whole(dom, body);
    }
    let top = choose(dom, body, &left, &dropped);
    clean::clean(dom, top, &left, &gone, title, &mut dropped);
    let after = whole.chars_up_to(FEW, dom, top, |id| gone(id) || is_set(&dropped, id));
    if after < FEW && whole.chars(body) > after {
        return Main::whole(dom, body);
    }
    let narrowed = top != body || dropped.contains(&true);
    let mut tops = lead::before(dom, body, top, &left, &dropped);
    tops.push(top);
    Main {
        tops,
        dropped,
        narrowed,
    }
}

fn is_set(dropped: &[bool], id: Id) -> bool {
    dropped.get(id as usize).copied().unwrap_or(false)
}

/// Goes down from the body to the smallest element with most of the prose.
fn choose(dom: &Dom, body: Id, left: &Measure, dropped: &[bool]) -> Id {
    let total = left.prose(body);
    if total < SMALL {
        return body;
    }
    let mut at = marked(dom, body, left, dropped).unwrap_or(body);
    loop {
        let here = left.prose(at);
        let mut best = (0, NONE);
        for child in dom.children(at) {
            if dom.element(child).is_some() && !is_set(dropped, child) && left.prose(child) > best.0
            {
                best = (left.prose(child), child);
            }
        }
        let (prose, child) = best;
        let descends = child != NONE
            && matches!(
                *dom.tag(child),
                local_name!("div")
                    | local_name!("section")
                    | local_name!("article")
                    | local_name!("main")
                    | local_name!("center")
                    | local_name!("form")
                    | local_name!("table")
                    | local_name!("tbody")
                    | local_name!("tr")
                    | local_name!("td")
                    | local_name!("span")
                    | local_name!("font")
            );
        if !descends || prose * 100 < here * 80 {
            return at;
        }
        at = child;
    }
}

/// An element that says of itself that it is the article.
fn marked(dom: &Dom, body: Id, left: &Measure, dropped: &[bool]) -> Option<Id> {
    let total = left.prose(body);
    let mut best: Option<(u32, Id)> = None;
    for &id in left.order() {
        let Some(element) = dom.element(id) else {
            continue;
        };
        if is_set(dropped, id) || left.prose(id) * 100 < total * 35 {
            continue;
        }
        let rank = hints::rank(element);
        if rank > 0 && best.is_none_or(|(old, _)| rank > old) {
            best = Some((rank, id));
        }
    }
    best.map(|(_, id)| id)
}
