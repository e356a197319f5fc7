//! Ordinary pages.

use std::time::Duration;

use blastshield_render::{RenderError, RenderOptions, WaitUntil};
use url::Url;

use crate::origin::{Origin, Reply, status};
use crate::{launch, options, patient, render, several};

fn site(path: &str, _: std::net::SocketAddr) -> Reply {
    match path {
        "/script" => Reply::Html(
            "<!doctype html><title>t</title><p id=p>before</p>
             <script>
               // A page that lies about its own source.
               Object.defineProperty(Element.prototype, 'outerHTML', { get() { return 'forged'; } });
               XMLSerializer.prototype.serializeToString = () => 'forged';
               document.getElementById('p').textContent = 'made by ' + 'script \u{1F600} ' + document.cookie;
               document.cookie = 'seen=1';
             </script>"
                .to_owned(),
        ),
        "/late" => Reply::Html(
            "<body><script>setTimeout(() => document.body.innerHTML = '<i class=\"late x\">arrived</i>', 700)</script>"
                .to_owned(),
        ),
        "/surrogate" => Reply::Html(
            "<body><script>document.body.textContent = 'a\\ud800b'</script>".to_owned(),
        ),
        "/hop" => status("302 Found", "Location: /missing?x=1\r\n"),
        "/missing?x=1" => Reply::Raw(
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>nope</p>x"
                .to_owned(),
        ),
        "/client" => Reply::Html("<script>location.href = '/script#there'</script>".to_owned()),
        "/text" => Reply::Raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n<b>hi".to_owned(),
        ),
        "/file" => Reply::Raw(
            "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 4\r\n\r\nPK\u{3}\u{4}".to_owned(),
        ),
        "/save" => Reply::Raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Disposition: attachment\r\nContent-Length: 2\r\n\r\nhi"
                .to_owned(),
        ),
        "/empty" => status("204 No Content", ""),
        "/blank" => Reply::Html("<script>location.href = 'about:blank'</script>".to_owned()),
        _ => status("404 Not Found", ""),
    }
}

#[tokio::test]
async fn pages_are_rendered_as_a_browser_ends_up_with_them() {
    let Some(chromium) = launch(options()).await else {
        return;
    };
    let origin = Origin::start(site).await;
    for _ in 0..2 {
        let page = render(&chromium, &origin.url("/script#part"))
            .await
            .unwrap();
        assert!(
            page.html.starts_with("<!DOCTYPE html><html>"),
            "{}",
            page.html
        );
        // The second time, too, there is no cookie.
        assert!(
            page.html
                .contains("<p id=\"p\">made by script \u{1F600} </p>"),
            "{}",
            page.html
        );
        assert_eq!(page.final_url.as_str(), origin.url("/script"));
        assert_eq!((page.status, page.blocked_requests), (200, 0));
        assert_eq!(page.media_type, "text/html");
        assert!(page.settled);
        assert!(!format!("{page:?}").contains("made by"));
    }
    let named = format!("http://origin.test:{}/script", origin.address.port());
    assert_eq!(
        render(&chromium, &named).await.unwrap().final_url.as_str(),
        named
    );

    let hop = render(&chromium, &origin.url("/hop")).await.unwrap();
    assert_eq!(
        (hop.status, hop.final_url.as_str()),
        (404, origin.url("/missing?x=1").as_str())
    );
    assert!(hop.html.contains("nope"));

    let text = render(&chromium, &origin.url("/text")).await.unwrap();
    assert_eq!(text.media_type, "text/plain");
    assert!(text.html.contains("&lt;b&gt;hi"), "{}", text.html);

    let surrogate = render(&chromium, &origin.url("/surrogate")).await.unwrap();
    assert!(surrogate.html.contains("a\u{fffd}b"));

    let idle = patient(WaitUntil::NetworkIdle);
    let url = Url::parse(&origin.url("/client")).unwrap();
    let moved = chromium.render(&url, &idle).await.unwrap();
    assert_eq!(moved.final_url.as_str(), origin.url("/script"));
    assert!(moved.html.contains("made by script"));

    for path in ["/file", "/save", "/empty"] {
        assert_eq!(
            render(&chromium, &origin.url(path)).await,
            Err(RenderError::NotAPage),
            "{path}"
        );
    }
    let url = Url::parse(&origin.url("/blank")).unwrap();
    assert_eq!(
        chromium.render(&url, &idle).await,
        Err(RenderError::NotAPage)
    );
    chromium.shutdown().await;
}

#[tokio::test]
async fn elements_are_waited_for() {
    let Some(chromium) = launch(several()).await else {
        return;
    };
    let origin = Origin::start(site).await;
    let url = Url::parse(&origin.url("/late")).unwrap();
    let waiting = |selector: &str| RenderOptions {
        wait_for_selector: Some(selector.to_owned()),
        ..patient(WaitUntil::DomContentLoaded)
    };
    let found = waiting("i.late[class~=\"x\"]");
    let long = "a".repeat(2000);
    let [unclosed, injected, long] = ["i[", "') || alert(1) || ('", &long].map(waiting);
    let impatient = RenderOptions {
        timeout: Duration::from_secs(3),
        ..waiting("b.never")
    };
    let best = RenderOptions {
        best_attempt: true,
        timeout: Duration::from_secs(6),
        ..waiting("b.never")
    };
    let (found, unclosed, injected, long, impatient, best) = tokio::join!(
        chromium.render(&url, &found),
        chromium.render(&url, &unclosed),
        chromium.render(&url, &injected),
        chromium.render(&url, &long),
        chromium.render(&url, &impatient),
        chromium.render(&url, &best),
    );
    assert!(found.unwrap().html.contains("arrived"));
    for bad in [unclosed, injected, long] {
        assert_eq!(bad, Err(RenderError::Selector));
    }
    assert_eq!(impatient, Err(RenderError::Timeout));
    let best = best.unwrap();
    assert!(!best.settled && best.html.contains("arrived"));
}
