//! Converts rows for measuring: `{"html","url"?}` or `{"body_b64","content_type"}` per line on standard input, and
//! `{"text","flags","decision","charset"}` per line on standard output. `--markdown` for markdown, `--hidden` to see what was
//! taken out.

use std::io::{BufRead, Write};

use blastshield_content::{Mode, decode, html, read};
use serde_json::{Value, json};
use url::Url;

fn main() -> std::io::Result<()> {
    let mode = if std::env::args().any(|argument| argument == "--markdown") {
        Mode::Markdown
    } else {
        Mode::Text
    };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", convert(&row, mode))?;
        out.flush()?;
    }
    Ok(())
}

fn convert(row: &Value, mode: Mode) -> Value {
    let field = |name: &str| row.get(name).and_then(Value::as_str);
    let url = field("url").and_then(|url| Url::parse(url).ok());
    if let Some(body) = field("body_b64") {
        let bytes = from_base64(body);
        let header = field("content_type");
        return match (
            decode(&bytes, header),
            read(&bytes, header, url.as_ref(), mode),
        ) {
            (Ok(decoded), Ok(page)) => answer(&page.content, &page.flags, decoded.charset),
            (Err(error), _) | (_, Err(error)) => {
                json!({"text": "", "flags": [], "decision": "block", "error": error.to_string()})
            }
        };
    }
    let page = html::convert(field("html").unwrap_or_default(), url.as_ref(), mode);
    let mut answer = answer(&page.content, &page.flags, "UTF-8");
    let wants_hidden = std::env::args().any(|argument| argument == "--hidden");
    if let Some(fields) = answer.as_object_mut().filter(|_| wants_hidden) {
        fields.insert("hidden".into(), json!(page.hidden));
        fields.insert("summary".into(), json!(page.summary));
    }
    answer
}

fn answer<'a>(
    text: &str,
    flags: impl IntoIterator<Item = &'a blastshield_content::Flag>,
    charset: &str,
) -> Value {
    let flags: Vec<&str> = flags.into_iter().map(|flag| flag.as_str()).collect();
    json!({"text": text, "flags": flags, "decision": "allow", "charset": charset})
}

fn from_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
