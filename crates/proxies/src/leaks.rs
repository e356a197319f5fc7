//! What of a task would leave: every text of its parameters and its body.

use crate::definition::Input;
use serde_json::Value;

/// All texts in one, each on its own lines, as stage 6b scans them.
pub(crate) fn texts_of(input: &Input) -> String {
    let mut text = String::new();
    for value in input.texts.values() {
        text.push_str(value);
        text.push('\n');
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
