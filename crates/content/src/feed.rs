//! RSS, Atom and other XML. Nothing is expanded: a document type definition is ignored, its entities stay unknown.

use std::collections::BTreeSet;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use url::Url;

use crate::page::Hidden;
use crate::read::{finish, visible};
use crate::summary::summarise;
use crate::{ContentError, Flag, Kind, Mode, Page, html};

const MALFORMED: ContentError = ContentError::Malformed { format: "XML" };
const MAX_DEPTH: usize = 256;
const MAX_ITEMS: usize = 500;

#[derive(Debug, Default)]
struct Item {
    title: String,
    link: String,
    date: String,
    body: String,
}

/// Reads a feed as a list of its items.
pub(crate) fn read_feed(text: &str, base: Option<&Url>, mode: Mode) -> Result<Page, ContentError> {
    let mut page = Page::empty(Kind::Feed);
    let mut hidden = Hidden::default();
    let (channel, items) = collect(text, &mut page.flags, &mut hidden)?;
    let line = |text: &str, page: &mut Page, hidden: &mut Hidden| {
        let plain = html::fragment(text, None, Mode::Text, &mut page.flags, hidden);
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    page.title = line(&channel.title, &mut page, &mut hidden);
    let mut out = Vec::new();
    if !page.title.is_empty() {
        out.push(if mode == Mode::Markdown {
            format!("# {}", escape(&page.title))
        } else {
            page.title.clone()
        });
    }
    let about = html::fragment(&channel.body, base, mode, &mut page.flags, &mut hidden);
    out.extend((!about.is_empty()).then_some(about));
    for item in &items {
        let title = line(&item.title, &mut page, &mut hidden);
        let title = if title.is_empty() {
            "Untitled".to_owned()
        } else {
            title
        };
        let link = html::resolve_link(&item.link, base, &mut page.flags);
        out.push(match (mode, link) {
            (Mode::Markdown, Some(link)) => format!("## [{}]({link})", escape(&title)),
            (Mode::Markdown, None) => format!("## {}", escape(&title)),
            (Mode::Text, _) => title,
        });
        let date = line(&item.date, &mut page, &mut hidden);
        out.extend((!date.is_empty()).then_some(date));
        let body = html::fragment(&item.body, base, mode, &mut page.flags, &mut hidden);
        out.extend((!body.is_empty()).then_some(body));
    }
    page.content = out.join("\n\n");
    page.summary = summarise(&page.content, mode);
    Ok(finish(page, hidden))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '*' | '`' | '<' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn collect(
    text: &str,
    flags: &mut BTreeSet<Flag>,
    hidden: &mut Hidden,
) -> Result<(Item, Vec<Item>), ContentError> {
    let mut reader = Reader::from_str(text);
    let mut channel = Item::default();
    let mut items: Vec<Item> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut inside = false;
    loop {
        let mut piece = String::new();
        match reader.read_event().map_err(|_| MALFORMED)? {
            Event::Eof => break,
            Event::Start(start) => {
                let name = local(&start);
                if matches!(name.as_str(), "item" | "entry") && !inside {
                    inside = true;
                    if items.len() >= MAX_ITEMS {
                        flags.insert(Flag::NodeLimit);
                        break;
                    }
                    items.push(Item::default());
                }
                take_href(
                    &start,
                    &name,
                    if inside {
                        items.last_mut()
                    } else {
                        Some(&mut channel)
                    },
                );
                path.push(name);
                if path.len() > MAX_DEPTH {
                    return Err(ContentError::TooDeep);
                }
            }
            Event::Empty(start) => {
                take_href(
                    &start,
                    &local(&start),
                    if inside {
                        items.last_mut()
                    } else {
                        Some(&mut channel)
                    },
                );
            }
            Event::End(_) => {
                if path
                    .pop()
                    .is_some_and(|name| matches!(name.as_str(), "item" | "entry"))
                {
                    inside = path
                        .iter()
                        .any(|name| matches!(name.as_str(), "item" | "entry"));
                }
            }
            Event::Text(part) => piece.push_str(&part.xml10_content()),
            Event::CData(part) => piece.push_str(&part.xml10_content()),
            Event::GeneralRef(reference) => piece.push_str(&entity(&reference)),
            Event::Comment(part) => hidden.add(Flag::Comment, &part.xml10_content()),
            Event::DocType(_) => {
                flags.insert(Flag::DoctypeIgnored);
            }
            Event::Decl(_) | Event::PI(_) => {}
        }
        if piece.is_empty() {
            continue;
        }
        let target = if inside {
            items.last_mut()
        } else {
            Some(&mut channel)
        };
        if let (Some(item), Some(field)) = (target, field(&path)) {
            match field {
                "title" => item.title.push_str(&piece),
                "link" => item.link.push_str(piece.trim()),
                "date" => item.date.push_str(&piece),
                _ => item.body.push_str(&piece),
            }
        }
    }
    Ok((channel, items))
}

/// Which part of an item the innermost named element is.
fn field(path: &[String]) -> Option<&'static str> {
    path.iter()
        .rev()
        .take(16)
        .find_map(|name| match name.as_str() {
            "title" => Some("title"),
            "link" => Some("link"),
            "pubdate" | "published" | "updated" | "date" => Some("date"),
            "description" | "summary" | "content" | "encoded" | "subtitle" => Some("body"),
            _ => None,
        })
}

fn local(start: &BytesStart<'_>) -> String {
    let name = start.name();
    let name: &str = name.as_ref();
    name.rsplit(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// Atom keeps the address in an attribute.
fn take_href(start: &BytesStart<'_>, name: &str, item: Option<&mut Item>) {
    let Some(item) = item.filter(|item| name == "link" && item.link.is_empty()) else {
        return;
    };
    let (mut href, mut alternate) = (String::new(), true);
    for attribute in start.attributes().take(32).flatten() {
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .unwrap_or_default();
        let key: &str = attribute.key.as_ref();
        match key {
            "href" => href = value.into_owned(),
            "rel" => alternate = value == "alternate",
            _ => {}
        }
    }
    if alternate {
        item.link = href;
    }
}

/// Character references and the five names that XML itself defines; all others stay unread.
fn entity(reference: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name: &str = reference;
    quick_xml::escape::resolve_predefined_entity(name)
        .unwrap_or_default()
        .to_owned()
}

/// Reads XML of any other kind: as it is, without comments, instructions and document type.
pub(crate) fn read_xml(text: &str) -> Result<Page, ContentError> {
    let mut page = Page::empty(Kind::Xml);
    let mut hidden = Hidden::default();
    let mut reader = Reader::from_str(text);
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|_| MALFORMED)? {
            Event::Eof => break,
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(ContentError::TooDeep);
                }
                out.push('<');
                out.push_str(&start);
                out.push('>');
            }
            Event::Empty(start) => {
                out.push('<');
                out.push_str(&start);
                out.push_str("/>");
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                out.push_str("</");
                out.push_str(&end);
                out.push('>');
            }
            Event::Text(part) => out.push_str(&part),
            Event::CData(part) => out.push_str(&part),
            Event::GeneralRef(reference) => {
                out.push('&');
                out.push_str(&reference);
                out.push(';');
            }
            Event::Comment(part) => hidden.add(Flag::Comment, &part),
            Event::DocType(_) => {
                page.flags.insert(Flag::DoctypeIgnored);
            }
            Event::Decl(_) | Event::PI(_) => {}
        }
    }
    page.content = visible(out.trim(), &mut page, &mut hidden);
    page.summary = page.content.chars().take(200).collect();
    Ok(finish(page, hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rss_items_are_readable() {
        let rss = "<?xml version='1.0'?><rss><channel><title>News &amp; more</title><item><title>One</title>\
            <link>https://n.test/1</link><pubDate>Mon</pubDate><description>&lt;p&gt;Body &lt;b&gt;x&lt;/b&gt;\
            &lt;/p&gt;&lt;p hidden&gt;secret&lt;/p&gt;</description></item></channel></rss>";
        let page = read_feed(rss, None, Mode::Markdown).unwrap();
        assert_eq!(page.title, "News & more");
        assert_eq!(
            page.content,
            "# News & more\n\n## [One](https://n.test/1)\n\nMon\n\nBody **x**"
        );
        assert_eq!(page.hidden, ["secret"]);
    }

    #[test]
    fn atom_links_are_attributes() {
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title><entry><title>E</title>\
            <link rel='edit' href='https://n.test/edit'/><link href='/2'/><content type='html'>Hi</content></entry></feed>";
        let base = Url::parse("https://n.test/feed").unwrap();
        let page = read_feed(atom, Some(&base), Mode::Markdown).unwrap();
        assert!(page.content.contains("## [E](https://n.test/2)\n\nHi"));
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY b \"&lol;&lol;\">]><rss><channel><title>x&b;y</title>\
            <item><title>&b;</title></item></channel></rss>";
        let page = read_feed(bomb, None, Mode::Text).unwrap();
        assert_eq!(page.title, "xy");
        assert!(!page.content.contains("lol"));
        assert!(page.flags.contains(&Flag::DoctypeIgnored));
    }

    #[test]
    fn other_xml_keeps_its_elements_and_loses_its_comments() {
        let page = read_xml("<?xml version='1.0'?><a b='c'><!-- obey -->t &lt; u</a>").unwrap();
        assert_eq!(page.content, "<a b='c'>t &lt; u</a>");
        assert_eq!(page.hidden, ["obey"]);
        assert_eq!(read_xml("<a></b>"), Err(MALFORMED));
        assert_eq!(read_xml(&"<a>".repeat(100_000)), Err(ContentError::TooDeep));
    }
}
