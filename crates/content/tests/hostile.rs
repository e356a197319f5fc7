//! Pages built to be slow, deep or large: all end, within limits that show as flags.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

use blastshield_content::{ContentError, Flag, Mode, html, read};
use proptest::prelude::*;

fn convert(html: &str) -> blastshield_content::Page {
    html::convert(html, None, Mode::Markdown)
}

#[test]
fn a_hundred_thousand_nested_elements() {
    for tag in [
        "div",
        "b",
        "span",
        "blockquote",
        "ul><li",
        "table><tr><td",
        "svg",
        "math",
        "font color=1",
        "x-y",
        "a",
    ] {
        let page = convert(&format!("{}bottom", format!("<{tag}>").repeat(100_000)));
        assert!(page.content.contains("bottom"), "{tag}");
    }
    assert!(
        convert(&"<div>".repeat(100_000))
            .flags
            .contains(&Flag::DepthLimit)
    );
}

#[test]
fn content_beyond_the_depth_limit_is_flattened_not_shown_raw() {
    let deep = "<div>".repeat(2000);
    let page = convert(&format!(
        "{deep}<script>var x = 1;</script><style>p{{}}</style><p>kept</p>{}after",
        "</div>".repeat(2000)
    ));
    assert!(page.content.contains("kept") && page.content.contains("after"));
    assert!(!page.content.contains("var x") && !page.content.contains("p{}"));
    let page = convert(&format!(
        "<div hidden>{deep}secret{}</div>seen",
        "</div>".repeat(2000)
    ));
    assert_eq!(page.content, "seen");
}

#[test]
fn a_megabyte_of_one_thing() {
    for unit in [
        "<",
        "<a",
        "</",
        "<!--",
        "&",
        "&#x41",
        "<p ",
        "\"",
        "<![CDATA[",
        "<b></p>",
        "<a b='",
        "\u{202e}",
        "<table>",
        "]]((",
    ] {
        let _ = convert(&unit.repeat(300_000 / unit.len()));
    }
}

#[test]
fn attributes_and_style_without_end() {
    let attributes: String = (0..60_000).map(|n| format!(" a{n}=x")).collect();
    assert!(
        convert(&format!("<p{attributes}>text</p>"))
            .content
            .contains("text")
    );
    let classes: String = (0..60_000).map(|n| format!("c{n} ")).collect();
    let css: String = (0..20_000)
        .map(|n| format!(".c{n} .d{n} > p:nth-child(2n+{n}){{color:red}}"))
        .collect();
    let page = convert(&format!(
        "<style>{css}</style><div class=\"{classes}\"><p>text</p></div>"
    ));
    assert!(page.content.contains("text"));
    let brackets = format!(
        "<style>{}</style><p style=\"{}\">text</p>",
        "@media x{".repeat(50_000),
        "color:a(".repeat(20_000)
    );
    let _ = convert(&brackets);
}

#[test]
fn more_nodes_than_are_read_is_told() {
    let page = convert(&"<i></i>".repeat(500_000));
    assert!(page.flags.contains(&Flag::NodeLimit));
}

#[test]
fn formatting_that_multiplies_itself_is_bounded() {
    let html: String = (0..20_000)
        .map(|n| format!("<p><font color={n}>x</p>"))
        .collect();
    let _ = convert(&html);
}

#[test]
fn oversized_bodies_are_refused() {
    let body = vec![b'a'; blastshield_content::MAX_BYTES + 1];
    assert!(matches!(
        read(&body, None, None, Mode::Text),
        Err(ContentError::TooLarge { .. })
    ));
}

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "<(div|p|b|i|a href='x'|ul|li|table|tr|td|pre|code|svg|math|template|select|style|script|h1|blockquote|p hidden)>",
        "</(div|p|b|i|a|ul|li|table|tr|td|pre|code|svg|math|template|select|style|script|h1|blockquote)>",
        "[a-z*_\\[\\]()#>`~| \n]{0,12}",
        "(<!--|-->|<!|<\\?|&[a-z#]{0,6};?|style='[a-z:;()0-9-]{0,20}')",
        "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_soup_is_too_thick(html in soup()) {
        for mode in [Mode::Text, Mode::Markdown] {
            let page = html::convert(&html, None, mode);
            prop_assert!(!page.content.contains('\0'));
            prop_assert!(page.summary.chars().count() <= 400);
        }
    }

    #[test]
    fn what_is_hidden_stays_hidden_in_any_soup(before in soup(), after in soup()) {
        // A hidden element right under the body, closed by the end of the document only.
        let html = format!("<div hidden>{}QQSECRETQQ", before.replace("</div>", "").replace("<script>", "").replace("<style>", ""));
        prop_assert!(!html::convert(&html, None, Mode::Text).content.contains("QQSECRETQQ"));
        let _ = after;
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0..9_usize) {
        let types = ["text/html", "text/plain", "application/json", "text/xml", "application/rss+xml", "text/markdown", "text/csv",
            "text/html; charset=utf-16", ""];
        let _ = read(&bytes, types.get(kind).copied(), None, Mode::Markdown);
    }

    #[test]
    fn style_soup(css in "([.#a-z:*>+~, ]{0,6}|[{}()\\[\\];:!@'\"\\\\]|:not\\(|:is\\(|:nth-child\\(|@media |var\\(--|calc\\(|display:none|color:#|rgb\\(|-?[0-9]{1,4}(px|em|%)?){0,60}") {
        let inline = css.replace('"', "");
        let html = format!("<style>{css}</style><div class=a id=b style=\"{inline}\"><p class='a b'>x</p><p style='color:red'>y</p></div>");
        let _ = html::convert(&html, None, Mode::Markdown);
    }

    #[test]
    fn markdown_soup(text in "[a-z!\\[\\]()<>#`~:/ \n-]{0,200}") {
        let _ = read(text.as_bytes(), Some("text/markdown"), None, Mode::Markdown);
    }
}
