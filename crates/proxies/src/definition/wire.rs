//! A definition as it is written: every field known, nothing checked yet.

use blastshield_limits::proxy::ProxyLimits;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) purpose: String,
    pub(super) base_url: String,
    pub(super) allowed_tools: Vec<String>,
    pub(super) credential: Option<Credential>,
    #[serde(default)]
    pub(super) limits: ProxyLimits,
    #[serde(default)]
    pub(super) bounds: Bounds,
    #[serde(default)]
    pub(super) timeouts: Timeouts,
    #[serde(default)]
    pub(super) tiers: Tiers,
    #[serde(default)]
    pub(super) operations: BTreeMap<String, Operation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Credential {
    pub(super) variable: String,
    #[serde(default = "bearer")]
    pub(super) attach: String,
    pub(super) header: Option<String>,
    #[serde(default = "weekly")]
    pub(super) rotate_days: u32,
}

fn bearer() -> String {
    "bearer".to_owned()
}

const fn weekly() -> u32 {
    7
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Bounds {
    pub(super) request_bytes: usize,
    pub(super) response_bytes: usize,
    pub(super) workspace_files: usize,
    pub(super) memory_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            request_bytes: 64 << 10,
            response_bytes: 1 << 20,
            workspace_files: 1000,
            memory_bytes: 512 << 20,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Timeouts {
    pub(super) connect_ms: u64,
    pub(super) answer_ms: u64,
    pub(super) task_ms: u64,
    pub(super) approval_ms: u64,
    pub(super) capability_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_ms: 5_000,
            answer_ms: 15_000,
            task_ms: 300_000,
            approval_ms: 3_600_000,
            capability_ms: 600_000,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tiers {
    pub(super) acquaintance: Option<TierRule>,
    pub(super) friend: Option<TierRule>,
    pub(super) ally: Option<TierRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TierRule {
    pub(super) engagement: String,
    pub(super) schema: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operation {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) purpose: String,
    #[serde(default)]
    pub(super) params: BTreeMap<String, Param>,
    pub(super) request: Option<String>,
    pub(super) response: String,
    pub(super) writes: Option<String>,
    pub(super) approval: Option<String>,
    #[serde(default)]
    pub(super) summary: String,
    pub(super) items: Option<String>,
    pub(super) author: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Param {
    #[serde(rename = "in")]
    pub(super) place: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) required: bool,
    pub(super) min: Option<i64>,
    pub(super) max: Option<i64>,
    pub(super) max_length: Option<usize>,
    #[serde(default)]
    pub(super) values: Vec<String>,
}
