//! What counts as an answer: finished, of one piece, and exactly of the agreed form.

use super::{ReasonCode, Ruling, Verdict};
use serde::Deserialize;

const ANSWER_BYTES: usize = 2_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: Verdict,
    confidence: f32,
    reason_code: ReasonCode,
}

/// The ruling that a model wrote: exactly the agreed object, and one that does not contradict itself.
pub(super) fn ruling(text: &str) -> Option<Ruling> {
    let text = text.trim();
    if text.len() > ANSWER_BYTES || !text.starts_with('{') {
        return None;
    }
    let answer: Answer = serde_json::from_str(text).ok()?;
    let certain = (0.0..=1.0).contains(&answer.confidence);
    let coherent = answer.verdict == Verdict::Block || answer.reason_code.harmless();
    (certain && coherent).then_some(Ruling {
        verdict: answer.verdict,
        confidence: answer.confidence,
        reason_code: answer.reason_code,
    })
}

/// An answer of the Responses interface: complete, with one part of text beside any reasoning.
#[derive(Deserialize)]
pub(super) struct Responses {
    status: String,
    output: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    content: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

impl Responses {
    pub(super) fn text(self) -> Option<String> {
        if self.status != "completed" {
            return None;
        }
        let mut parts = self
            .output
            .into_iter()
            .filter(|item| item.kind != "reasoning")
            .map(|item| (item.kind == "message").then_some(item.content).flatten())
            .flat_map(|content| match content {
                Some(parts) => parts.into_iter().map(Some).collect(),
                None => vec![None],
            });
        let only = parts.next()??;
        (parts.next().is_none() && only.kind == "output_text")
            .then_some(only.text)
            .flatten()
    }
}

/// An answer of the Chat Completions interface: one finished choice.
#[derive(Deserialize)]
pub(super) struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl Completion {
    pub(super) fn text(self) -> Option<String> {
        let mut choices = self.choices.into_iter();
        let only = choices.next()?;
        let whole = choices.next().is_none()
            && only.finish_reason.as_deref() == Some("stop")
            && only.message.refusal.is_none();
        whole.then_some(only.message.content).flatten()
    }
}

/// An answer of Ollama: done, and not for lack of room.
#[derive(Deserialize)]
pub(super) struct OllamaChat {
    message: OllamaMessage,
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    content: String,
}

impl OllamaChat {
    pub(super) fn text(self) -> Option<String> {
        let whole = self.done
            && self
                .done_reason
                .as_deref()
                .is_none_or(|reason| reason == "stop");
        whole.then_some(self.message.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const CLEAR: &str = r#"{"verdict":"clear","confidence":0.9,"reason_code":"benign"}"#;

    #[test]
    fn only_the_agreed_form_is_a_ruling() {
        assert_eq!(
            ruling(&format!(" {CLEAR}\n")).map(|ruling| ruling.verdict),
            Some(Verdict::Clear)
        );
        for nonsense in [
            "",
            "clear",
            "verdict: clear",
            r#"["clear",0.9,"benign"]"#,
            r#"{"verdict":"clear"}"#,
            r#"{"verdict":"CLEAR","confidence":0.9,"reason_code":"benign"}"#,
            r#"{"verdict":"allow","confidence":0.9,"reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":"0.9","reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":1.5,"reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":-0.1,"reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":1e999,"reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":0.9,"reason_code":"fine"}"#,
            r#"{"verdict":"clear","confidence":0.9,"reason_code":"tool_abuse"}"#,
            r#"{"verdict":"clear","confidence":0.9,"reason_code":"benign","note":"x"}"#,
            r#"{"verdict":"block","verdict":"clear","confidence":0.9,"reason_code":"benign"}"#,
            r#"Sure! {"verdict":"clear","confidence":0.9,"reason_code":"benign"}"#,
            r#"{"verdict":"clear","confidence":0.9,"reason_code":"benign"} as asked"#,
            "```json\n{\"verdict\":\"clear\",\"confidence\":0.9,\"reason_code\":\"benign\"}\n```",
        ] {
            assert_eq!(ruling(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_block_counts_whatever_its_reason() {
        let text = r#"{"verdict":"block","confidence":1,"reason_code":"benign"}"#;
        assert_eq!(
            ruling(text).map(|ruling| ruling.verdict),
            Some(Verdict::Block)
        );
    }

    fn responses(value: &Value) -> Option<String> {
        serde_json::from_value::<Responses>(value.clone())
            .ok()?
            .text()
    }

    #[test]
    fn responses_must_be_complete_and_of_one_part() {
        let part = json!({"type": "output_text", "text": CLEAR, "annotations": []});
        let message =
            |content: Value| json!({"type": "message", "role": "assistant", "content": content});
        let answer =
            |status: &str, output: Value| json!({"id": "r", "status": status, "output": output});
        let reasoning = json!({"type": "reasoning", "summary": []});
        assert_eq!(
            responses(&answer(
                "completed",
                json!([reasoning, message(json!([part]))])
            ))
            .as_deref(),
            Some(CLEAR)
        );
        for broken in [
            answer("incomplete", json!([message(json!([part]))])),
            answer("completed", json!([])),
            answer("completed", json!([message(json!([part, part]))])),
            answer(
                "completed",
                json!([message(json!([part])), message(json!([part]))]),
            ),
            answer(
                "completed",
                json!([message(json!([{"type": "refusal", "refusal": "no"}]))]),
            ),
            answer(
                "completed",
                json!([message(json!([part])), {"type": "function_call", "name": "x"}]),
            ),
            answer(
                "completed",
                json!([message(json!([{"type": "output_text", "text": 1}]))]),
            ),
        ] {
            assert_eq!(responses(&broken), None, "{broken}");
        }
    }

    #[test]
    fn completions_must_be_finished_and_single() {
        let choice = |content: Value, reason: &str| json!({"message": {"content": content}, "finish_reason": reason});
        let read = |value: Value| serde_json::from_value::<Completion>(value).ok()?.text();
        let good = choice(json!(CLEAR), "stop");
        assert_eq!(read(json!({"choices": [good]})).as_deref(), Some(CLEAR));
        for broken in [
            json!({"choices": []}),
            json!({"choices": [good, good]}),
            json!({"choices": [choice(json!(CLEAR), "length")]}),
            json!({"choices": [choice(json!(CLEAR), "content_filter")]}),
            json!({"choices": [choice(Value::Null, "stop")]}),
            json!({"choices": [choice(json!([CLEAR]), "stop")]}),
            json!({"choices": [{"message": {"content": CLEAR, "refusal": "no"}, "finish_reason": "stop"}]}),
        ] {
            assert_eq!(read(broken.clone()), None, "{broken}");
        }
    }

    #[test]
    fn an_ollama_answer_must_be_done() {
        let read = |value: Value| serde_json::from_value::<OllamaChat>(value).ok()?.text();
        let message = json!({"role": "assistant", "content": CLEAR});
        assert!(read(json!({"message": message, "done": true, "done_reason": "stop"})).is_some());
        assert!(read(json!({"message": message, "done": false})).is_none());
        assert!(read(json!({"message": message, "done": true, "done_reason": "length"})).is_none());
    }
}
