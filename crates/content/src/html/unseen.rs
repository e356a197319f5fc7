//! What is out of sight by its nature: elements that are not drawn, attributes that hide, and the text in both.

use html5ever::{local_name, ns};

use super::css::{Decl, Declared, Paint, parse_one};
use super::dom::{Data, Dom, Element, Id, NONE, Step};
use crate::Flag;
use crate::page::Hidden;

/// Whether an attribute of its own hides the element.
pub(crate) fn hidden_by_attribute(element: &Element) -> bool {
    element.attrs.iter().any(|attr| match attr.name.local {
        local_name!("hidden") => element.is_html(),
        local_name!("inert") => true,
        local_name!("aria-hidden") => attr.value.trim().eq_ignore_ascii_case("true"),
        local_name!("class") => hidden_by_convention(&attr.value),
        _ => false,
    })
}

/// Whether a class says so by a name that the common style libraries agree on. Their sheets are mostly not in the page,
/// so the name is all there is to see.
fn hidden_by_convention(classes: &str) -> bool {
    let names = || classes.split_ascii_whitespace();
    let for_ears_only = names().any(|name| {
        matches!(
            name,
            "sr-only" | "visually-hidden" | "visuallyhidden" | "screen-reader-text"
        )
    });
    let not_shown = names().any(|name| {
        matches!(
            name,
            "hidden" | "d-none" | "is-hidden" | "u-hidden" | "tw-hidden"
        )
    });
    // `hidden md:block` and `d-none d-lg-flex` are shown on wide screens.
    let on_wide_screens = || {
        names().any(|name| {
            name.contains(':')
                || name
                    .strip_prefix("d-")
                    .is_some_and(|rest| rest.contains('-'))
        })
    };
    for_ears_only || (not_shown && !on_wide_screens())
}

/// Colours and sizes that are given by attributes of their own.
pub(crate) fn presentational(element: &Element) -> Vec<Declared> {
    let mut out = Vec::new();
    let mut put = |decl| {
        out.push(Declared {
            decl,
            important: false,
        });
    };
    for attr in &element.attrs {
        let value = &*attr.value;
        if element.is_html() {
            match attr.name.local {
                local_name!("color") if element.tag() == &local_name!("font") => {
                    Paint::attribute(value)
                        .into_iter()
                        .for_each(|paint| put(Decl::Color(paint)));
                }
                local_name!("text") if element.tag() == &local_name!("body") => {
                    Paint::attribute(value)
                        .into_iter()
                        .for_each(|paint| put(Decl::Color(paint)));
                }
                local_name!("bgcolor") => {
                    Paint::attribute(value)
                        .into_iter()
                        .for_each(|paint| put(Decl::Ground(paint)));
                }
                local_name!("background") => put(Decl::Ground(Paint::Unknown)),
                _ => {}
            }
        } else if matches!(
            &*attr.name.local,
            "opacity"
                | "fill"
                | "visibility"
                | "display"
                | "font-size"
                | "transform"
                | "color"
                | "clip-path"
        ) {
            parse_one(&attr.name.local, value)
                .into_iter()
                .for_each(&mut put);
        } else if &*attr.name.local == "fill-opacity"
            && value.trim().parse::<f32>().is_ok_and(|by| by <= 0.06)
        {
            put(Decl::Fill(Paint::CLEAR));
        }
    }
    out
}

/// Elements that browsers do not draw. The inner option says whether their text deserves a look.
pub(crate) fn unrendered(dom: &Dom, id: Id, element: &Element) -> Option<Option<Flag>> {
    if !element.is_html() {
        return foreign(element);
    }
    match *element.tag() {
        local_name!("script")
        | local_name!("style")
        | local_name!("link")
        | local_name!("base")
        | local_name!("title")
        | local_name!("input")
        | local_name!("select")
        | local_name!("textarea")
        | local_name!("param")
        | local_name!("source")
        | local_name!("track")
        | local_name!("map")
        | local_name!("area")
        | local_name!("embed")
        | local_name!("frame")
        | local_name!("frameset")
        | local_name!("progress")
        | local_name!("meter") => Some(None),
        local_name!("meta") => Some(Some(Flag::Metadata)),
        local_name!("template")
        | local_name!("noscript")
        | local_name!("noframes")
        | local_name!("noembed")
        | local_name!("datalist")
        | local_name!("rp") => Some(Some(Flag::HiddenElement)),
        local_name!("dialog") if element.attr(&local_name!("open")).is_none() => {
            Some(Some(Flag::HiddenElement))
        }
        local_name!("iframe")
        | local_name!("object")
        | local_name!("canvas")
        | local_name!("video")
        | local_name!("audio")
        | local_name!("applet") => Some(Some(Flag::FallbackContent)),
        // A question that opens its answer is often a button in a heading; other buttons do nothing for a reader.
        local_name!("button") => {
            let around = dom.tag(dom.node(id).parent);
            let heads = matches!(
                &**around,
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dt" | "summary"
            );
            (!heads).then_some(None)
        }
        _ => None,
    }
}

fn foreign(element: &Element) -> Option<Option<Flag>> {
    if element.name.ns == ns!(mathml) {
        return matches!(
            &*element.name.local,
            "annotation" | "annotation-xml" | "mphantom"
        )
        .then_some(Some(Flag::HiddenForeign));
    }
    match &*element.name.local {
        "svg" | "g" | "text" | "tspan" | "textPath" | "a" | "switch" => None,
        "script" | "style" => Some(None),
        _ => Some(Some(Flag::HiddenForeign)),
    }
}

/// Names of `meta` elements whose content is for machines.
const TECHNICAL: &[&str] = &[
    "viewport",
    "robots",
    "googlebot",
    "bingbot",
    "referrer",
    "generator",
    "rating",
];

/// Collects the text of a subtree that nobody sees, and what is written in the attributes of `meta`.
pub(crate) fn gather(dom: &Dom, top: Id, flag: Flag, hidden: &mut Hidden) {
    if let Some(element) = dom.element(top)
        && element.tag() == &local_name!("meta")
    {
        let name = element
            .attr(&local_name!("name"))
            .or_else(|| element.attr(&local_name!("property")));
        let described = name.is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            name.ends_with("description")
                || name.ends_with("keywords")
                || name.ends_with("title")
                || name == "abstract"
                || (!name.contains([':', '-', '.']) && !TECHNICAL.contains(&name.as_str()))
        });
        if described
            && let Some(content) = element
                .attr(&local_name!("content"))
                .filter(|text| text.contains(' '))
        {
            hidden.add(flag, content);
        }
        return;
    }
    let mut text = String::new();
    let mut tops = vec![top];
    while let Some(top) = tops.pop() {
        let mut walk = dom.walk(top);
        while let Some(step) = walk.next() {
            let Step::Enter(id) = step else { continue };
            match &dom.node(id).data {
                Data::Text(part) => {
                    if text.len() < 64 * 1024 {
                        text.push_str(part);
                        text.push(' ');
                    }
                }
                Data::Element(element) => {
                    if matches!(*element.tag(), local_name!("script") | local_name!("style")) {
                        walk.pass_over(id);
                    }
                    if element.contents != NONE {
                        tops.push(element.contents);
                    }
                }
                Data::Comment(part) => hidden.add(Flag::Comment, part),
                Data::Document => {}
            }
        }
    }
    hidden.add(flag, &text);
}
