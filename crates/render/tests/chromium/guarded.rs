//! Pages that try to reach what they must not.

use std::net::SocketAddr;
use std::time::Duration;

use blastshield_policy::{AddressClass, Refusal};
use blastshield_render::{RenderError, RenderOptions, WaitUntil};
use blastshield_web::{DnsError, FetchError};
use tokio::task::JoinSet;
use url::Url;

use crate::origin::{Canary, Origin, Reply, status};
use crate::{launch, options, patient, render, several};

/// Ways of [`asking_for`] that end in a plain request, none of which the browser refuses by itself.
const WAYS: [&str; 28] = [
    "css",
    "preload",
    "import",
    "font",
    "background",
    "img",
    "redirected",
    "script",
    "iframe",
    "srcdoc",
    "refresh",
    "object",
    "fetch",
    "post",
    "keepalive",
    "xhr",
    "syncxhr",
    "beacon",
    "ws",
    "events",
    "worker",
    "workerws",
    "imported",
    "form",
    "image",
    "late",
    "video",
    "svg",
];

/// Every way to ask for something that a page has, towards a base URL `at` (without its scheme).
fn asking_for(at: &str, tag: &str) -> String {
    let http = format!("http://{at}/{tag}");
    let secure = format!("https://{at}/{tag}");
    format!(
        r#"
        <link rel="stylesheet" href="{http}-css"><link rel="icon" href="{http}-icon">
        <link rel="preload" as="image" href="{http}-preload"><link rel="prefetch" href="{http}-prefetch">
        <link rel="prerender" href="{http}-prerender"><link rel="modulepreload" href="{http}-module">
        <link rel="dns-prefetch" href="//{at}"><link rel="preconnect" href="http://{at}"><link rel="preconnect" href="https://{at}">
        <link rel="manifest" href="{http}-manifest">
        <script type="speculationrules">{{"prefetch":[{{"source":"list","urls":["{http}-spec"]}}],"prerender":[{{"source":"list","urls":["{http}-specpre"]}}]}}</script>
        <style>@import url("{http}-import"); @font-face {{ font-family: f; src: url("{http}-font"); }}
          .f{tag} {{ font-family: f; background: url("{http}-background"); }}</style>
        <div class="f{tag}">x</div>
        <img src="{http}-img"><img src="{secure}-img"><img srcset="{http}-srcset 2x"><img src="/to?{http}-redirected"><img src="/to?{secure}-redirected">
        <script src="{http}-script"></script><script type="module">import("{http}-import").catch(() => 0)</script>
        <iframe src="{http}-iframe"></iframe><iframe src="{secure}-iframe"></iframe>
        <iframe src="/to?{http}-iframe"></iframe>
        <iframe srcdoc="<img src='{http}-srcdoc'><meta http-equiv='refresh' content='0;url={http}-refresh'>"></iframe>
        <object data="{http}-object"></object><embed src="{http}-embed"><video src="{http}-video" autoplay></video><audio src="{http}-audio" autoplay></audio>
        <svg><image href="{http}-svg"/><use href="{http}-use"/></svg>
        <a id="a{tag}" href="/stay" ping="{http}-ping" target="_blank">x</a>
        <form id="f{tag}" action="{http}-form" method="post" target="i{tag}"><input name=a></form><iframe name="i{tag}"></iframe>
        <script>
          const go = (f) => {{ try {{ const p = f(); if (p && p.catch) p.catch(() => 0); }} catch (e) {{}} }};
          go(() => fetch("{http}-fetch", {{ mode: "no-cors" }})); go(() => fetch("{http}-cors")); go(() => fetch("{secure}-fetch"));
          go(() => fetch("{http}-post", {{ method: "POST", body: "x", headers: {{ "X-Y": "z" }} }}));
          go(() => fetch("{http}-keepalive", {{ keepalive: true, mode: "no-cors" }}));
          go(() => fetch("/to?{http}-fetch"));
          go(() => {{ const x = new XMLHttpRequest(); x.open("GET", "{http}-xhr"); x.send(); }});
          go(() => {{ const x = new XMLHttpRequest(); x.open("GET", "{http}-syncxhr", false); x.send(); }});
          go(() => navigator.sendBeacon("{http}-beacon", "x"));
          go(() => new WebSocket("ws://{at}/{tag}-ws")); go(() => new WebSocket("wss://{at}/{tag}-wss"));
          go(() => new EventSource("{http}-events"));
          go(() => new WebTransport("{secure}-transport").closed);
          go(() => new Worker(URL.createObjectURL(new Blob(["fetch('{http}-worker').catch(()=>0); try {{ importScripts('{http}-imported') }} catch (e) {{}}; new WebSocket('ws://{at}/{tag}-workerws')"]))));
          go(() => new SharedWorker(URL.createObjectURL(new Blob(["fetch('{http}-shared').catch(()=>0)"]))));
          go(() => {{
            const rtc = new RTCPeerConnection({{ iceServers: [{{ urls: ["stun:{at}", "turn:{at}?transport=udp", "turn:{at}?transport=tcp"], username: "a", credential: "b" }}] }});
            rtc.createDataChannel("x");
            return rtc.createOffer().then((o) => rtc.setLocalDescription(o));
          }});
          go(() => document.getElementById("a{tag}").click());
          go(() => document.getElementById("f{tag}").submit());
          go(() => window.open("{http}-popup"));
          go(() => new Image().src = "{http}-image");
          go(() => {{ const l = document.createElement("link"); l.rel = "prefetch"; l.href = "{http}-late"; document.head.append(l); }});
        </script>"#
    )
}

/// A few of the ways, each of another kind.
fn asking_briefly(at: &str) -> String {
    format!(
        r#"<img src="http://{at}/forbidden"><img src="https://{at}/forbidden"><iframe src="/to?http://{at}/forbidden"></iframe>
        <script>fetch("http://{at}/forbidden-fetch", {{ mode: "no-cors" }}).catch(() => 0); new WebSocket("ws://{at}/forbidden");</script>"#
    )
}

fn redirector(path: &str) -> Option<Reply> {
    let to = path.strip_prefix("/to?")?;
    Some(status("302 Found", &format!("Location: {to}\r\n")))
}

#[tokio::test]
async fn nothing_that_a_page_asks_for_gets_past_the_guard() {
    let canary = Canary::start().await;
    let port = canary.port;
    let Some(chromium) = launch(several()).await else {
        return;
    };
    let origin = Origin::start(move |path, own: SocketAddr| {
        if let Some(reply) = redirector(path) {
            return reply;
        }
        let full = [
            format!("127.0.0.1:{port}"),
            format!("inside.test:{port}"),
            format!("blocked.test:{}", own.port()),
        ];
        let brief = [
            format!("localhost:{port}"),
            format!("x.localhost:{port}"),
            format!("[::ffff:127.0.0.1]:{port}"),
            format!("0.0.0.0:{port}"),
            format!("2130706433:{port}"),
            format!("both.test:{port}"),
            "169.254.169.254".to_owned(),
            "metadata.google.internal".to_owned(),
        ];
        Reply::Html(match path {
            "/page0" => format!("<body>{}<p>done", asking_for(&full[0], "forbidden")),
            "/page1" => format!("<body>{}<p>done", asking_for(&full[1], "forbidden")),
            "/page2" => format!("<body>{}<p>done", asking_for(&full[2], "forbidden")),
            "/page3" => format!(
                "<body>{}<p>done",
                brief.map(|at| asking_briefly(&at)).concat()
            ),
            _ => String::new(),
        })
    })
    .await;
    let mut pages = JoinSet::new();
    for n in 0..4 {
        let url = Url::parse(&origin.url(&format!("/page{n}"))).unwrap();
        let options = RenderOptions {
            best_attempt: true,
            ..patient(WaitUntil::NetworkIdle)
        };
        let chromium = chromium.clone();
        pages.spawn(async move { (n, chromium.render(&url, &options).await.unwrap()) });
    }
    for (n, page) in pages.join_all().await {
        assert!(page.html.contains("<p>done"));
        let refused = page.blocked_requests;
        println!("page {n}: {refused} refused, settled {}", page.settled);
        // The requests were made, and refused by us: not by chance nor by the browser.
        assert!(refused >= 25, "page {n}: {refused}");
    }
    let seen = origin.seen();
    let served = |head: &String| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        path.starts_with("/forbidden") || head.to_ascii_lowercase().contains("host: blocked.test")
    };
    assert!(!seen.iter().any(served), "a blocklisted name was served");
    assert!(seen.iter().any(|head| head.starts_with("GET /to?http")));
    assert!(
        !seen
            .iter()
            .any(|head| head.to_ascii_lowercase().contains("proxy-"))
    );
    chromium.shutdown().await;
    assert_eq!(canary.touches(), 0);
}

#[tokio::test]
async fn what_is_allowed_passes_in_every_way() {
    let Some(chromium) = launch(options()).await else {
        return;
    };
    let origin = Origin::start(|path, own| {
        if let Some(reply) = redirector(path) {
            return reply;
        }
        match path {
            "/" => Reply::Html(format!(
                "<body>{}",
                asking_for(&format!("origin.test:{}", own.port()), "fine")
            )),
            _ => Reply::Html(String::new()),
        }
    })
    .await;
    let url = Url::parse(&origin.url("/")).unwrap();
    let missing = || {
        let seen = origin.seen();
        let passed = |way: &&str| {
            seen.iter().any(|head| {
                head.contains(&format!("/fine-{way} "))
                    && head.to_ascii_lowercase().contains("host: origin.test:")
            })
        };
        let ways = WAYS.into_iter().filter(|way| !passed(way));
        ways.collect::<Vec<&str>>()
    };
    let patience = patient(WaitUntil::NetworkIdle);
    // The page never comes to rest; it has done its work when everything was asked for.
    let all_asked = async {
        while !missing().is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        _ = chromium.render(&url, &patience) => {}
        () = all_asked => {}
    }
    assert_eq!(missing(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_page_that_leads_to_a_forbidden_place_is_refused() {
    let canary = Canary::start().await;
    let port = canary.port;
    let Some(chromium) = launch(several()).await else {
        return;
    };
    let origin = Origin::start(move |path, own: SocketAddr| {
        let own = own.port();
        match path {
            "/refresh" => Reply::Html(format!("<meta http-equiv=refresh content='0;url=http://127.0.0.1:{port}/'>")),
            "/assign" => Reply::Html(format!("<script>location.href = 'https://inside.test:{port}/'</script>")),
            "/post" => Reply::Html(format!("<form method=post action=http://localhost:{port}/></form><script>document.forms[0].submit()</script>")),
            "/file" => Reply::Html("<script>location.href = 'file:///etc/passwd'</script><p>stays".to_owned()),
            "/blocked" => status("301 Moved", &format!("Location: http://blocked.test:{own}/\r\n")),
            "/unknown" => status("301 Moved", "Location: http://nowhere.test/\r\n"),
            _ => redirector(path).unwrap_or_else(|| Reply::Html(String::new())),
        }
    })
    .await;
    let idle = patient(WaitUntil::NetworkIdle);
    let refused = |hop, refusal| Err(RenderError::Fetch(FetchError::Refused { hop, refusal }));
    let loopback = Refusal::NotPublic(AddressClass::Loopback);
    let metadata = Refusal::NotPublic(AddressClass::Metadata);
    let mut pages = JoinSet::new();
    for (path, expected) in [
        (
            format!("/to?http://127.0.0.1:{port}/"),
            refused(1, loopback),
        ),
        (
            format!("/to?https://127.0.0.1:{port}/"),
            refused(1, loopback),
        ),
        (
            format!("/to?http://both.test:{port}/"),
            refused(1, loopback),
        ),
        (
            format!("/to?http://localhost:{port}/"),
            refused(1, Refusal::LocalName),
        ),
        (
            "/to?http://169.254.169.254/latest".to_owned(),
            refused(1, metadata),
        ),
        ("/blocked".to_owned(), refused(1, Refusal::Blocklisted)),
        ("/refresh".to_owned(), refused(1, loopback)),
        ("/assign".to_owned(), refused(1, loopback)),
        ("/post".to_owned(), refused(1, Refusal::LocalName)),
        (
            "/unknown".to_owned(),
            Err(RenderError::Fetch(FetchError::Dns(DnsError::NotFound))),
        ),
    ] {
        let url = Url::parse(&origin.url(&path)).unwrap();
        let (chromium, idle) = (chromium.clone(), idle.clone());
        pages.spawn(async move { (path, expected, chromium.render(&url, &idle).await) });
    }
    for (path, expected, outcome) in pages.join_all().await {
        assert_eq!(outcome.map(|page| page.status), expected, "{path}");
    }
    let stays = render(&chromium, &origin.url("/file")).await.unwrap();
    assert!(stays.html.contains("stays") && !stays.html.contains("root:"));

    let direct = render(&chromium, &format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(direct.map(|page| page.status), refused(0, loopback));
    let file = render(&chromium, "file:///etc/passwd").await;
    assert_eq!(file.map(|page| page.status), refused(0, Refusal::Scheme));
    assert_eq!(canary.touches(), 0);
}
