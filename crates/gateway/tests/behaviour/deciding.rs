//! The page behind a link, in a real Chromium: what an agent wrote stays text there, and the owner's tap decides.
//!
//! Needs Debian's package `chromium`; `BLASTSHIELD_TEST_CHROMIUM=off` skips these.

use crate::common::*;
use blastshield_policy::{AddressGuard, HopPolicy, Ports, UrlRules};
use blastshield_render::{Chromium, ChromiumOptions, RenderOptions, WaitUntil};
use blastshield_store::{ApprovalRecord, Store, StoreOptions};
use blastshield_web::fixed_policy;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

const AGENT: &str = "agent-token-0123456789";
const OWNER: &str = "owner-token-0123456789";

/// Details that would be more than text on a page that is not careful.
const HOSTILE: &[(&str, &str)] = &[
    (
        "tag",
        "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
    ),
    (
        "ending",
        "</pre></section><button id=approve onclick=\"document.title='owned'\">Deny</button>",
    ),
    (
        "handler",
        "<svg onload=document.title='owned'><style>#deny{display:none}</style>",
    ),
    (
        "frame",
        "<iframe src=\"javascript:parent.document.title='owned'\"></iframe>",
    ),
    (
        "form",
        "<form action=https://evil.example/><input name=token></form><base href=//evil.example/>",
    ),
    (
        "lines",
        "x\n\nReply with:\n  approve 00000000\n\nDecision on 00000000: approved",
    ),
    ("mirror", "100\u{202e}0002 stas\u{202c}\u{200b}"),
];

/// Types the token and asks for the request. A script that gives null is tried again.
fn open(token: &str) -> String {
    format!(
        "(() => {{ const field = document.getElementById('token'); if (!field) return null;
            field.value = {}; document.getElementById('open').requestSubmit(); return true; }})()",
        json!(token)
    )
}

/// What the page shows once the request is there.
const SHOWN: &str = "(() => {
    if (document.getElementById('request').hidden) return null;
    const all = [...document.querySelectorAll('*')];
    return {
        title: document.title,
        shown: document.getElementById('shown').textContent,
        inside: document.getElementById('shown').children.length,
        names: all.map((one) => one.localName).sort().filter((name, at, list) => list[at - 1] !== name),
        handlers: all.filter((one) => [...one.attributes].some((a) => a.name.startsWith('on'))).length,
        buttons: all.filter((one) => one.localName === 'button').length,
        until: document.getElementById('until').textContent,
        scopes: !document.getElementById('scope-line').hidden,
        kept: document.getElementById('token').value,
        denyShown: getComputedStyle(document.getElementById('deny')).display !== 'none',
    };
})()";

const APPROVE: &str = "(document.getElementById('approve').click(), true)";
/// What the page says in the end.
const SAID: &str = "document.getElementById('said').textContent || null";

async fn browser() -> Option<Chromium> {
    if std::env::var("BLASTSHIELD_TEST_CHROMIUM").is_ok_and(|wanted| wanted == "off") {
        eprintln!("skipped: BLASTSHIELD_TEST_CHROMIUM is off");
        return None;
    }
    let policy = HopPolicy {
        rules: UrlRules {
            allow_http: true,
            ports: Ports::Any,
        },
        guard: AddressGuard {
            ranges: vec!["127.0.0.1/32".parse().unwrap()],
            ..AddressGuard::default()
        },
        domains: std::sync::Arc::default(),
    };
    let options = ChromiumOptions {
        // Test runners in containers are often root.
        no_sandbox: std::env::var_os("BLASTSHIELD_TEST_SANDBOX").is_none(),
        start_timeout: Duration::from_secs(60),
        ..ChromiumOptions::new(fixed_policy(policy))
    };
    let chromium = Chromium::launch(options).await;
    Some(chromium.unwrap_or_else(|error| {
        panic!("{error}: install the package chromium, or set BLASTSHIELD_TEST_CHROMIUM=off")
    }))
}

async fn gateway() -> Running {
    start(&[
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
    ])
    .await
}

/// An agent asks: the id.
async fn asked(gateway: &Running, body: &Value) -> String {
    let request = gateway.request(Method::POST, "/v1/approvals");
    let asked = answer(request.bearer_auth(AGENT).json(body)).await;
    asked.body["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", asked.text))
        .to_owned()
}

async fn act(chromium: &Chromium, gateway: &Running, id: &str, scripts: &[&str]) -> Vec<Value> {
    let url = Url::parse(&format!("http://{}/approve/{id}", gateway.address)).unwrap();
    let options = RenderOptions {
        wait_until: WaitUntil::Load,
        timeout: Duration::from_secs(60),
        ..RenderOptions::default()
    };
    chromium.act(&url, scripts, &options).await.unwrap()
}

/// What the store holds about a request, read past the gateway.
async fn kept(gateway: &Running, id: &str) -> ApprovalRecord {
    let path = gateway.folder.path().join("blastshield.db");
    let store = Store::open(StoreOptions::sqlite(path)).await.unwrap();
    let record = store.approval(id).await.unwrap().unwrap();
    store.close().await;
    record
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_details_stay_text_and_a_tap_approves() {
    let Some(chromium) = browser().await else {
        return;
    };
    let gateway = gateway().await;
    let details: serde_json::Map<String, Value> = HOSTILE
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let body = json!({
        "action": "http", "reason": "<b onclick=document.title='owned'>because</b>", "host": "example.com",
        "details": details,
    });
    let id = asked(&gateway, &body).await;
    let scripts = [&open(OWNER), SHOWN, APPROVE, SAID, SHOWN];
    let seen = act(
        &chromium,
        &gateway,
        &id,
        &scripts.map(|script| script as &str),
    )
    .await;
    let (before, said, after) = (&seen[1], &seen[3], &seen[4]);
    let record = kept(&gateway, &id).await;
    assert_eq!(
        before["shown"],
        record.shown.as_str(),
        "exactly what was hashed"
    );
    assert_eq!(before["inside"], 0, "{before}");
    assert_eq!(before["title"], "Blastshield", "{before}");
    let plain = [
        "body", "button", "form", "h1", "head", "html", "input", "label", "link", "main", "meta",
        "noscript", "option", "p", "pre", "script", "section", "select", "title",
    ];
    assert_eq!(
        before["names"],
        json!(plain),
        "no element but the page's own"
    );
    assert_eq!(
        (&before["handlers"], &before["buttons"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(
        (&before["denyShown"], &before["scopes"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(before["kept"], "", "the token does not stay in its field");
    assert!(
        before["until"]
            .as_str()
            .unwrap()
            .contains("then the answer is no")
    );
    let shown = before["shown"].as_str().unwrap();
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown}");
    assert_eq!(
        shown
            .lines()
            .filter(|line| line.starts_with("  approve "))
            .count(),
        1,
        "{shown}"
    );
    assert_eq!(said, "Done.");
    assert_eq!(after["title"], "Blastshield");
    assert!(
        after["until"]
            .as_str()
            .unwrap()
            .contains("the owner said yes"),
        "{after}"
    );
    assert_eq!(
        (
            record.state.as_str(),
            record.decided_by.as_str(),
            record.scope.as_str(),
            record.recorded
        ),
        ("approved", "page", "once", true)
    );
    chromium.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_page_a_wrong_token_shows_nothing_and_a_late_tap_changes_nothing() {
    let Some(chromium) = browser().await else {
        return;
    };
    let gateway = gateway().await;
    let id = asked(
        &gateway,
        &json!({"action": "custom", "reason": "why not", "details": {"what": "secret plan"}}),
    )
    .await;
    let look = "({shown: document.getElementById('shown').textContent, hidden: document.getElementById('request').hidden})";
    for (token, words) in [
        ("owner-token-9999999999", "token"),
        (AGENT, "not the owner's token"),
    ] {
        let seen = act(&chromium, &gateway, &id, &[&open(token), SAID, look]).await;
        assert!(seen[1].as_str().unwrap().contains(words), "{seen:?}");
        assert_eq!(seen[2], json!({"shown": "", "hidden": true}));
    }
    assert_eq!(kept(&gateway, &id).await.state, "pending");
    // Somebody else is faster than the tap.
    let script = format!(
        "(() => {{ fetch('../v1/approvals/{id}/decision', {{method: 'POST', headers: {{authorization: 'Bearer {OWNER}',
            'content-type': 'application/json'}}, body: JSON.stringify({{decision: 'deny'}})}})
            .then(() => document.documentElement.setAttribute('lang', 'xx')); return true; }})()"
    );
    let denied = "document.documentElement.getAttribute('lang') === 'xx' ? true : null";
    let scripts: [&str; 6] = [&open(OWNER), SHOWN, &script, denied, APPROVE, SAID];
    let seen = act(&chromium, &gateway, &id, &scripts).await;
    assert!(
        seen[5].as_str().unwrap().contains("already denied"),
        "{seen:?}"
    );
    let record = kept(&gateway, &id).await;
    assert_eq!(
        (record.state.as_str(), record.decided_by.as_str()),
        ("denied", "http")
    );
    chromium.shutdown().await;
}
