//! The paragraph between the headline and the article, which many pages put outside of it.

use html5ever::local_name;

use super::measure::Measure;
use crate::html::dom::{Dom, Id, Step};

const MAX_LEADS: usize = 2;
/// A paragraph shorter than this is a date, a name or a caption.
const MIN_CHARS: usize = 70;
const MAX_CHARS: usize = 900;

/// Paragraphs after the last headline and before `top`, in order.
pub(crate) fn before(dom: &Dom, body: Id, top: Id, left: &Measure, dropped: &[bool]) -> Vec<Id> {
    let mut leads = Vec::new();
    let mut headed = false;
    let mut walk = dom.walk(body);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if id == top {
            return if headed { leads } else { Vec::new() };
        }
        if dropped.get(id as usize).copied().unwrap_or(false) {
            walk.pass_over(id);
            continue;
        }
        match *dom.tag(id) {
            local_name!("h1") => {
                headed = true;
                leads.clear();
            }
            local_name!("p")
            | local_name!("h2")
            | local_name!("div")
            | local_name!("blockquote")
            | local_name!("section") => {
                let chars = left.chars(id);
                let one = left.paragraphs(id) == 1 && (MIN_CHARS..=MAX_CHARS).contains(&chars);
                if headed && one && left.prose(id) * 10 >= chars * 8 && leads.len() < MAX_LEADS {
                    leads.push(id);
                    walk.pass_over(id);
                }
            }
            _ => {}
        }
    }
    Vec::new()
}
