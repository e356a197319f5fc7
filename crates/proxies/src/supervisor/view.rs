//! Services as the owner sees them.

use crate::definition::Operation;
use serde::Serialize;
use serde_json::Value;

/// A service as the owner sees it.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceView {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Where it is.
    pub host: String,
    /// What may be asked of it.
    pub operations: Vec<OperationView>,
    /// Whether the credential is set; none when none is needed.
    pub credential: Option<bool>,
    /// Tasks that are on.
    pub tasks: usize,
    /// Workers that wait.
    pub ready: usize,
    /// Why a request would be declined now.
    pub limited: Option<String>,
    /// Holds that are on.
    pub holds: Vec<Value>,
}

/// An operation as the owner sees it.
#[derive(Clone, Debug, Serialize)]
pub struct OperationView {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub purpose: String,
    /// How it asks.
    pub method: &'static str,
    /// Its parameters.
    pub params: Vec<String>,
    /// Whether it sends something.
    pub sends: bool,
}

pub(super) fn operation_view(operation: &Operation) -> OperationView {
    OperationView {
        name: operation.name.clone(),
        purpose: operation.purpose.clone(),
        method: operation.method.as_str(),
        params: operation.params.keys().cloned().collect(),
        sends: operation.sends(),
    }
}
