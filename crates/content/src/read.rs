//! The one entry: a body becomes a page.

use url::Url;

use crate::invisible::clean;
use crate::page::Hidden;
use crate::summary::summarise;
use crate::{ContentError, Decoded, Kind, Mode, Page, csv, decode, feed, html, json, markdown};

/// Reads a body as what it is. What a person cannot see is in `hidden`, never in `content`.
///
/// # Errors
/// As [`decode`], and if a body that says it is JSON or XML is not.
pub fn read(
    bytes: &[u8],
    content_type: Option<&str>,
    base: Option<&Url>,
    mode: Mode,
) -> Result<Page, ContentError> {
    let Decoded {
        kind, text, flags, ..
    } = decode(bytes, content_type)?;
    let mut page = match kind {
        Kind::Html | Kind::Xhtml => html::convert(&text, base, mode),
        Kind::Feed => feed::read_feed(&text, base, mode)?,
        Kind::Xml => feed::read_xml(&text)?,
        Kind::Json => json::read(&text)?,
        Kind::Markdown => markdown::read(&text, base),
        Kind::Csv => csv::read(&text, mode),
        Kind::Text => plain(&text),
    };
    page.kind = kind;
    page.flags.extend(flags);
    Ok(page)
}

fn plain(text: &str) -> Page {
    let mut page = Page::empty(Kind::Text);
    let mut hidden = Hidden::default();
    page.content = visible(text, &mut page, &mut hidden);
    page.summary = summarise(&page.content, Mode::Text);
    finish(page, hidden)
}

/// Text without characters that nobody sees; if there were many, the original goes to `hidden`.
pub(crate) fn visible(text: &str, page: &mut Page, hidden: &mut Hidden) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if crate::invisible::clean_into(line, &mut out, &mut page.flags) >= 6 {
            hidden.add(crate::Flag::InvisibleCharacters, line);
        }
    }
    out.trim_end().to_owned()
}

pub(crate) fn finish(mut page: Page, hidden: Hidden) -> Page {
    page.title = clean(&page.title, &mut page.flags);
    page.flags.extend(hidden.flags);
    page.hidden.extend(hidden.texts);
    page
}
