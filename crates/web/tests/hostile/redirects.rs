//! Redirects in circles, into the inside, and past the policy.

use std::sync::{Arc, Mutex};

use blastshield_policy::{DomainList, DomainPolicy, HopPolicy};
use blastshield_web::{FetchError, FetchLimits, Fetcher, FetcherOptions, Standing};
use tokio::net::TcpListener;

use crate::origin::{Origin, PAGE, head, page, redirect};
use crate::{fetch, fetcher, limits, names, policy};

fn lists(allow: &str, block: &str) -> HopPolicy {
    let domains = DomainPolicy {
        allow: DomainList::parse(allow).unwrap(),
        block: DomainList::parse(block).unwrap(),
    };
    HopPolicy {
        domains: Arc::new(domains),
        ..policy(&["127.0.0.0/8"])
    }
}

/// What comes of a redirect to `to`, as a code.
async fn following(to: &'static str) -> &'static str {
    let origin = Origin::start(move |path| {
        if path == "/go" {
            redirect(302, to)
        } else {
            page(PAGE, &[])
        }
    })
    .await;
    let narrow = fetcher(policy(&["127.0.0.1/32"]));
    let code = narrow
        .fetch(&origin.url("/go"), &limits())
        .await
        .map_or_else(|error| error.code(), |_| "ok");
    let followed = code == "ok" || code == "redirect_loop";
    assert_eq!(
        origin.hits(),
        if followed && code == "ok" { 2 } else { 1 },
        "{to}"
    );
    code
}

#[tokio::test]
async fn every_way_inside_is_refused() {
    for (to, code) in [
        ("http://10.0.0.1/", "address_not_public"),
        ("http://127.0.0.2/", "address_not_public"),
        (
            "http://169.254.169.254/latest/meta-data/",
            "address_not_public",
        ),
        ("http://[::ffff:169.254.169.254]/", "address_not_public"),
        ("http://[::1]/", "address_not_public"),
        ("http://[64:ff9b::a9fe:a9fe]/", "address_not_public"),
        ("http://168.63.129.16/", "address_not_public"),
        ("http://2852039166/", "address_not_public"),
        ("//169.254.169.254/", "address_not_public"),
        ("///169.254.169.254/", "address_not_public"),
        (" http://10.0.0.1/ ", "address_not_public"),
        ("http://10。0。0。1/", "address_not_public"),
        ("http:\\\\169.254.169.254\\", "url_backslash"),
        ("/\\10.0.0.1/", "url_backslash"),
        (
            "http://example.com@169.254.169.254/",
            "userinfo_not_allowed",
        ),
        ("http://localhost/", "local_name"),
        ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "local_name"),
        ("http://metadata.google.internal/", "local_name"),
        ("file:///etc/passwd", "scheme_not_allowed"),
        ("gopher://127.0.0.1:6379/_INFO", "scheme_not_allowed"),
        ("data:text/html,<p>EVIL</p>", "scheme_not_allowed"),
        ("javascript:alert(1)", "scheme_not_allowed"),
        ("ftp://origin.test/", "scheme_not_allowed"),
        ("/ok\tx", "url_control_character"),
        ("http://", "url_invalid"),
        ("", "redirect_invalid"),
    ] {
        assert_eq!(following(to).await, code, "{to}");
    }
}

#[tokio::test]
async fn ordinary_targets_are_followed() {
    for to in [
        "/next",
        "next?a=b#c",
        "../x/./y",
        "?only=query",
        "/ok%0d%0aSet-Cookie:%20x=y",
        "/täst",
    ] {
        assert_eq!(following(to).await, "ok", "{to}");
    }
}

#[tokio::test]
async fn a_target_too_long_is_refused() {
    let origin = Origin::start(|_| redirect(302, &format!("/{}", "a".repeat(12_000)))).await;
    let got = fetch(&origin.url("/"), &limits()).await;
    assert_eq!(got.unwrap_err().code(), "url_too_long");
}

#[tokio::test]
async fn every_kind_of_redirect_is_followed_and_no_other_status() {
    for status in [301, 302, 303, 307, 308] {
        let origin = Origin::start(move |path| {
            if path == "/go" {
                redirect(status, "/end")
            } else {
                page(PAGE, &[])
            }
        })
        .await;
        let fetched = fetch(&origin.url("/go"), &limits()).await.unwrap();
        assert_eq!(fetched.final_url.path(), "/end");
        assert_eq!(fetched.url.path(), "/go");
        assert_eq!(fetched.hops.len(), 2);
    }
    for status in [300, 304, 305, 306] {
        let origin = Origin::start(move |_| redirect(status, "/end")).await;
        assert_eq!(
            fetch(&origin.url("/go"), &limits()).await.map(|_| ()),
            Err(FetchError::Status(status))
        );
    }
}

#[tokio::test]
async fn circles_end() {
    let origin = Origin::start(|path| match path {
        "/a" => redirect(302, "/b#x"),
        "/b" => redirect(302, "/a#y"),
        _ => redirect(302, "/self"),
    })
    .await;
    for path in ["/self", "/a"] {
        assert_eq!(
            fetch(&origin.url(path), &limits()).await.map(|_| ()),
            Err(FetchError::RedirectLoop),
            "{path}"
        );
    }
}

#[tokio::test]
async fn chains_end_at_the_limit() {
    let origin = Origin::start(|path| match path.trim_start_matches('/').parse::<usize>() {
        Ok(n) if n > 0 => redirect(302, &format!("/{}", n - 1)),
        _ => page(PAGE, &[]),
    })
    .await;
    let three = FetchLimits {
        redirects: 3,
        ..limits()
    };
    assert_eq!(
        fetch(&origin.url("/3"), &three).await.unwrap().hops.len(),
        4
    );
    assert_eq!(
        fetch(&origin.url("/4"), &three).await.map(|_| ()),
        Err(FetchError::TooManyRedirects)
    );
    let none = FetchLimits {
        redirects: 0,
        ..limits()
    };
    assert_eq!(fetch(&origin.url("/0"), &none).await.unwrap().hops.len(), 1);
    assert_eq!(
        fetch(&origin.url("/1"), &none).await.map(|_| ()),
        Err(FetchError::TooManyRedirects)
    );
}

#[tokio::test]
async fn a_redirect_leads_to_one_place() {
    let origin = Origin::start(|path| match path {
        "/two" => vec![head(
            "302 Found",
            &["Location: /ok", "Location: http://169.254.169.254/"],
        )],
        "/none" => vec![head("302 Found", &["Content-Length: 0"])],
        _ => page(PAGE, &[]),
    })
    .await;
    for path in ["/two", "/none"] {
        assert_eq!(
            fetch(&origin.url(path), &limits()).await.map(|_| ()),
            Err(FetchError::BadRedirect),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_refused_neighbour_is_never_dialled() {
    let neighbour = Origin::listen(TcpListener::bind("127.0.0.2:0").await.unwrap(), |_| {
        page("inside", &[])
    });
    let inside = neighbour.url("/");
    let origin = Origin::start(move |_| redirect(302, &inside)).await;
    let narrow = fetcher(policy(&["127.0.0.1/32"]));
    let error = narrow.fetch(&origin.url("/"), &limits()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the host leads to a loopback address (redirect 1)"
    );
    assert_eq!(neighbour.hits(), 0);
}

#[tokio::test]
async fn the_blocklist_holds_on_every_hop() {
    let origin = Origin::start(|path| {
        if path == "/end" {
            page(PAGE, &[])
        } else {
            redirect(302, &path.replace("/to/", "http://"))
        }
    })
    .await;
    let port = origin.addr.port();
    let guarded = fetcher(lists("", "blocked.test"));
    let blocked = guarded
        .fetch(
            &format!("http://origin.test:{port}/to/BLOCKED.test.:{port}/end"),
            &limits(),
        )
        .await;
    assert_eq!(blocked.unwrap_err().code(), "domain_blocked");
    assert_eq!(origin.hits(), 1);
    let first = guarded
        .fetch(&format!("http://blocked.test:{port}/end"), &limits())
        .await;
    assert_eq!(first.unwrap_err().code(), "domain_blocked");
    assert_eq!(origin.hits(), 1);
}

#[tokio::test]
async fn the_standing_of_every_hop_is_told() {
    let origin = Origin::start(|path| {
        if path == "/end" {
            page(PAGE, &[])
        } else {
            redirect(302, &path.replace("/to/", "http://"))
        }
    })
    .await;
    let port = origin.addr.port();
    let fetched = fetcher(lists("allowed.test", ""))
        .fetch(
            &format!("http://allowed.test:{port}/to/other.test:{port}/end"),
            &limits(),
        )
        .await
        .unwrap();
    let told: Vec<(String, Standing)> = fetched
        .hops
        .iter()
        .map(|hop| (hop.host.to_string(), hop.standing))
        .collect();
    assert_eq!(
        told,
        [
            ("allowed.test".to_owned(), Standing::Allowed),
            ("other.test".to_owned(), Standing::Unlisted)
        ]
    );
}

#[tokio::test]
async fn a_changed_policy_holds_from_the_next_hop() {
    let current = Arc::new(Mutex::new(Arc::new(lists("", ""))));
    let changing = Arc::clone(&current);
    let origin = Origin::start(move |path| {
        *changing.lock().unwrap() = Arc::new(lists("", "other.test"));
        if path == "/end" {
            page(PAGE, &[])
        } else {
            redirect(302, &path.replace("/to/", "http://"))
        }
    })
    .await;
    let source = Arc::clone(&current);
    let options = FetcherOptions {
        resolver: names(),
        ..FetcherOptions::new(Arc::new(move || Arc::clone(&source.lock().unwrap())))
    };
    let port = origin.addr.port();
    let got = Fetcher::new(options)
        .unwrap()
        .fetch(
            &format!("http://origin.test:{port}/to/other.test:{port}/end"),
            &limits(),
        )
        .await;
    assert_eq!(got.unwrap_err().code(), "domain_blocked");
}

#[tokio::test]
async fn a_failed_walk_tells_who_was_asked() {
    let origin = Origin::start(|path| {
        if path == "/end" {
            vec![head("404 Gone", &[])]
        } else {
            redirect(302, &path.replace("/to/", "http://"))
        }
    })
    .await;
    let port = origin.addr.port();
    let mut hops = Vec::new();
    let url = format!("http://origin.test:{port}/to/other.test:{port}/end");
    let got = fetcher(policy(&["127.0.0.0/8"]))
        .fetch_noting(&url, &limits(), &mut hops)
        .await;
    assert_eq!(got.map(|_| ()), Err(FetchError::Status(404)));
    let asked: Vec<String> = hops.iter().map(|hop| hop.host.to_string()).collect();
    assert_eq!(asked, ["origin.test", "other.test"]);
    assert!(hops.iter().all(|hop| hop.by_exception));
}
