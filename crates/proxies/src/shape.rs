//! A JSON Schema, and what of a document it speaks about: answers are cut down to what their schema declares.

use blastshield_pipeline::{Schema, SchemaError};
use serde_json::{Map, Value};

/// Deeper schemas are refused; deeper documents are refused by [`Schema`].
const MAX_DEPTH: usize = 32;
const MAX_BYTES: usize = 64 << 10;

/// A schema that was compiled.
#[derive(Debug)]
pub(crate) struct Shape {
    schema: Schema,
    text: Value,
}

impl Shape {
    /// Reads a schema; nothing when it cannot be used.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let text: Value = serde_json::from_str(text).ok()?;
        let describes = matches!(
            text.get("type").and_then(Value::as_str),
            Some("object" | "array")
        );
        if !describes || depth_over(&text, MAX_DEPTH) || refers(&text) {
            return None;
        }
        let schema = Schema::new(&text).ok()?;
        Some(Self { schema, text })
    }

    /// Checks a document.
    ///
    /// # Errors
    /// The place that does not fit.
    pub(crate) fn check(&self, document: &Value) -> Result<(), String> {
        self.schema
            .check(&document.to_string())
            .map_err(|error| match error {
                SchemaError::Shape { place } => place,
                other => other.to_string(),
            })
    }

    /// The compiled schema.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What the schema declares of a document, and how many properties it does not.
    pub(crate) fn declared(&self, document: &Value) -> (Value, usize) {
        let mut dropped = 0;
        let kept = keep(&self.text, document, &mut dropped);
        (kept, dropped)
    }
}

/// Properties that no `properties` names are dropped; a schema without `properties` keeps scalars alone.
fn keep(schema: &Value, document: &Value, dropped: &mut usize) -> Value {
    match document {
        Value::Object(map) => {
            let known = schema.get("properties").and_then(Value::as_object);
            let mut kept = Map::new();
            for (name, value) in map {
                match known.and_then(|known| known.get(name)) {
                    Some(part) => {
                        kept.insert(name.clone(), keep(part, value, dropped));
                    }
                    None => *dropped += 1,
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) => match schema.get("items") {
            Some(part) => {
                Value::Array(items.iter().map(|item| keep(part, item, dropped)).collect())
            }
            None => {
                *dropped += items.len();
                Value::Array(Vec::new())
            }
        },
        scalar => scalar.clone(),
    }
}

fn depth_over(value: &Value, most: usize) -> bool {
    let mut todo = vec![(value, 1)];
    while let Some((value, level)) = todo.pop() {
        if level > most {
            return true;
        }
        match value {
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(map) => todo.extend(map.values().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    false
}

/// References make a schema that says less than it shows, and recursive ones could be walked for ever.
fn refers(value: &Value) -> bool {
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => {
                if map
                    .keys()
                    .any(|key| key.starts_with("$ref") || key.starts_with("$dynamic"))
                {
                    return true;
                }
                todo.extend(map.values());
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const POSTS: &str = r#"{"type": "object", "properties": {"posts": {"type": "array", "items":
        {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}, "required": ["id"]}}}}"#;

    #[test]
    fn only_what_is_declared_stays() {
        let shape = Shape::parse(POSTS).unwrap();
        let document = json!({"posts": [{"id": "a", "n": 1, "extra": {"x": 1}}], "debug": "raw"});
        assert_eq!(shape.check(&document), Ok(()));
        let (kept, dropped) = shape.declared(&document);
        assert_eq!(kept, json!({"posts": [{"id": "a", "n": 1}]}));
        assert_eq!(dropped, 2);
        assert_eq!(
            shape.check(&json!({"posts": [{"n": 1}]})),
            Err("/posts/0".to_owned())
        );
    }

    #[test]
    fn references_and_deep_schemas_are_refused() {
        assert!(
            Shape::parse(r##"{"type": "object", "properties": {"a": {"$ref": "#"}}}"##).is_none()
        );
        assert!(Shape::parse(r#"{"type": "string"}"#).is_none());
        assert!(Shape::parse("{").is_none());
        let deep = format!(
            r#"{{"type": "object", "properties": {}1{}}}"#,
            r#"{"a":"#.repeat(40),
            "}".repeat(40)
        );
        assert!(Shape::parse(&deep).is_none());
    }
}
