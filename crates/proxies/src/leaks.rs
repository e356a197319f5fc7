//! What of a task would leave: every text of its parameters and its body.

use crate::definition::{Definition, Input, Operation, ParamKind};
use serde_json::Value;

/// All texts in one, each on its own lines, as stage 6b scans them. Parameters stand in the address, as they are sent, since
/// a long number in a path is no person's; free text of a query also stands alone.
pub(crate) fn texts_of(definition: &Definition, operation: &Operation, input: &Input) -> String {
    let base = definition.base.as_str().trim_end_matches('/');
    let mut text = format!("{base}{}\n", operation.target(input));
    for (name, value) in &input.texts {
        let kind = operation.params.get(name).map(|param| &param.kind);
        if matches!(kind, Some(ParamKind::Text(_))) {
            text.push_str(value);
            text.push('\n');
        }
    }
    let mut todo: Vec<&Value> = input.body.iter().collect();
    while let Some(value) = todo.pop() {
        match value {
            Value::String(one) => {
                text.push_str(one);
                text.push('\n');
            }
            Value::Number(number) => {
                text.push_str(&number.to_string());
                text.push('\n');
            }
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => {
                for (key, item) in map {
                    text.push_str(key);
                    text.push('\n');
                    todo.push(item);
                }
            }
            _ => {}
        }
    }
    text
}
