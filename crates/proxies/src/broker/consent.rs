//! What the owner is asked before something is sent: every field of it, and the hash of all of it.

use crate::definition::{Definition, Input, Operation};
use blastshield_audit::Digest;
use blastshield_owner::{Action, Ask, MAX_DETAILS, MAX_VALUE, Value};

/// Names that the message itself uses.
const TAKEN: [&str; 5] = ["service", "operation", "request", "host", "sha256"];

/// The request to the owner. The same input gives the same request, to which the answer is bound.
pub(crate) fn request(
    definition: &Definition,
    operation: &Operation,
    input: &Input,
    task: &str,
) -> Ask {
    let reason = format!(
        "The agent wants to send this to {} ({})",
        definition.name,
        operation.method.as_str()
    );
    let whole = input
        .body
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let bound = format!("{}\n{whole}", operation.target(input));
    let mut ask = Ask::new(
        Action::Post,
        reason,
        format!("agent/proxy-{}", definition.name),
    )
    .with("service", text(&definition.name))
    .with("operation", text(&operation.name))
    .with("request", text(&operation.target(input)))
    .to_host(definition.base.host_str().unwrap_or_default());
    let fields = input.body.iter().filter_map(|body| body.as_object());
    for (name, value) in fields.flatten() {
        if ask.details.len() + 1 >= MAX_DETAILS {
            break;
        }
        let shown = match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let known = |key: &str| key.eq_ignore_ascii_case(name);
        let key = if TAKEN.into_iter().any(known) || !is_key(name) {
            format!("field-{}", ask.details.len())
        } else {
            name.clone()
        };
        ask = ask.with(key, text(&shown));
    }
    ask.session = Some(task.to_owned());
    ask.timeout = Some(definition.timeouts.approval);
    ask.with("sha256", text(&Digest::of(bound.as_bytes()).to_string()))
}

fn text(value: &str) -> Value {
    let mut end = value.len().min(MAX_VALUE);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    Value::Text(value.get(..end).unwrap_or_default().to_owned())
}

fn is_key(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::MOLTBOOK;
    use serde_json::json;

    #[test]
    fn any_change_is_another_request() {
        let moltbook = Definition::parse(MOLTBOOK, false).unwrap();
        let comment = &moltbook.operations["comment"];
        let ask = |content: &str, thread: &str| {
            let given = json!({"thread_id": thread, "content": content});
            let input = comment.input(given.as_object().unwrap(), 1 << 20).unwrap();
            request(&moltbook, comment, &input, "t1")
        };
        let one = ask("hello", "a");
        assert_eq!(one, ask("hello", "a"));
        assert_ne!(one, ask("hello!", "a"));
        assert_ne!(one, ask("hello", "b"));
        // Beyond what is shown, the hash differs.
        let long = "x".repeat(9000);
        assert_ne!(ask(&format!("{long}a"), "a"), ask(&format!("{long}b"), "a"));
        let names: Vec<&str> = one.details.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            names,
            ["service", "operation", "request", "content", "sha256"]
        );
    }
}
