//! What is wrong with a service definition, in words that its author can act on.

/// A definition cannot be used. Names of fields are repeated, values are not: one may be a pasted token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// It is larger than [`MAX_BYTES`](super::MAX_BYTES).
    #[error("the definition is larger than {} bytes", super::MAX_BYTES)]
    TooLarge,
    /// Not TOML, an unknown field, or a value of another type.
    #[error("line {line}: {message}")]
    Syntax {
        /// Where, counted from one.
        line: usize,
        /// What the parser says, without the text.
        message: String,
    },
    /// A value out of bounds.
    #[error("{field} must be {expected}")]
    Value {
        /// Which.
        field: String,
        /// What it should be.
        expected: String,
    },
    /// A JSON Schema that cannot be used.
    #[error(
        "{field} must be a JSON Schema for an object or array, without references to other documents"
    )]
    Schema {
        /// Which.
        field: String,
    },
    /// A path, file or summary names a parameter that is not declared.
    #[error("{field} names the parameter {parameter}, which is not declared")]
    Undeclared {
        /// Where.
        field: String,
        /// Which.
        parameter: String,
    },
    /// An operation needs a tool that the definition does not allow.
    #[error("operation {operation} needs the tool {tool}: add it to allowed_tools")]
    Tool {
        /// Which operation.
        operation: String,
        /// Which tool.
        tool: &'static str,
    },
}

pub(super) fn value(field: impl Into<String>, expected: impl Into<String>) -> DefinitionError {
    DefinitionError::Value {
        field: field.into(),
        expected: expected.into(),
    }
}
