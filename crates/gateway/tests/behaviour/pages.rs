//! What an agent gets of an honest page.

use crate::common::*;
use serde_json::json;

#[tokio::test]
async fn joiners_of_real_scripts_and_emoji_stay() {
    let persian = "این کتاب‌ها را می‌خوانم و نمی‌توانم بگویم کدام بهتر است. نویسنده‌های ایرانی داستان‌های زیبایی می‌نویسند.";
    let family =
        "The family 👨‍👩‍👧‍👦 went to the beach 🏖️ with the rainbow flag 🏳️‍🌈 and a firefighter 👩🏽‍🚒.";
    let origin = Origin::start(move |path| match path {
        "/persian" => html(page_with(&format!("<p lang=fa>{persian}</p>"))),
        _ => html(page_with(&format!("<p>{family}</p>"))),
    })
    .await;
    let gateway = start(&[("CLAWRUBBER_PROFILE", "paranoid")]).await;
    for (path, kept) in [("/persian", "می‌خوانم"), ("/emoji", "👨‍👩‍👧‍👦")]
    {
        let answer = gateway.web_fetch(&origin.url(path)).await;
        assert!(answer.is_allowed(), "{path}: {}", answer.text);
        assert!(answer.score() < 4.0, "{path}: {}", answer.score());
        assert!(
            answer.content().contains(kept),
            "{path}: {}",
            answer.content()
        );
        assert_eq!(answer.body["safety"]["obfuscation_signals"], json!([]));
    }
}

#[tokio::test]
async fn ordinary_words_are_no_typos_of_attacks() {
    let text = "<p>The photograph was taken at a small harbour. We shall install the package with npm install \
        and run the system tests. Previous releases and their instructions are listed below.</p>";
    let origin = Origin::page(page_with(text)).await;
    let gateway = start(&[("CLAWRUBBER_PROFILE", "paranoid")]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_allowed(), "{}", answer.text);
}

#[tokio::test]
async fn the_mode_decides_the_form() {
    let origin = Origin::page(page_with(
        "<p>See <a href='https://docs.example/a'>the <b>plan</b></a>.</p><h2>Rooms</h2><ul><li>one<li>two</ul>",
    ))
    .await;
    let gateway = start(&[]).await;
    let default = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(default.body["extract_mode"], "markdown");
    assert!(default.content().contains("## Rooms"));
    assert!(default.content().contains("](https://docs.example/a)"));
    let body = json!({"url": origin.url("/"), "extractMode": "text"});
    let text = gateway.post("/v1/web-fetch", &body).await;
    assert_eq!(text.body["extract_mode"], "text");
    assert!(text.content().contains("the plan"));
    assert!(!text.content().contains("](") && !text.content().contains("# "));
}

#[tokio::test]
async fn max_chars_cuts_between_characters_and_says_so() {
    let origin = Origin::start(|_| plain("Grüße aus Köln – 你好世界 – 👩‍🚒 und vieles mehr.")).await;
    let gateway = start(&[]).await;
    let whole = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(whole.body["truncated"], false);
    let length = whole.content().chars().count();
    for most in 1..=length + 1 {
        let body = json!({"url": origin.url("/"), "maxChars": most});
        let cut = gateway.post("/v1/web-fetch", &body).await;
        assert!(cut.is_allowed(), "{most}: {}", cut.text);
        assert!(cut.content().chars().count() <= most, "{most}");
        assert!(whole.content().starts_with(cut.content()));
        assert_eq!(cut.body["truncated"], most < length, "{most}");
    }
}

#[tokio::test]
async fn the_final_url_is_told_without_its_fragment() {
    let origin = Origin::start(|path| match path {
        "/old" => redirect("/new?x=1#part"),
        _ => html(HARMLESS),
    })
    .await;
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&origin.url("/old")).await;
    assert_eq!(answer.body["url"], origin.url("/old"));
    let at = answer.body["final_url"].as_str().unwrap();
    assert!(at.starts_with(&origin.url("/new?x=1")), "{at}");
}

#[tokio::test]
async fn active_content_is_gone() {
    let text = "<p onclick='steal()'>Hello</p><script>steal()</script><iframe src='https://evil.example/'></iframe>\
        <form action='https://evil.example/'><input name=q></form><a href='javascript:steal()'>go</a>\
        <img src='https://evil.example/pixel.gif?id=1' width=1 height=1><a href='data:text/html,x'>data</a>";
    let origin = Origin::page(page_with(text)).await;
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    for gone in [
        "steal",
        "javascript:",
        "data:text",
        "evil.example",
        "<script",
        "<iframe",
        "onclick",
    ] {
        assert!(
            !answer.content().contains(gone),
            "{gone}: {}",
            answer.content()
        );
    }
}

#[tokio::test]
async fn an_empty_page_is_a_page() {
    let origin = Origin::start(|path| match path {
        "/none" => Say::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
        _ => html(""),
    })
    .await;
    let gateway = start(&[]).await;
    for path in ["/none", "/empty"] {
        let answer = gateway.web_fetch(&origin.url(path)).await;
        assert!(answer.is_allowed(), "{path}: {}", answer.text);
        assert_eq!(answer.content(), "");
    }
}
