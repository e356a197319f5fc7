//! `blastshield fetch` and `blastshield search`: the gateway's endpoints, from a terminal.

use crate::args::{FetchOptions, ModeName, SearchOptions, SettingsOptions};
use crate::serve::runtime;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::bail;
use blastshield_gateway::Local;
use serde_json::{Value, json};

pub(crate) fn fetch(options: &FetchOptions) -> anyhow::Result<u8> {
    let mode = match options.mode {
        ModeName::Text => "text",
        ModeName::Markdown => "markdown",
    };
    let mut request = json!({ "url": options.url, "extractMode": mode });
    if let (Some(most), Some(fields)) = (options.max_chars, request.as_object_mut()) {
        fields.insert("maxChars".to_owned(), json!(most));
    }
    let answer = ask(&options.settings, "/v1/web-fetch", &request)?;
    let safety = answer.get("safety").unwrap_or(&Value::Null);
    let blocked = text(safety, "decision") == "block";
    if options.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else if blocked {
        eprintln!("blocked: {}", text(safety, "reason"));
    } else {
        println!("{}", text(&answer, "content"));
    }
    Ok(if blocked { FINDINGS } else { CLEAN })
}

pub(crate) fn search(options: &SearchOptions) -> anyhow::Result<u8> {
    let request = json!({ "query": options.query, "count": options.count });
    let answer = ask(&options.settings, "/v1/search", &request)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(CLEAN);
    }
    let results = answer.get("results").and_then(Value::as_array);
    for result in results.into_iter().flatten() {
        println!(
            "{}\n  {} | {} | risk {}\n  {}\n",
            text(result, "title"),
            text(result, "source"),
            text(result, "result_id"),
            text(result, "risk_hint"),
            text(result, "snippet"),
        );
    }
    Ok(CLEAN)
}

/// Asks an endpoint; an error answer is an error here.
fn ask(options: &SettingsOptions, path: &'static str, request: &Value) -> anyhow::Result<Value> {
    let settings = settings(options)?;
    let (status, answer) = runtime()?.block_on(async {
        let local = Local::new(settings).await?;
        let answered = local.post(path, request).await;
        local.close().await;
        anyhow::Ok(answered)
    })?;
    if let Some(error) = answer.get("error") {
        bail!("{} ({})", text(error, "message"), text(error, "code"));
    }
    if !matches!(status, 200 | 422) {
        bail!("the gateway answered with status {status}");
    }
    Ok(answer)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
