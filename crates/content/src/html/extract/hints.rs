//! What elements say about themselves: tag, role, class and id.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use html5ever::local_name;

use super::measure::Measure;
use crate::html::dom::{Dom, Element, Id, Step};

/// How sure a hint is that something is not content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Aside {
    No,
    /// Gone unless it holds a good part of the page's prose.
    Likely,
    /// Gone unless it holds most of it.
    Surely,
    /// What readers wrote: gone if anything else is there.
    Talk,
}

const SURE: &[&str] = &[
    "breadcrumb",
    "cookie",
    "gdpr",
    "disqus",
    "newsletter",
    "outbrain",
    "taboola",
    "sharedaddy",
    "addtoany",
    "social-share",
    "share-button",
    "sharebar",
    "sharetools",
    "share-tools",
    "sidebar",
    "navbar",
    "pagination",
    "jp-relatedposts",
    "related-posts",
    "relatedposts",
    "related-articles",
    "advertisement",
    "sponsored",
    "site-footer",
    "site-header",
    "masthead",
    "comment-list",
    "commentlist",
    "comment-respond",
    "post-navigation",
    "nav-links",
    "skip-link",
    "screen-reader",
    "signup",
    "sign-up",
    "subscribe",
    "paywall",
    "recirc",
    "most-read",
    "mostread",
    "most-popular",
    "trending",
    "consent",
    "popup",
    "modal",
    "author-box",
    "authorbox",
    "author-bio",
    "tag-list",
    "taglist",
    "tagcloud",
    "post-tags",
    "entry-tags",
    "entry-footer",
    "post-footer",
    "article-footer",
    "noprint",
    "no-print",
    "mw-editsection",
    "navbox",
    "catlinks",
    "printfooter",
    "toc-",
    "read-more",
    "readmore",
    "more-stories",
    "promo",
    "post-meta",
    "entry-meta",
    "article-meta",
    "byline",
    "meta-data",
    "postmeta",
    "dateline",
    "timestamp",
    "pubdate",
    "publish-date",
    "post-date",
    "entry-date",
    "social",
    "sharing",
    "share-",
    "-share",
    "print-",
    "copyright",
    "disclaimer",
    "legal",
];
const LIKELY: &[&str] = &[
    "related",
    "recommend",
    "teaser",
    "banner",
    "widget",
    "promo",
    "sponsor",
    "footer",
    "comments",
];

/// Parts of names that mean the article itself.
const CLAIMS: &[&str] = &[
    "article-body",
    "articlebody",
    "article__body",
    "article_body",
    "entry-content",
    "post-content",
    "post-body",
    "postcontent",
    "story-body",
    "storybody",
    "story-content",
    "article-content",
    "articlecontent",
    "article__content",
    "article_content",
    "article-text",
    "post-entry",
    "post_content",
    "mw-parser-output",
    "body-text",
    "bodytext",
    "content-body",
    "entry_content",
    "entrycontent",
    "post-text",
    "blog-content",
];

#[expect(
    clippy::expect_used,
    reason = "built from constants, as the tests show"
)]
fn automaton<'a>(parts: impl IntoIterator<Item = &'a &'a str>) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(parts)
        .expect("constant patterns")
}

static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| automaton(SURE.iter().chain(LIKELY)));
static CLAIMED: LazyLock<AhoCorasick> = LazyLock::new(|| automaton(CLAIMS));

/// Sets boilerplate aside, unless so much of the prose is in it that the hint must be wrong.
pub(crate) fn set_aside(
    dom: &Dom,
    body: Id,
    whole: &Measure,
    gone: &dyn Fn(Id) -> bool,
    dropped: &mut [bool],
) {
    let total = whole.prose(body).max(1);
    let mut walk = dom.walk(body);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if gone(id) {
            walk.pass_over(id);
            continue;
        }
        let Some(element) = dom.element(id) else {
            continue;
        };
        if id == body {
            continue;
        }
        let share = whole.prose(id) * 100 / total;
        let drop = match judge(dom, id, element, whole) {
            Aside::No => false,
            Aside::Likely => share < 30,
            Aside::Surely => share < 50,
            Aside::Talk => whole.prose(body).saturating_sub(whole.prose(id)) > 250,
        };
        if drop {
            if let Some(flag) = dropped.get_mut(id as usize) {
                *flag = true;
            }
            walk.pass_over(id);
        }
    }
}

fn judge(dom: &Dom, id: Id, element: &Element, whole: &Measure) -> Aside {
    match *element.tag() {
        local_name!("html")
        | local_name!("body")
        | local_name!("main")
        | local_name!("article") => return Aside::No,
        local_name!("blockquote") => return Aside::No,
        local_name!("nav") | local_name!("menu") => return Aside::Surely,
        local_name!("aside") => return Aside::Likely,
        local_name!("footer") => {
            let in_quote = dom
                .ancestors(id)
                .take(8)
                .any(|up| dom.tag(up) == &local_name!("blockquote"));
            return if in_quote { Aside::No } else { Aside::Surely };
        }
        local_name!("form") if whole.inputs(id) > 0 && whole.paragraphs(id) < 3 => {
            return Aside::Likely;
        }
        _ => {}
    }
    if let Some(role) = element.attr(&local_name!("role")) {
        match role {
            "navigation" | "menu" | "menubar" | "search" | "contentinfo" | "toolbar"
            | "alertdialog" | "dialog" => {
                return Aside::Surely;
            }
            "complementary" | "banner" => return Aside::Likely,
            "main" | "article" => return Aside::No,
            _ => {}
        }
    }
    let mut verdict = Aside::No;
    for name in [
        element.attr(&local_name!("class")),
        element.attr(&local_name!("id")),
    ]
    .into_iter()
    .flatten()
    {
        verdict = verdict.max(words_say(name));
    }
    verdict
}

/// Reads the words of class names and ids.
fn words_say(names: &str) -> Aside {
    let mut verdict = Aside::No;
    for name in names.split_ascii_whitespace().take(24) {
        let lower = name.to_ascii_lowercase();
        verdict = verdict.max(name_says(&lower));
    }
    verdict
}

fn name_says(name: &str) -> Aside {
    let words = || name.split(['-', '_']);
    // A name for the way a page is laid out says nothing about the part that bears it.
    if words().any(|word| {
        matches!(
            word,
            "layout" | "has" | "with" | "no" | "without" | "lead" | "teasertext"
        )
    }) || name.contains("embed")
        || name.contains("tweet")
        || name.contains("teaser-text")
        || name.contains("teasertext")
    {
        return Aside::No;
    }
    if words().any(|word| {
        matches!(
            word,
            "comments" | "commentlist" | "comment" | "disqus" | "respond"
        )
    }) {
        return Aside::Talk;
    }
    for word in words() {
        match word {
            "nav" | "navigation" | "menu" | "submenu" | "footer" | "footnav" | "ad" | "ads"
            | "advert" | "adverts" | "share" | "social" | "sidebar" | "breadcrumbs" | "tags"
            | "toolbar" | "pager" | "login" | "related" | "widget" | "hidden-print" | "byline"
            | "rating" | "ratings" => return Aside::Surely,
            _ => {}
        }
    }
    let mut verdict = Aside::No;
    for found in PARTS.find_overlapping_iter(name) {
        verdict = verdict.max(if found.pattern().as_usize() < SURE.len() {
            Aside::Surely
        } else {
            Aside::Likely
        });
    }
    verdict
}

/// How clearly an element claims to be the article; zero if it does not.
pub(crate) fn rank(element: &Element) -> u32 {
    let property = element.attr(&local_name!("itemprop")).unwrap_or_default();
    if property.eq_ignore_ascii_case("articleBody") {
        return 4;
    }
    let named = [
        element.attr(&local_name!("class")),
        element.attr(&local_name!("id")),
    ]
    .into_iter()
    .flatten()
    .any(|names| CLAIMED.is_match(names));
    if named {
        return 3;
    }
    match *element.tag() {
        local_name!("article") => 2,
        local_name!("main") => 1,
        _ => u32::from(element.attr(&local_name!("role")) == Some("main")),
    }
}
