//! HTML to what a person would read.

mod css;
mod dom;
mod extract;
mod parse;
mod render;
mod seen;
mod sink;
mod tidy;
mod unseen;

use std::collections::BTreeSet;

use html5ever::local_name;
use url::Url;

use crate::invisible::clean;
use crate::page::Hidden;
use crate::summary::summarise;
use crate::{Flag, Kind, Mode, Page};
use dom::{Data, Dom, Id, ROOT};
pub(crate) use render::resolve_link;
use seen::{Mark, Marks};

/// Turns a document into readable text. Links are resolved against `base`, or against the document's own base if it has
/// one on the same origin. No input makes it fail; limits show as flags.
#[must_use]
pub fn convert(html: &str, base: Option<&Url>, mode: Mode) -> Page {
    let mut page = Page::empty(Kind::Html);
    let parsed = parse::parse(&tidy::tidy(html));
    let dom = &parsed.dom;
    let mut hidden = Hidden::default();
    hidden.flags.extend(parsed.flags);
    let marks = seen::mark(dom, &mut hidden);
    let mut flags = BTreeSet::new();
    page.title = title(dom, &mut flags);
    page.lang = language(dom);
    let own_base = base_url(dom, base);
    let body = dom.find(ROOT, &local_name!("body")).unwrap_or(ROOT);
    let blank = dom
        .ancestors(body)
        .chain([body])
        .any(|id| marks.get(id) == Mark::Gone);
    let main = extract::main_part(dom, &marks, body, &page.title);
    if main.narrowed {
        flags.insert(Flag::MainContent);
    }
    if !blank {
        page.content = write(
            dom,
            &marks,
            own_base.as_ref().or(base),
            mode,
            &main.tops,
            &|id| main.is_dropped(id),
            &mut flags,
            &mut hidden,
        );
    }
    page.summary = summarise(&page.content, mode);
    page.flags = flags;
    page.flags.extend(hidden.flags);
    page.hidden = hidden.texts;
    page
}

/// A fragment of HTML inside of another format: everything visible, nothing judged to be boilerplate.
pub(crate) fn fragment(
    html: &str,
    base: Option<&Url>,
    mode: Mode,
    flags: &mut BTreeSet<Flag>,
    hidden: &mut Hidden,
) -> String {
    let parsed = parse::parse(&tidy::tidy(html));
    hidden.flags.extend(parsed.flags);
    let marks = seen::mark(&parsed.dom, hidden);
    write(
        &parsed.dom,
        &marks,
        base,
        mode,
        &[ROOT],
        &|_| false,
        flags,
        hidden,
    )
}

/// HTML inside of markdown: the text outside of tags as it is, without what nobody sees.
pub(crate) fn verbatim(html: &str, flags: &mut BTreeSet<Flag>, hidden: &mut Hidden) -> String {
    let parsed = parse::parse(&tidy::tidy(&autolinks(html)));
    hidden.flags.extend(parsed.flags);
    let dom = &parsed.dom;
    let marks = seen::mark(dom, hidden);
    let mut out = String::with_capacity(html.len());
    let mut walk = dom.walk(ROOT);
    while let Some(step) = walk.next() {
        let dom::Step::Enter(id) = step else { continue };
        if marks.get(id) == Mark::Gone {
            walk.pass_over(id);
            continue;
        }
        match &dom.node(id).data {
            Data::Text(text) => escape_tags(&clean(text, flags), &mut out),
            Data::Element(element) if element.tag() == &local_name!("br") => out.push('\n'),
            Data::Element(element) if element.tag() == &local_name!("a") => {
                // A link written as HTML keeps its text; a scheme that runs code is told.
                let _ = element
                    .attr(&local_name!("href"))
                    .map(|href| resolve_link(href, None, flags));
            }
            _ => {}
        }
    }
    out
}

/// `<https://…>` is a link in markdown and a tag in HTML.
fn autolinks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<http") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let link = tail
            .get(1..)
            .and_then(|inside| inside.split_once('>'))
            .filter(|(link, _)| {
                (link.starts_with("http://") || link.starts_with("https://"))
                    && !link.contains(char::is_whitespace)
            });
        match link {
            Some((link, after)) => {
                out.push_str(link);
                rest = after;
            }
            None => {
                out.push_str("<http");
                rest = tail.get(5..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Text that was written with entities must not become tags again.
fn escape_tags(text: &str, out: &mut String) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '<'
            && rest.peek().is_some_and(|after| {
                after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?')
            })
        {
            out.push('\\');
        }
        out.push(c);
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the one place where all parts of a page meet"
)]
fn write(
    dom: &Dom,
    marks: &Marks,
    base: Option<&Url>,
    mode: Mode,
    tops: &[Id],
    dropped: &dyn Fn(Id) -> bool,
    flags: &mut BTreeSet<Flag>,
    hidden: &mut Hidden,
) -> String {
    let skip = |id: Id| marks.get(id) == Mark::Gone || dropped(id);
    let source = render::Source {
        dom,
        base,
        mode,
        skip: &skip,
    };
    render::render(&source, tops, flags, hidden)
}

/// The text of the first title element of the document: it is what the tab shows.
fn title(dom: &Dom, flags: &mut BTreeSet<Flag>) -> String {
    let Some(id) = dom.find(ROOT, &local_name!("title")) else {
        return String::new();
    };
    let mut text = String::new();
    for child in dom.children(id) {
        if let Data::Text(part) = &dom.node(child).data {
            text.push_str(part);
        }
    }
    let joined = clean(&text, flags)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    joined.chars().take(300).collect()
}

fn language(dom: &Dom) -> Option<String> {
    let html = dom.find(ROOT, &local_name!("html"))?;
    let lang = dom.element(html)?.attr(&local_name!("lang"))?.trim();
    let plausible = (2..=35).contains(&lang.len())
        && lang
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plausible.then(|| lang.to_owned())
}

/// `<base href>`: only the document's own scheme family counts.
fn base_url(dom: &Dom, base: Option<&Url>) -> Option<Url> {
    // Most documents have none, and need not be searched for it.
    let id = dom
        .has_base
        .then(|| dom.find(ROOT, &local_name!("base")))??;
    let href = dom.element(id)?.attr(&local_name!("href"))?;
    let url = Url::options().base_url(base).parse(href).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}
