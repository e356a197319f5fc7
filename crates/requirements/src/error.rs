//! Why a schema is refused: the place and the fault, never what stood there.

/// Largest schema that is read.
pub const MAX_SCHEMA_BYTES: usize = 256 << 10;

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Too many bytes.
    #[error("the schema is larger than {MAX_SCHEMA_BYTES} bytes")]
    TooLarge,
    /// Not JSON, or nested too deep.
    #[error("the schema is not JSON at line {line}, column {column}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// JSON, but not a schema.
    #[error("the schema at {place}: {fault}")]
    Invalid {
        /// Where, such as `variables[3].pattern`.
        place: String,
        /// What is wrong there.
        fault: Fault,
    },
}

/// What is wrong at a place of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The field is none of ours.
    #[error("there is no such field")]
    UnknownField,
    /// The same field twice in one object.
    #[error("the field is given twice")]
    RepeatedField,
    /// A field that must be there is not.
    #[error("the field \"{0}\" is missing")]
    MissingField(&'static str),
    /// Another type of JSON value.
    #[error("this must be {0}")]
    WrongType(&'static str),
    /// A schema of another time.
    #[error("only version 1 is known")]
    UnknownVersion,
    /// Text or list without anything in it.
    #[error("this must not be empty")]
    Empty,
    /// A text over its limit.
    #[error("this has more than {0} bytes")]
    TooLong(usize),
    /// A list or an object over its limit.
    #[error("this has more than {0} entries")]
    TooMany(usize),
    /// A name of a variable with other characters.
    #[error("a variable is named with letters, digits and _, and does not start with a digit")]
    BadVariableName,
    /// A group, feature or mode with other characters.
    #[error("a name has small letters, digits, - and _, and starts with a letter")]
    BadName,
    /// A text for people with characters that do not show.
    #[error("the text has control or invisible characters")]
    UnsafeText,
    /// A severity that does not exist.
    #[error("a severity is critical, warn or info")]
    UnknownSeverity,
    /// An expression that does not compile, or grows too large.
    #[error("the pattern cannot be used")]
    BadPattern,
    /// More expressions than a schema may have.
    #[error("the schema has more than {0} patterns")]
    TooManyPatterns(usize),
    /// A pattern without words for people, or words without a pattern.
    #[error("\"pattern\" and \"form\" come together")]
    PatternWithoutForm,
    /// The same name twice.
    #[error("the name is given twice")]
    RepeatedName,
    /// A rule about a variable that the schema does not have.
    #[error("there is no such variable")]
    UnknownVariable,
    /// A name that says secret on a variable that is not marked so.
    #[error("a variable with KEY, TOKEN, SECRET or PASSWORD in its name is sensitive")]
    NotSensitive,
    /// A mode that would tell something of a secret's value.
    #[error("a mode must not depend on the value of a sensitive variable")]
    DependsOnSecret,
    /// A condition that asks nothing.
    #[error("a condition asks for something; the last mode has none")]
    EmptyCondition,
    /// The last mode has a condition: some combination would have no mode.
    #[error("the last mode must not have a condition")]
    LastModeConditional,
    /// A mode without a condition before the last: what follows is never reached.
    #[error("only the last mode may be without a condition")]
    UnreachableMode,
}
