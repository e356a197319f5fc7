//! What a page looks like as text and as markdown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

use blastshield_content::{Flag, Kind, Mode, html, read, truncate};
use url::Url;

fn markdown(html: &str) -> String {
    let base = Url::parse("https://site.test/dir/page").unwrap();
    html::convert(html, Some(&base), Mode::Markdown).content
}

fn text(html: &str) -> String {
    html::convert(html, None, Mode::Text).content
}

#[test]
fn headings_emphasis_and_links() {
    assert_eq!(
        markdown(
            "<h2>Trams  &amp; trains</h2><p>The <strong>new </strong>line, see <a href='../map?x=1#y'>the <em>map</em></a>.</p>"
        ),
        "## Trams & trains\n\nThe **new** line, see [the *map*](https://site.test/map?x=1#y)."
    );
    assert_eq!(
        text("<h2>Trams</h2><p>The <b>new</b> <a href=/x>line</a>.</p>"),
        "Trams\n\nThe new line."
    );
}

#[test]
fn lists_nest() {
    assert_eq!(
        markdown(
            "<ul><li>One<ol start=3><li>Three<li><p>Four</p><p>more</p></ol><li>Two</ul><p>End</p>"
        ),
        "- One\n  3. Three\n  4. Four\n\n     more\n- Two\n\nEnd"
    );
}

#[test]
fn code_keeps_its_shape_and_its_language() {
    assert_eq!(
        markdown(
            "<pre><code class='hljs language-rust'>fn a() {\n    b`c`\n}\n</code></pre><p>Call <code>x*y</code> or <code>`</code>.</p>"
        ),
        "```rust\nfn a() {\n    b`c`\n}\n```\n\nCall `x*y` or `` ` ``."
    );
    let fence = markdown("<pre>```\nforged\n```</pre>");
    assert!(fence.starts_with("````\n```"), "{fence}");
}

#[test]
fn tables_are_pipes() {
    assert_eq!(
        markdown(
            "<table><thead><tr><th>Year</th><th>Rain | mm</th></tr></thead><tr><td>2024<td><b>812</b></table>"
        ),
        "| Year | Rain \\| mm |\n| --- | --- |\n| 2024 | **812** |"
    );
    assert_eq!(
        text(
            "<table><tr><th>Year</th><th>Rain</th></tr><tr><td>2024</td><td>812</td></tr></table>"
        ),
        "Year\tRain\n2024\t812"
    );
}

#[test]
fn quotes_and_breaks() {
    assert_eq!(
        markdown("<blockquote><p>One<br>two</p><p>three</p></blockquote>"),
        "> One\n> two\n>\n> three"
    );
}

#[test]
fn text_cannot_forge_structure() {
    assert_eq!(
        markdown("<p># no heading</p><p>1. no list</p><p>- none</p><p>&gt; none</p>"),
        "\\# no heading\n\n1\\. no list\n\n\\- none\n\n\\> none"
    );
    assert_eq!(
        markdown("<p>[x](javascript:alert(1)) *a* &lt;script&gt; `c`</p>"),
        "\\[x\\](javascript:alert(1)) \\*a\\* \\<script> \\`c\\`"
    );
    assert_eq!(
        markdown("<p>snake_case and _this_</p>"),
        "snake_case and \\_this\\_"
    );
}

#[test]
fn links_lead_to_documents_only() {
    for href in [
        "javascript:alert(1)",
        "JAVA\tSCRIPT:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "#top",
        "",
        "blob:x",
    ] {
        assert_eq!(
            markdown(&format!("<p><a href=\"{href}\">word</a></p>")),
            "word",
            "{href}"
        );
    }
    assert_eq!(
        markdown("<a href='https://user:pw@h.test/a b'>x</a>"),
        "[x](https://h.test/a%20b)"
    );
    assert_eq!(
        markdown("<a href='https://h.test/a)b'>x</a>"),
        "[x](https://h.test/a%29b)"
    );
    assert_eq!(
        markdown("<a href='mailto:a@b.test?body=secret'>x</a>"),
        "[x](mailto:a@b.test)"
    );
}

#[test]
fn images_are_words_never_addresses() {
    let page = markdown(
        "<p>See <img alt='A red tram in snow' src='https://t.test/p?leak=1'>(https://x.test)</p>",
    );
    assert_eq!(page, "See (Image: A red tram in snow)(https://x.test)");
    assert_eq!(
        markdown("<p>x<img alt='one pixel of tracking' width=1 height=1 src=https://t.test/></p>"),
        "x"
    );
}

#[test]
fn right_to_left_and_joined_scripts_survive() {
    for words in [
        "שלום עולם",
        "مرحبا بالعالم",
        "نمی‌دانم",
        "क्‍ष हिन्दी",
        "日本語の記事です。",
    ] {
        assert_eq!(markdown(&format!("<p>{words}</p>")), words);
    }
}

#[test]
fn the_article_is_found_and_the_rest_is_not() {
    let prose = |topic: &str| {
        format!("<p>The {topic} was debated for hours, and in the end, most members agreed to the plan.</p>").repeat(6)
    };
    let html = format!(
        "<html lang=en-GB><title>Tram plan agreed - Daily</title><body><nav><a href=/>Home</a> <a href=/s>Sport</a></nav>         <div class=cookie-banner>We use cookies to improve your experience on this site, and for advertising.</div>         <div id=wrap><main><article><h1>Tram plan agreed</h1><div class=share><a href=/x>Tweet</a></div>{}<h2>Costs</h2>{}         <h3>Related</h3><ul class=links><li><a href=/1>Older story</a><li><a href=/2>Other story</a></ul></article></main>         <aside class=sidebar><p>Subscribe to our letter, which has all you need to know about everything.</p></aside>         <div id=comments><p>First! I never liked trams, they are loud and slow, and I will move away soon.</p></div></div>         <footer><p>Imprint and data protection, all rights reserved, and so on and so forth.</p></footer></body></html>",
        prose("tram line"),
        prose("budget")
    );
    let page = html::convert(&html, None, Mode::Markdown);
    assert_eq!(page.title, "Tram plan agreed - Daily");
    assert_eq!(page.lang.as_deref(), Some("en-GB"));
    assert!(page.flags.contains(&Flag::MainContent));
    assert!(page.content.starts_with("The tram line was debated"));
    assert!(page.content.contains("## Costs"));
    for gone in [
        "cookies",
        "Sport",
        "Tweet",
        "Older story",
        "Related",
        "Subscribe",
        "First!",
        "Imprint",
    ] {
        assert!(!page.content.contains(gone), "{gone}: {}", page.content);
    }
    assert!(page.summary.starts_with("The tram line was debated"));
    assert!(page.summary.chars().count() <= 400);
}

#[test]
fn small_pages_are_kept_whole() {
    assert_eq!(
        markdown("<h1>Hello</h1><p>One line.</p><ul><li><a href=/a>Link</a></ul>"),
        "# Hello\n\nOne line.\n\n- [Link](https://site.test/a)"
    );
}

#[test]
fn every_kind_is_read_as_what_it_is() {
    let kind = |body: &str, header: Option<&str>| {
        let page = read(body.as_bytes(), header, None, Mode::Markdown).unwrap();
        (page.kind, page.content)
    };
    assert_eq!(kind("<p>x</p>", None), (Kind::Html, "x".into()));
    assert_eq!(
        kind("<p>x</p>", Some("text/plain")),
        (Kind::Text, "<p>x</p>".into())
    );
    assert_eq!(kind("{\"a\":1}", Some("application/json")).0, Kind::Json);
    assert_eq!(kind("a,b\n1,2", Some("text/csv")).0, Kind::Csv);
    assert_eq!(
        kind("# x", Some("text/markdown")),
        (Kind::Markdown, "# x".into())
    );
    assert_eq!(
        kind(
            "<rss><channel><title>t</title></channel></rss>",
            Some("text/xml")
        )
        .0,
        Kind::Feed
    );
    assert_eq!(
        kind("<?xml version='1.0'?><a>b</a>", Some("application/xml")),
        (Kind::Xml, "<a>b</a>".into())
    );
    assert_eq!(
        kind(
            "<html><body><p>x</p></body></html>",
            Some("application/xhtml+xml")
        ),
        (Kind::Xhtml, "x".into())
    );
}

#[test]
fn cutting_counts_characters() {
    let mut page = read(
        "äöü".as_bytes(),
        Some("text/plain; charset=utf-8"),
        None,
        Mode::Text,
    )
    .unwrap();
    assert!(truncate(&mut page, 2));
    assert_eq!(page.content, "äö");
}

#[test]
fn debug_output_shows_no_content() {
    let page = html::convert(
        "<title>t1tle</title><p>b0dy<!-- c0mment -->",
        None,
        Mode::Text,
    );
    let shown = format!("{page:?}");
    assert!(!shown.contains("t1tle") && !shown.contains("b0dy") && !shown.contains("c0mment"));
}
