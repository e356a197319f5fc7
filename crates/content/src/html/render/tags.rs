//! What tags and their attributes mean for layout.

use html5ever::{LocalName, local_name};

use crate::html::dom::{Dom, Element, Id, NONE};

/// An alternative text says something if it is a phrase, not a file name, and no caption says it again.
pub(crate) fn alt_has_meaning(dom: &Dom, id: Id, element: &Element, alt: &str) -> bool {
    let tiny = |name: &LocalName| {
        element
            .attr(name)
            .and_then(|text| text.trim().parse::<u32>().ok())
            .is_some_and(|size| size <= 3)
    };
    let words = alt.split_whitespace().count();
    let captioned = || {
        dom.ancestors(id).take(4).any(|up| {
            dom.tag(up) == &local_name!("figure")
                && dom.find(up, &local_name!("figcaption")).is_some()
        })
    };
    (3..=60).contains(&words)
        && !tiny(&local_name!("width"))
        && !tiny(&local_name!("height"))
        && !alt.contains("://")
        && !alt.contains(['<', '>', '='])
        && !captioned()
}

/// The level of a heading.
pub(crate) fn heading(tag: &LocalName) -> Option<usize> {
    Some(match *tag {
        local_name!("h1") => 1,
        local_name!("h2") => 2,
        local_name!("h3") => 3,
        local_name!("h4") => 4,
        local_name!("h5") => 5,
        local_name!("h6") => 6,
        _ => return None,
    })
}

/// Elements that begin and end a line.
pub(crate) fn is_block(tag: &LocalName) -> bool {
    matches!(
        *tag,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("dt")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("html")
            | local_name!("legend")
            | local_name!("main")
            | local_name!("nav")
            | local_name!("option")
            | local_name!("p")
            | local_name!("search")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
            | local_name!("tr")
            | local_name!("td")
            | local_name!("th")
            | local_name!("ul")
            | local_name!("ol")
            | local_name!("li")
            | local_name!("blockquote")
            | local_name!("pre")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("hr")
    )
}

/// The language that a code block declares on itself, on its code element or on what is around it.
pub(crate) fn code_language(dom: &Dom, pre: Id) -> Option<String> {
    let inside = dom
        .children(pre)
        .find(|&child| dom.tag(child) == &local_name!("code"));
    let outside = dom.ancestors(pre).take(3).filter(|&up| up != NONE);
    inside
        .into_iter()
        .chain([pre])
        .chain(outside)
        .find_map(|id| {
            let element = dom.element(id)?;
            let declared = element.classes().find_map(|class| {
                ["language-", "lang-", "highlight-source-", "brush:"]
                    .iter()
                    .find_map(|prefix| class.strip_prefix(prefix))
            });
            let declared = declared.or_else(|| {
                element
                    .attrs
                    .iter()
                    .find(|attr| matches!(&*attr.name.local, "data-lang" | "data-language"))
                    .map(|attr| &*attr.value)
            })?;
            let name: String = declared
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || "+#-._".contains(*c))
                .take(24)
                .collect();
            (!name.is_empty()).then(|| name.to_ascii_lowercase())
        })
}
