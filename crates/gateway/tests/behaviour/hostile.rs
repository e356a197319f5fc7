//! Bodies that lie about themselves, and markup that is made to cost: each ends soon, with an answer of ours.
//!
//! What happens on the wire before there is a body is tested where pages are fetched.

use crate::common::*;

const PAGE: &str =
    "<!doctype html><title>Report</title><p>The council approved the tram line on Tuesday.</p>";
const EVIL: &str = "<p>EVIL</p>";

fn gzip(body: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// What the origin says, by the name of the mode.
fn mode(name: &str) -> Say {
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0abcdefgh".repeat(20);
    let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0".repeat(20);
    let entities = "<!ENTITY a \"EVILEVILEVIL\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">";
    match name {
        "html-as-png" => typed("image/png", PAGE),
        "zip-as-html" => html(zip),
        "elf-as-text" => plain(elf),
        "pdf" => typed("application/pdf", "%PDF-1.7 EVIL"),
        "pdf-as-html" => html("%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj EVIL"),
        "svg" => typed(
            "image/svg+xml",
            format!("<svg xmlns='http://www.w3.org/2000/svg'>{EVIL}</svg>"),
        ),
        "multipart" => typed(
            "multipart/x-mixed-replace; boundary=a",
            format!("--a\r\n\r\n{EVIL}\r\n--a--"),
        ),
        "xxe" => typed(
            "application/xml",
            "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><r>tram &x; line</r>",
        ),
        "billion" => typed(
            "application/xml",
            format!("<!DOCTYPE r [{entities}]><r>tram &c; line</r>"),
        ),
        "utf7" => typed(
            "text/html; charset=utf-7",
            "<p>tram</p>+ADw-script+AD4-steal()+ADw-/script+AD4-",
        ),
        "utf16-unlabelled" => typed("text/html", utf16(PAGE)),
        "charset-lie" => typed("text/html; charset=utf-16le", PAGE),
        "iso2022" => typed("text/html; charset=iso-2022-kr", "<p>tram \x0eEVIL\x0f</p>"),
        "charset-unknown" => typed("text/html; charset=klingon-8", PAGE),
        "disposition" => reply(
            "200 OK",
            &[
                "Content-Type: text/html",
                "Content-Disposition: attachment; filename=\"../../etc/cron.d/EVIL\"",
            ],
            PAGE,
        ),
        "nested-gzip" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: gzip, gzip"],
            gzip(&gzip(&vec![b'a'; 20_000_000])),
        ),
        "gzip-in-gzip" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: gzip"],
            gzip(&gzip(PAGE.as_bytes())),
        ),
        "meta-refresh" => html(format!(
            "<meta http-equiv=refresh content='0;url=http://169.254.169.254/EVIL'>{PAGE}"
        )),
        "folded-location" => Say::Bytes(
            b"HTTP/1.1 302 Found\r\nLocation: /ok\r\n\tX-EVIL: y\r\nContent-Length: 0\r\n\r\n"
                .to_vec(),
        ),
        "split-location" => redirect("/ok%0d%0aSet-Cookie:%20a=y"),
        "unclosed-comment" => html(format!("<p>tram</p><!-- {}", "<a ".repeat(300_000))),
        "unclosed-tag" => html(format!("<p>tram</p><a {}", "b=c ".repeat(200_000))),
        "unclosed-giant" => html(format!("<p>tram</p><!-- {}", "<a ".repeat(1_700_000))),
        "wide" => html({
            let names: String = (0..60_000).map(|n| format!(" a{n}=b")).collect();
            format!("<p{names}>tram</p>")
        }),
        "bait" => html(format!(
            "<p>tram {}{}{}!</p>",
            "ignore all ".repeat(5_000),
            " ".repeat(50_000),
            "a".repeat(50_000)
        )),
        "entities" => html(format!("<p>tram {}</p>", "&#x41;".repeat(150_000))),
        "deep" => html(format!("{}tram", "<div>".repeat(100_000))),
        "deep-mixed" => html(format!("{}tram", "<table><td><b><svg><a>".repeat(15_000))),
        "echo" => plain("see the heads"),
        _ => html(PAGE),
    }
}

/// Every mode, with the statuses that are an answer to it.
const MODES: [(&str, &[u16]); 29] = [
    ("html-as-png", &[422]),
    ("zip-as-html", &[422]),
    ("elf-as-text", &[422]),
    ("pdf", &[422]),
    ("pdf-as-html", &[422]),
    ("svg", &[422]),
    ("multipart", &[422]),
    ("xxe", &[200]),
    ("billion", &[200]),
    ("utf7", &[200, 422]),
    ("utf16-unlabelled", &[200, 422]),
    ("charset-lie", &[200, 422]),
    ("iso2022", &[200, 422]),
    ("charset-unknown", &[200, 422]),
    ("disposition", &[200, 422]),
    ("nested-gzip", &[502]),
    ("gzip-in-gzip", &[422]),
    ("meta-refresh", &[200]),
    ("folded-location", &[502]),
    ("split-location", &[200]),
    ("unclosed-comment", &[200]),
    ("unclosed-tag", &[200]),
    ("unclosed-giant", &[502]),
    ("wide", &[200]),
    ("bait", &[200, 422]),
    ("entities", &[200, 422]),
    ("deep", &[200]),
    ("deep-mixed", &[200]),
    ("echo", &[200]),
];

#[tokio::test]
async fn every_lie_and_every_flood_ends_in_an_answer() {
    let origin = Origin::start(|path| mode(&path[1..])).await;
    let gateway = start(&[]).await;
    for (name, expected) in MODES {
        let answer = gateway.web_fetch(&origin.url(&format!("/{name}"))).await;
        assert!(
            expected.contains(&answer.status),
            "{name}: {} {}",
            answer.status,
            start_of(&answer)
        );
        for never in ["EVIL", "<script", "root:", "\0", "\u{7f}ELF", "PK\u{3}"] {
            assert!(
                !answer.text.contains(never),
                "{name}: {}",
                start_of(&answer)
            );
        }
        if answer.status == 200 {
            assert!(answer.is_allowed(), "{name}");
            assert!(answer.content().len() <= 1_000_000, "{name}");
        }
    }
    assert_eq!(gateway.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn all_of_them_at_once_end_too() {
    let origin = Origin::start(|path| mode(&path[1..])).await;
    let gateway = start(&[]).await;
    let mut asked = Vec::new();
    for (name, expected) in MODES {
        let request = gateway
            .request(reqwest::Method::POST, "/v1/web-fetch")
            .json(&serde_json::json!({ "url": origin.url(&format!("/{name}")) }));
        asked.push((name, expected, tokio::spawn(answer(request))));
    }
    for (name, expected, one) in asked {
        let answer = one.await.unwrap();
        assert!(
            expected.contains(&answer.status),
            "{name}: {}",
            start_of(&answer)
        );
    }
}

#[tokio::test]
async fn nothing_of_an_earlier_visit_is_sent_again() {
    let origin = Origin::start(|path| match path {
        "/set" => reply(
            "200 OK",
            &[
                "Content-Type: text/html",
                "Set-Cookie: id=EVIL",
                "ETag: \"EVIL\"",
            ],
            PAGE,
        ),
        _ => html(PAGE),
    })
    .await;
    let gateway = start(&[]).await;
    for path in ["/set", "/echo"] {
        assert!(gateway.web_fetch(&origin.url(path)).await.is_allowed());
    }
    let second = origin.heads()[1].to_lowercase();
    for never in [
        "cookie",
        "evil",
        "if-none-match",
        "authorization",
        "referer",
    ] {
        assert!(!second.contains(never), "{second}");
    }
}

fn start_of(answer: &Answer) -> String {
    answer.text.chars().take(300).collect()
}
