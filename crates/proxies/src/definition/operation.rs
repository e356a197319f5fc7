//! One operation: what is asked of the service, what may be sent, and what an answer must look like.

use super::error::{DefinitionError, value};
use super::params::{BadParam, Param, Place, encoded, is_id};
use super::pieces::{Piece, declared, fill, pieces, read_file, read_path};
use super::wire;
use crate::shape::Shape;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a worker needs for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Asks the service for something.
    Fetch,
    /// Sends something to the service.
    Send,
    /// Writes a file of the workspace.
    Write,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fetch, Self::Send, Self::Write];

    /// The name in a definition and in the audit trail.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Send => "send",
            Self::Write => "write",
        }
    }

    /// Reads the name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }
}

/// Whether the owner is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Each time.
    Always,
    /// As the settings and the relationship's tier say.
    Policy,
    /// Not for this.
    Never,
}

/// A method that operations may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Asks.
    Get,
    /// Adds.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|method| method.as_str() == name)
    }
}

/// An operation of a service.
#[derive(Debug)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub purpose: String,
    /// How it asks.
    pub method: Method,
    /// Declared parameters.
    pub params: BTreeMap<String, Param>,
    /// Whether the owner is asked first.
    pub approval: Approval,
    pub(crate) path: Vec<Piece>,
    pub(crate) request: Option<Shape>,
    pub(crate) response: Shape,
    pub(crate) writes: Option<Vec<Piece>>,
    pub(crate) summary: Vec<Piece>,
    pub(crate) items: Option<String>,
    pub(crate) author: Option<String>,
}

/// A task's input, checked against its operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
}

/// A task's input does not fit its operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInput {
    /// A parameter of another type.
    #[error(transparent)]
    Param(#[from] BadParam),
    /// A parameter is missing.
    #[error("the parameter {0} is missing")]
    Missing(String),
    /// A parameter that the operation does not have.
    #[error("the operation has no parameter of this name; see `blastshield proxy list`")]
    Unknown,
    /// What is to be sent does not have the shape of the operation's request.
    #[error("the request does not have the expected shape, at {0}")]
    Shape(String),
    /// More than the service's bound.
    #[error("the request may have at most {0} bytes")]
    TooLarge(usize),
}

const MAX_PARAMS: usize = 32;

impl Operation {
    pub(super) fn read(name: &str, wire: wire::Operation) -> Result<Self, DefinitionError> {
        let at = |field: &str| format!("operations.{name}.{field}");
        if !is_id(name) || name.len() > 32 {
            let expected = "1 to 32 letters, digits, _ and -";
            return Err(value(format!("operations.{name}"), expected));
        }
        let methods = "GET, POST, PUT, PATCH or DELETE";
        let method = Method::parse(&wire.method).ok_or_else(|| value(at("method"), methods))?;
        if wire.params.len() > MAX_PARAMS {
            return Err(value(at("params"), format!("at most {MAX_PARAMS}")));
        }
        let mut params = BTreeMap::new();
        for (param, declared) in wire.params {
            let field = at(&format!("params.{param}"));
            if !is_id(&param) {
                return Err(value(field, "named by letters, digits, _ and -"));
            }
            params.insert(param, Param::read(&field, &declared)?);
        }
        let path = read_path(&at("path"), &wire.path, &params)?;
        let schema = |field: &str, text: &str| {
            Shape::parse(text).ok_or_else(|| DefinitionError::Schema { field: at(field) })
        };
        let request = wire
            .request
            .as_deref()
            .map(|text| schema("request", text))
            .transpose()?;
        if request.is_some() && method == Method::Get {
            return Err(value(at("request"), "absent: GET sends no body"));
        }
        let response = schema("response", &wire.response)?;
        let approval = match (wire.approval.as_deref(), method) {
            (Some("always"), _) => Approval::Always,
            (Some("policy"), _) => Approval::Policy,
            (Some("never"), _) | (None, Method::Get) => Approval::Never,
            (None, _) => Approval::Always,
            _ => return Err(value(at("approval"), "always, policy or never")),
        };
        let writes = wire
            .writes
            .as_deref()
            .map(|text| read_file(&at("writes"), text, &params))
            .transpose()?;
        let short = |text: &str| text.chars().count() <= 300 && !text.chars().any(char::is_control);
        if !short(&wire.purpose) || !short(&wire.summary) {
            let expected = "one line of at most 300 characters";
            return Err(value(at("purpose and summary"), expected));
        }
        let summary = pieces(&wire.summary).ok_or_else(|| {
            let expected = "text with {parameter} or {count} in it";
            value(at("summary"), expected)
        })?;
        declared(&at("summary"), &summary, &params, &["count"])?;
        for (field, pointer) in [("items", &wire.items), ("author", &wire.author)] {
            let fits = |text: &str| text.is_empty() || text.starts_with('/') && text.len() <= 120;
            if !pointer.as_deref().is_none_or(fits) {
                return Err(value(at(field), "a JSON pointer such as /posts"));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            purpose: wire.purpose,
            method,
            params,
            approval,
            path,
            request,
            response,
            writes,
            summary,
            items: wire.items,
            author: wire.author,
        })
    }

    /// The tools that it needs.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        let mut tools = vec![self.tool()];
        if self.writes.is_some() {
            tools.push(Tool::Write);
        }
        tools
    }

    /// The tool with which it reaches the service.
    #[must_use]
    pub fn tool(&self) -> Tool {
        if self.sends() {
            Tool::Send
        } else {
            Tool::Fetch
        }
    }

    /// Whether it says something to the service.
    #[must_use]
    pub fn sends(&self) -> bool {
        self.method != Method::Get
    }

    /// Checks a task's parameters. What is not declared for path or query belongs to the request's body.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn input(&self, given: &Map<String, Value>, most: usize) -> Result<Input, BadInput> {
        let mut texts = BTreeMap::new();
        for (name, param) in &self.params {
            match given.get(name) {
                Some(value) => {
                    texts.insert(name.clone(), param.text_of(name, value)?);
                }
                None if param.required => return Err(BadInput::Missing(name.clone())),
                None => {}
            }
        }
        let rest: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| !self.params.contains_key(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let Some(shape) = &self.request else {
            return if rest.is_empty() {
                Ok(Input { texts, body: None })
            } else {
                Err(BadInput::Unknown)
            };
        };
        let body = Value::Object(rest);
        self.fits(shape, &body, most)?;
        Ok(Input {
            texts,
            body: Some(body),
        })
    }

    fn fits(&self, shape: &Shape, body: &Value, most: usize) -> Result<(), BadInput> {
        if body.to_string().len() > most {
            return Err(BadInput::TooLarge(most));
        }
        shape.check(body).map_err(BadInput::Shape)?;
        let (_, dropped) = shape.declared(body);
        if dropped == 0 {
            Ok(())
        } else {
            Err(BadInput::Unknown)
        }
    }

    /// Path and query below the base, made of checked parameters alone.
    #[must_use]
    pub(crate) fn target(&self, input: &Input) -> String {
        let mut target = String::new();
        for piece in &self.path {
            match piece {
                Piece::Text(text) => target.push_str(text),
                Piece::Param(name) => {
                    target.push_str(&encoded(input.texts.get(name).map_or("_", String::as_str)));
                }
            }
        }
        let mut mark = '?';
        for (name, param) in &self.params {
            if let (Place::Query, Some(text)) = (param.place, input.texts.get(name)) {
                target.push(mark);
                target.push_str(&format!("{}={}", encoded(name), encoded(text)));
                mark = '&';
            }
        }
        target
    }

    /// The workspace file that an answer goes to.
    #[must_use]
    pub(crate) fn file(&self, input: &Input) -> Option<String> {
        self.writes.as_deref().map(|pieces| fill(pieces, input, 0))
    }

    /// One line for a person.
    #[must_use]
    pub(crate) fn summary(&self, input: &Input, count: usize) -> String {
        fill(&self.summary, input, count)
    }
}
