//! Removes from the chosen part what is not prose: lists of links, teasers, lone headings.

use html5ever::local_name;

use super::measure::Measure;
use crate::html::dom::{Data, Dom, Id, Step};

/// Text in which a heading may be the title once more.
const HEAD: usize = 400;

/// Drops link lists, forms and the title's repetition under `top`.
pub(crate) fn clean(
    dom: &Dom,
    top: Id,
    left: &Measure,
    gone: &dyn Fn(Id) -> bool,
    title: &str,
    dropped: &mut [bool],
) {
    drop_clutter(dom, top, left, gone, title, dropped);
    drop_lone_headings(dom, top, gone, dropped);
}

fn drop_clutter(
    dom: &Dom,
    top: Id,
    left: &Measure,
    gone: &dyn Fn(Id) -> bool,
    title: &str,
    dropped: &mut [bool],
) {
    let mut walk = dom.walk(top);
    let mut seen_text = 0_usize;
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if gone(id) || dropped.get(id as usize).copied().unwrap_or(false) {
            walk.pass_over(id);
            continue;
        }
        if seen_text < HEAD
            && let Data::Text(text) = &dom.node(id).data
        {
            seen_text += text.trim().len();
        }
        if id == top || dom.element(id).is_none() {
            continue;
        }
        if is_clutter(dom, id, left) || (seen_text < HEAD && repeats_title(dom, id, title)) {
            if let Some(flag) = dropped.get_mut(id as usize) {
                *flag = true;
            }
            walk.pass_over(id);
        }
    }
}

/// A heading with nothing under it was that of something dropped.
fn drop_lone_headings(dom: &Dom, top: Id, gone: &dyn Fn(Id) -> bool, dropped: &mut [bool]) {
    let mut open: Option<(usize, Id)> = None;
    let mut lone = Vec::new();
    let mut in_heading = 0_usize;
    let mut walk = dom.walk(top);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) => {
                if gone(id) || dropped.get(id as usize).copied().unwrap_or(false) {
                    walk.pass_over(id);
                    walk.next();
                    continue;
                }
                if let Some(level) = level(dom, id) {
                    if let Some((above, heading)) = open
                        && level <= above
                    {
                        lone.push(heading);
                    }
                    open = Some((level, id));
                    in_heading += 1;
                } else if in_heading == 0 {
                    match &dom.node(id).data {
                        Data::Text(text) if open.is_some() && !text.trim().is_empty() => {
                            open = None;
                        }
                        Data::Element(element) if element.tag() == &local_name!("img") => {
                            open = None;
                        }
                        _ => {}
                    }
                }
            }
            Step::Leave(id) => {
                if level(dom, id).is_some() {
                    in_heading = in_heading.saturating_sub(1);
                }
            }
        }
    }
    lone.extend(open.map(|(_, heading)| heading));
    for id in lone {
        if let Some(flag) = dropped.get_mut(id as usize) {
            *flag = true;
        }
    }
}

fn level(dom: &Dom, id: Id) -> Option<usize> {
    Some(match *dom.tag(id) {
        local_name!("h1") => 1,
        local_name!("h2") => 2,
        local_name!("h3") => 3,
        local_name!("h4") => 4,
        local_name!("h5") => 5,
        local_name!("h6") => 6,
        _ => return None,
    })
}

fn is_clutter(dom: &Dom, id: Id, left: &Measure) -> bool {
    let (chars, density) = (left.chars(id), left.link_density(id));
    match *dom.tag(id) {
        local_name!("ul") | local_name!("ol") | local_name!("dl") => {
            let per_item = chars / left.items(id).max(1);
            density > 0.6 && per_item < 90 && left.prose(id) == 0
        }
        local_name!("div")
        | local_name!("section")
        | local_name!("aside")
        | local_name!("header") => {
            let links = density > 0.5
                && left.prose(id) * 4 < chars
                && left.commas(id) < 10
                && left.heads(id) < 2;
            let form = left.inputs(id) > 0 && left.paragraphs(id) < 2 && chars < 200;
            (links && chars > 0) || form
        }
        local_name!("p") => density > 0.9 && chars < 160 && chars > 0,
        local_name!("table") => density > 0.6 && left.prose(id) == 0 && left.heads(id) < 2,
        local_name!("form") => left.inputs(id) > 0 && left.paragraphs(id) < 3,
        _ => false,
    }
}

fn repeats_title(dom: &Dom, id: Id, title: &str) -> bool {
    if !matches!(*dom.tag(id), local_name!("h1") | local_name!("h2")) || title.is_empty() {
        return false;
    }
    let mut text = String::new();
    for step in dom.walk(id) {
        if let Step::Enter(id) = step
            && let Data::Text(part) = &dom.node(id).data
            && text.len() < 1024
        {
            text.push_str(part);
        }
    }
    let letters = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (heading, title) = (letters(&text), letters(title));
    heading.len() >= 4
        && (title.starts_with(&heading)
            || title.contains(&heading) && heading.len() * 2 > title.len())
}
