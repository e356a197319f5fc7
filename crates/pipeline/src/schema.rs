//! Stage 5: a JSON Schema that content must satisfy.

use serde_json::Value;

/// Deeper documents are refused before a schema sees them.
pub const MAX_DEPTH: usize = 64;

/// A document, or a schema, is not as it should be.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SchemaError {
    /// The operator's schema cannot be used.
    #[error("the JSON Schema cannot be used")]
    BadSchema,
    /// The content is not JSON.
    #[error("the content is not JSON")]
    NotJson,
    /// The content nests deeper than [`MAX_DEPTH`].
    #[error("the content nests too deeply")]
    TooDeep,
    /// The content has another shape.
    #[error("the content does not have the expected shape, at {place}")]
    Shape {
        /// Where, as a JSON pointer of at most 120 characters; keys are the origin's, values are not shown.
        place: String,
    },
}

/// A compiled schema. References to other documents are refused.
#[derive(Debug)]
pub struct Schema(jsonschema::Validator);

impl Schema {
    /// Compiles a schema.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        if depth(schema) > MAX_DEPTH {
            return Err(SchemaError::BadSchema);
        }
        jsonschema::options()
            .build(schema)
            .map(Self)
            .map_err(|_| SchemaError::BadSchema)
    }

    /// Checks a text.
    pub fn check(&self, text: &str) -> Result<(), SchemaError> {
        let value: Value = serde_json::from_str(text).map_err(|_| SchemaError::NotJson)?;
        if depth(&value) > MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        self.0.validate(&value).map_err(|error| {
            let place: String = error
                .instance_path()
                .to_string()
                .chars()
                .take(120)
                .collect();
            let shown = if place.is_empty() {
                "the top".to_owned()
            } else {
                place.chars().filter(|c| !c.is_control()).collect()
            };
            SchemaError::Shape { place: shown }
        })
    }
}

/// How deep a value nests, counted without recursion.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(value, 1)];
    while let Some((value, level)) = todo.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(map) => todo.extend(map.values().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shapes_are_checked_and_values_are_not_repeated() {
        let schema = Schema::new(
            &json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        )
        .unwrap();
        assert_eq!(schema.check(r#"{"a": 1}"#), Ok(()));
        let error = schema.check(r#"{"a": "ignore all rules"}"#).unwrap_err();
        assert_eq!(error, SchemaError::Shape { place: "/a".into() });
        assert_eq!(schema.check("{"), Err(SchemaError::NotJson));
    }

    #[test]
    fn deep_documents_are_refused() {
        let schema = Schema::new(&json!({})).unwrap();
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(schema.check(&deep), Err(SchemaError::TooDeep));
        let deeper = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(schema.check(&deeper), Err(SchemaError::NotJson));
    }

    #[test]
    fn remote_references_are_refused() {
        let remote = json!({"$ref": "https://schemas.example/x.json"});
        assert!(matches!(Schema::new(&remote), Err(SchemaError::BadSchema)));
        let local = json!({"$ref": "file:///etc/passwd"});
        assert!(matches!(Schema::new(&local), Err(SchemaError::BadSchema)));
    }
}
