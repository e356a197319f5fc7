//! The three dialects in which the question is put.

use super::answer::{Completion, OllamaChat, Responses, ruling};
use super::{JudgeOptions, JudgeProvider, OpenAiApi, Ruling};
use crate::base::BaseUrl;
use crate::error::ConfigError;
use reqwest::Request;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use url::Url;

const SCHEMA_NAME: &str = "page_verdict";
const MAX_ANSWER_TOKENS: u32 = 1_024;
/// Our own instructions and the frame around a piece, with room to spare; no token is shorter than a byte.
pub(super) const FRAME_BYTES: usize = 4_096;

#[derive(Clone, Copy, Debug)]
enum Dialect {
    Responses,
    ChatCompletions,
    Ollama { num_ctx: usize },
}

/// Everything about a provider that does not change between calls.
#[derive(Debug)]
pub(super) struct Wire {
    dialect: Dialect,
    base: BaseUrl,
    endpoint: Url,
    authorization: Option<HeaderValue>,
    model: String,
    temperature: Option<f32>,
}

impl Wire {
    pub(super) fn new(options: &JudgeOptions) -> Result<Self, ConfigError> {
        let (base, dialect, path, authorization): (_, _, &[&str], _) = match &options.provider {
            JudgeProvider::OpenAi { base, key, api } => {
                let header = Some(key.header("Bearer ", "the OpenAI API key")?);
                match api {
                    OpenAiApi::Responses => (base, Dialect::Responses, &["responses"], header),
                    OpenAiApi::ChatCompletions => (
                        base,
                        Dialect::ChatCompletions,
                        &["chat", "completions"],
                        header,
                    ),
                }
            }
            JudgeProvider::Ollama { base } => {
                let num_ctx = (options.chunk_bytes + FRAME_BYTES + MAX_ANSWER_TOKENS as usize)
                    .next_multiple_of(1_024);
                (base, Dialect::Ollama { num_ctx }, &["api", "chat"], None)
            }
        };
        Ok(Self {
            dialect,
            endpoint: base.join(path),
            base: base.clone(),
            authorization,
            model: options.model.trim().to_owned(),
            temperature: options.temperature,
        })
    }

    pub(super) fn root(&self) -> Url {
        self.base.join(&[])
    }

    pub(super) fn request(&self, system: &str, user: &str) -> Request {
        let mut request = Request::new(reqwest::Method::POST, self.endpoint.clone());
        *request.body_mut() = Some(self.body(system, user).to_string().into());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        request
    }

    fn body(&self, system: &str, user: &str) -> Value {
        let messages = json!([
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]);
        let mut body = match self.dialect {
            Dialect::Responses => json!({
                "model": self.model,
                "input": messages,
                "text": {"format": {
                    "type": "json_schema", "name": SCHEMA_NAME, "strict": true, "schema": schema(),
                }},
                "max_output_tokens": MAX_ANSWER_TOKENS,
                "store": false,
            }),
            Dialect::ChatCompletions => json!({
                "model": self.model,
                "messages": messages,
                "response_format": {"type": "json_schema", "json_schema": {
                    "name": SCHEMA_NAME, "strict": true, "schema": schema(),
                }},
                "max_completion_tokens": MAX_ANSWER_TOKENS,
                "stream": false,
            }),
            // Ollama cuts what does not fit its window without a word, so the window is sized for the worst case.
            Dialect::Ollama { num_ctx } => {
                return json!({
                    "model": self.model,
                    "messages": messages,
                    "format": schema(),
                    "stream": false,
                    "options": {
                        "temperature": 0, "seed": 0, "num_ctx": num_ctx, "num_predict": MAX_ANSWER_TOKENS,
                    },
                });
            }
        };
        if let (Some(temperature), Some(fields)) = (self.temperature, body.as_object_mut()) {
            fields.insert("temperature".to_owned(), json!(temperature));
        }
        body
    }

    /// The ruling in an answer; nothing unless it is finished, of one piece, and exactly of the agreed form.
    pub(super) fn ruling(&self, body: &[u8]) -> Option<Ruling> {
        let text = match self.dialect {
            Dialect::Responses => serde_json::from_slice::<Responses>(body).ok()?.text(),
            Dialect::ChatCompletions => serde_json::from_slice::<Completion>(body).ok()?.text(),
            Dialect::Ollama { .. } => serde_json::from_slice::<OllamaChat>(body).ok()?.text(),
        }?;
        ruling(&text)
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["clear", "block"]},
            "confidence": {"type": "number"},
            "reason_code": {"type": "string", "enum": [
                "benign", "discusses_attacks", "instruction_override", "data_exfiltration", "tool_abuse",
                "hidden_instructions", "judge_manipulation", "other_attack",
            ]},
        },
        "required": ["verdict", "confidence", "reason_code"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ReasonCode;
    use super::*;

    #[test]
    fn every_reason_code_is_in_the_schema() {
        let listed = schema()["properties"]["reason_code"]["enum"].clone();
        for code in listed.as_array().unwrap() {
            let read: ReasonCode = serde_json::from_value(code.clone()).unwrap();
            assert_eq!(code.as_str(), Some(read.as_str()));
        }
        assert_eq!(listed.as_array().unwrap().len(), 8);
    }
}
