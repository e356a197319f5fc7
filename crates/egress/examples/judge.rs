//! Judges rows of HTTP messages or CONNECT targets against what they should be, for measuring.
//!
//! `MESSAGES=rows.jsonl cargo run -p blastshield-egress --example judge`: rows `{raw_b64, kind, verdict, source}`.
//! `TARGETS=rows.jsonl …`: rows `{target, valid, why}`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measuring program may fail loudly"
)]

use base64::Engine as _;
use blastshield_egress::http::{
    Authority, Chunked, Framing, HeadScan, RequestHead, ResponseHead, Scheme, Target, of_request,
    of_response,
};
use blastshield_policy::{AddressGuard, Ports};
use serde_json::Value;

/// Whether the message is read; what is cut off in its head is completed first.
fn reads(raw: &[u8], kind: &str, row: &Value) -> Result<(), String> {
    let mut raw = raw.to_vec();
    if row["source"].as_str().unwrap_or("").contains("llhttp") && raw.ends_with(b"\r\n") {
        raw.extend_from_slice(b"\r\n");
    }
    let mut scan = HeadScan::default();
    let mut place = scan.advance(&raw).map_err(|e| e.to_string())?;
    if place.is_none() {
        let cut = raw.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let first_line = raw.iter().filter(|b| **b == b'\n').count() == 0;
        if first_line {
            raw.extend_from_slice(b"\r\n");
        } else {
            raw.truncate(cut);
        }
        raw.extend_from_slice(b"\r\n");
        place = HeadScan::default()
            .advance(&raw)
            .map_err(|e| e.to_string())?;
    }
    let place = place.ok_or("no head")?;
    let (head, body) = (&raw[place.clone()], &raw[place.end..]);
    let (framing, decoder) = if kind == "response" {
        let head = ResponseHead::parse(head).map_err(|e| e.to_string())?;
        let framing = of_response(&head, "GET").map_err(|e| e.to_string())?;
        (framing, Chunked::response())
    } else {
        let head = RequestHead::parse(head).map_err(|e| e.to_string())?;
        if kind != "request" {
            allowed(&head)?;
        }
        let framing = of_request(&head).map_err(|e| e.to_string())?;
        (framing, Chunked::request())
    };
    if let Framing::Chunked { .. } = framing {
        let mut decoder = decoder;
        decoder
            .decode(body, &mut Vec::new(), usize::MAX)
            .map_err(|e| e.to_string())?;
        if !decoder.is_done() && kind != "response" {
            return Err("the body is cut off".to_owned());
        }
    }
    Ok(())
}

/// What a proxy that reaches public addresses alone says about the target.
fn allowed(head: &RequestHead) -> Result<(), String> {
    let authority = match Target::of(&head.method, &head.target).ok_or("target")? {
        Target::Connect(authority) => authority,
        Target::Absolute {
            scheme: Scheme::Http,
            authority,
            userinfo: false,
            ..
        } => authority,
        _ => return Err("target not taken".to_owned()),
    };
    guard(&authority)
}

fn guard(authority: &Authority) -> Result<(), String> {
    let public = [[93, 184, 216, 34].into()];
    AddressGuard::default()
        .admit(&authority.host, &public, 443)
        .map(drop)
        .map_err(|e| e.to_string())
}

fn main() {
    let rows = |name: &str| -> Vec<Value> {
        let Ok(path) = std::env::var(name) else {
            return Vec::new();
        };
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (mut right, mut all) = (0, 0);
    for row in rows("MESSAGES") {
        let raw = base64::engine::general_purpose::STANDARD
            .decode(row["raw_b64"].as_str().unwrap())
            .unwrap();
        let outcome = reads(&raw, row["kind"].as_str().unwrap(), &row);
        let good = match row["verdict"].as_str().unwrap() {
            "accept" => outcome.is_ok(),
            "reject" => outcome.is_err(),
            "reject_or_normalise" if outcome.is_ok() => {
                println!(
                    "note: read {:?}",
                    String::from_utf8_lossy(&raw[..raw.len().min(120)])
                );
                continue;
            }
            _ => continue,
        };
        all += 1;
        right += i32::from(good);
        if !good {
            println!(
                "{} {} {outcome:?} len {}: {:?}",
                row["verdict"],
                row["why"],
                raw.len(),
                String::from_utf8_lossy(&raw[..raw.len().min(300)])
            );
        }
    }
    println!("messages: {right} of {all}");
    let (mut right, mut all) = (0, 0);
    for row in rows("TARGETS") {
        let target = row["target"].as_str().unwrap();
        let syntax_only = row["why"] == "parses";
        let read = Target::of("CONNECT", target).is_some_and(|target| match target {
            Target::Connect(authority) => {
                let port = Ports::default().allow(authority.port.unwrap_or(0));
                syntax_only || (port && guard(&authority).is_ok())
            }
            _ => false,
        });
        all += 1;
        right += i32::from(read == row["valid"].as_bool().unwrap());
        if read != row["valid"].as_bool().unwrap() {
            println!("{row}");
        }
    }
    println!("targets: {right} of {all}");
}
