//! Compression: what was offered is decoded, the rest refused, and no few bytes become many.

use async_compression::tokio::write::{
    BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
};
use blastshield_web::FetchError;
use tokio::io::AsyncWriteExt;

use crate::bodies::{HTML, get};
use crate::origin::{Origin, PAGE, head, page, send};
use crate::{fetch, limits};

/// A body compressed by the encoding of that name; `raw` is deflate without its wrapper.
async fn compressed(encoding: &str, body: &[u8]) -> Vec<u8> {
    macro_rules! with {
        ($encoder:ident) => {{
            let mut encoder = $encoder::new(Vec::new());
            encoder.write_all(body).await.unwrap();
            encoder.shutdown().await.unwrap();
            encoder.into_inner()
        }};
    }
    match encoding {
        "gzip" => with!(GzipEncoder),
        "deflate" => with!(ZlibEncoder),
        "raw" => with!(DeflateEncoder),
        "br" => with!(BrotliEncoder),
        "zstd" => with!(ZstdEncoder),
        other => panic!("{other}"),
    }
}

fn header_for(encoding: &str) -> String {
    format!(
        "Content-Encoding: {}",
        if encoding == "raw" {
            "deflate"
        } else {
            encoding
        }
    )
}

#[tokio::test]
async fn every_offered_encoding_is_decoded() {
    for encoding in ["gzip", "deflate", "raw", "br", "zstd"] {
        let text = PAGE.repeat(50);
        let body = compressed(encoding, text.as_bytes()).await;
        let origin = Origin::saying({
            let body = body.clone();
            move || page(&body, &[&header_for(encoding)])
        })
        .await;
        let fetched = fetch(&origin.url("/"), &limits()).await.unwrap();
        assert_eq!(fetched.body, text.as_bytes(), "{encoding}");
        assert_eq!(fetched.wire_bytes, body.len() as u64, "{encoding}");
    }
}

#[tokio::test]
async fn bombs_stop_at_the_decoded_limit() {
    for encoding in ["gzip", "deflate", "raw", "br", "zstd"] {
        let body = compressed(encoding, &vec![b'a'; 16 << 20]).await;
        assert!(body.len() < 100_000);
        let got = get(move || page(&body, &[&header_for(encoding)])).await;
        assert_eq!(got, Err(FetchError::DecodedLimit), "{encoding}");
    }
}

#[tokio::test]
async fn layered_and_unknown_encodings_are_refused() {
    let twenty = format!("Content-Encoding: {}", ["gzip"; 20].join(", "));
    for lines in [
        vec!["Content-Encoding: gzip, gzip"],
        vec!["Content-Encoding: gzip", "Content-Encoding: br"],
        vec!["Content-Encoding: zzip"],
        vec![&twenty],
    ] {
        let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        let got =
            get(move || page(PAGE, &lines.iter().map(String::as_str).collect::<Vec<_>>())).await;
        assert_eq!(got, Err(FetchError::Encoding));
    }
    let transfer = get(|| {
        vec![
            head("200 OK", &[HTML, "Transfer-Encoding: gzip, chunked"]),
            send("5\r\nhello\r\n0\r\n\r\n"),
        ]
    })
    .await;
    assert_eq!(transfer, Err(FetchError::Encoding));
}

#[tokio::test]
async fn damaged_compression_is_an_error() {
    for encoding in ["gzip", "deflate", "raw", "br", "zstd"] {
        let whole = compressed(encoding, PAGE.repeat(50).as_bytes()).await;
        let cut = whole[..whole.len() / 2].to_vec();
        assert_eq!(
            get(move || page(&cut, &[&header_for(encoding)])).await,
            Err(FetchError::Damaged),
            "{encoding} cut"
        );
        let got = get(move || page(PAGE, &[&header_for(encoding)])).await;
        assert_eq!(got, Err(FetchError::Damaged), "{encoding} plain");
    }
}

#[tokio::test]
async fn junk_after_the_compressed_stream_is_damage() {
    for encoding in ["gzip", "deflate", "raw", "br", "zstd"] {
        let mut body = compressed(encoding, PAGE.as_bytes()).await;
        body.extend(b"JUNK<p>EVIL</p>");
        let got = get(move || page(&body, &[&header_for(encoding)])).await;
        assert_eq!(got, Err(FetchError::Damaged), "{encoding}");
    }
}

#[tokio::test]
async fn concatenated_streams_are_one_body_and_one_limit() {
    for encoding in ["gzip", "zstd"] {
        let mut body = compressed(encoding, b"one ").await;
        body.extend(compressed(encoding, b"two").await);
        let got = get(move || page(&body, &[&header_for(encoding)])).await;
        assert_eq!(got.as_deref(), Ok("one two"), "{encoding}");
        let many = compressed(encoding, &[b'a'; 50_000]).await.repeat(10);
        let got = get(move || page(&many, &[&header_for(encoding)])).await;
        assert_eq!(got, Err(FetchError::DecodedLimit), "{encoding}");
    }
}

#[tokio::test]
async fn a_zstd_frame_cannot_claim_memory() {
    // A frame with a window of 128 MiB that holds one raw byte, alone and after an honest one.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x09, 0x00, 0x00, b'x'];
    let second = [compressed("zstd", PAGE.as_bytes()).await, frame.to_vec()].concat();
    for body in [frame.to_vec(), second] {
        let got = get(move || page(&body, &["Content-Encoding: zstd"])).await;
        assert_eq!(got, Err(FetchError::Damaged));
    }
}

#[tokio::test]
async fn an_empty_body_is_empty_in_every_encoding() {
    for encoding in ["gzip", "raw", "br", "zstd", "identity"] {
        assert_eq!(
            get(move || page("", &[&header_for(encoding)]))
                .await
                .as_deref(),
            Ok(""),
            "{encoding}"
        );
    }
}
