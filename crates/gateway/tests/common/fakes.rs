//! Search providers, models and renderers, as far as the gateway knows them.

use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

pub(crate) const BRAVE_KEY: &str = "brave-key-0123456789";
pub(crate) const OPENAI_KEY: &str = "openai-key-0123456789";
pub(crate) const BROWSERLESS_TOKEN: &str = "browserless-token-0123456789";

/// A service that says the same to everybody.
pub(crate) async fn service(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(response)
        .mount(&server)
        .await;
    server
}

/// A service that answers with this JSON.
pub(crate) async fn json_service(body: Value) -> MockServer {
    service(ResponseTemplate::new(200).set_body_json(body)).await
}

/// Every request to a service except those that only ask whether it is there.
pub(crate) async fn requests(server: &MockServer) -> Vec<wiremock::Request> {
    let all = server.received_requests().await.unwrap();
    all.into_iter()
        .filter(|request| request.url.path() != "/")
        .collect()
}

/// The body of a request.
pub(crate) fn sent(request: &wiremock::Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// One result of Brave's.
pub(crate) fn hit(url: &str, title: &str, description: &str) -> Value {
    json!({"url": url, "title": title, "description": description, "page_age": "2026-01-02T03:04:05"})
}

/// Brave with these results.
pub(crate) async fn brave(results: &[Value]) -> MockServer {
    json_service(json!({"type": "search", "web": {"results": results}})).await
}

/// SearXNG with one result.
pub(crate) async fn searxng(url: &str, title: &str) -> MockServer {
    json_service(json!({"results": [{"url": url, "title": title, "content": "From the metasearch engine."}]})).await
}

/// The variables that point at a Brave of ours.
pub(crate) fn brave_variables(base: &str) -> Vec<(&str, &str)> {
    vec![
        ("CLAWRUBBER_BRAVE_API_KEY", BRAVE_KEY),
        ("CLAWRUBBER_BRAVE_API_BASE_URL", base),
        ("CLAWRUBBER_BRAVE_RATE_LIMIT", "1000"),
    ]
}

/// What a judge says.
pub(crate) fn ruling(verdict: &str) -> String {
    let code = if verdict == "clear" {
        "benign"
    } else {
        "instruction_override"
    };
    json!({"verdict": verdict, "confidence": 0.9, "reason_code": code}).to_string()
}

/// OpenAI's Responses with this text.
pub(crate) fn openai_says(text: &str) -> Value {
    json!({"status": "completed", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    ]})
}

/// OpenAI's Chat Completions with this text.
pub(crate) fn chat_says(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
}

/// Ollama with this text.
pub(crate) fn ollama_says(text: &str) -> Value {
    json!({"message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"})
}

/// The variables of a judge at OpenAI's.
pub(crate) fn openai_variables(base: &str) -> Vec<(&str, &str)> {
    vec![
        ("CLAWRUBBER_LLM_JUDGE_ENABLED", "true"),
        ("CLAWRUBBER_LLM_PROVIDER", "openai"),
        ("CLAWRUBBER_LLM_MODEL", "gpt-small"),
        ("CLAWRUBBER_OPENAI_API_KEY", OPENAI_KEY),
        ("CLAWRUBBER_OPENAI_BASE_URL", base),
    ]
}

/// The variables of a judge at Ollama's.
pub(crate) fn ollama_variables(base: &str) -> Vec<(&str, &str)> {
    vec![
        ("CLAWRUBBER_LLM_JUDGE_ENABLED", "true"),
        ("CLAWRUBBER_LLM_PROVIDER", "ollama"),
        ("CLAWRUBBER_LLM_MODEL", "llama-small"),
        ("CLAWRUBBER_OLLAMA_BASE_URL", base),
    ]
}

/// Browserless with this page, found at this address.
pub(crate) async fn browserless(page: &str, found_at: &str) -> MockServer {
    let response = ResponseTemplate::new(200)
        .set_body_raw(page.as_bytes().to_vec(), "text/html; charset=utf-8")
        .insert_header("x-response-code", "200")
        .insert_header("x-response-url", found_at);
    service(response).await
}

/// The variables of a renderer.
pub(crate) fn browserless_variables(base: &str) -> Vec<(&str, &str)> {
    vec![
        ("CLAWRUBBER_WEBSITE_RENDERER_BACKEND", "browserless"),
        ("CLAWRUBBER_BROWSERLESS_URL", base),
        ("CLAWRUBBER_BROWSERLESS_TOKEN", BROWSERLESS_TOKEN),
    ]
}

/// An address at which nobody listens.
pub(crate) async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
