//! The parts of protocol messages that a page's life depends on.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextCreated {
    pub(crate) browser_context_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetCreated {
    pub(crate) target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attached {
    pub(crate) session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigateAnswer {
    pub(crate) error_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct World {
    pub(crate) execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    pub(crate) result: RemoteObject,
    pub(crate) exception_details: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(crate) struct RemoteObject {
    #[serde(default)]
    pub(crate) value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Challenge {
    pub(crate) request_id: String,
    pub(crate) auth_challenge: Challenger,
}

#[derive(Deserialize)]
pub(crate) struct Challenger {
    pub(crate) source: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paused {
    pub(crate) request_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Appeared {
    pub(crate) target_info: TargetCreated,
}
