//! What of a worker's result may be used. It is checked as if the worker had checked nothing, and its words are core's.

use super::service::Service;
use super::session::error;
use super::tasks::{PersonView, TaskError};
use super::{Inner, Plan};
use crate::broker::{Broker, millis};
use crate::definition::{Engagement, Operation};
use crate::protocol::{Outcome, Phase, Why};
use blastshield_detect::{Decision as Verdict, Kind};
use blastshield_recovery::relationships::Relationships;
use serde_json::Value;
use std::collections::BTreeSet;

/// People that are named with an answer.
const PEOPLE: usize = 50;

/// A result, and whether core knows why there is none.
pub(super) struct Accepted {
    pub(super) brought: Result<Found, TaskError>,
    pub(super) cause_known: bool,
}

/// What a result holds.
pub(super) enum Found {
    Data(Value, Vec<String>),
    Drafted,
}

impl Inner {
    /// What of the worker's result may be used: checked again, as if the worker had checked nothing.
    pub(super) fn accept(
        &self,
        operation: &Operation,
        plan: &Plan<'_>,
        broker: &mut Broker<'_>,
        outcome: Option<&Outcome>,
    ) -> Accepted {
        let refused = |error| Accepted {
            brought: Err(error),
            cause_known: false,
        };
        match outcome {
            Some(Outcome::Data { data, flags, .. }) => {
                let (kept, dropped) = operation.response.declared(data);
                let empty = data.is_null() && operation.sends();
                if !empty && (dropped > 0 || operation.response.check(data).is_err()) {
                    broker.violated("returned data of another shape");
                } else if self.is_hostile(data) {
                    broker.violated("let an injection through");
                } else if !matches!(broker.seen.status, Some(200..=299)) {
                    broker.violated("returned data without an answer");
                } else {
                    let flags = flags.iter().filter(|flag| is_flag(flag)).take(32).cloned();
                    return Accepted {
                        brought: Ok(Found::Data(kept, flags.collect())),
                        cause_known: false,
                    };
                }
                refused(error("refused", "the worker's result cannot be trusted"))
            }
            Some(Outcome::Drafted { .. }) if plan.phase == Phase::Draft => Accepted {
                brought: Ok(Found::Drafted),
                cause_known: false,
            },
            Some(Outcome::Failed {
                code,
                message,
                retry_after_ms,
            }) => {
                let mut failed = failure(broker, code, message);
                failed.retry_after_ms = failed.retry_after_ms.or(*retry_after_ms);
                Accepted {
                    cause_known: failed.code == "bad_answer",
                    brought: Err(failed),
                }
            }
            Some(Outcome::Drafted { .. }) => {
                broker.violated("drafted instead of sending");
                refused(error("refused", "the worker's result cannot be trusted"))
            }
            None => refused(error("no_result", "the worker returned nothing")),
        }
    }

    /// Stage 4 once more, in core: a worker that was taken over would not have run it.
    fn is_hostile(&self, data: &Value) -> bool {
        let mut whole = String::new();
        let mut todo = vec![data];
        while let Some(value) = todo.pop() {
            match value {
                Value::String(text) => {
                    whole.push_str(text);
                    whole.push('\n');
                }
                Value::Array(items) => todo.extend(items.iter().rev()),
                Value::Object(map) => {
                    for (key, item) in map {
                        whole.push_str(key);
                        whole.push('\n');
                        todo.push(item);
                    }
                }
                _ => {}
            }
        }
        self.blocks(&whole)
    }

    /// Whether stage 4 would block this text.
    pub(super) fn blocks(&self, text: &str) -> bool {
        let profile = crate::worker::profile(self.config.profile);
        profile.decide(self.config.detector.assess(text, Kind::Web).score) == Verdict::Block
    }
}

/// Whose words are in the data, and how far the proxy may go with them.
pub(super) fn people(
    service: &Service,
    operation: &Operation,
    known: &Relationships,
    data: &Value,
) -> Vec<PersonView> {
    let Some(author) = operation.author.as_deref() else {
        return Vec::new();
    };
    let items = match data.pointer(operation.items.as_deref().unwrap_or_default()) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let names = items
        .iter()
        .filter_map(|item| item.pointer(author)?.as_str());
    let names: BTreeSet<&str> = names.filter(|name| name.len() <= 64).collect();
    let view = |name: &str| {
        let tier = known.tier(name);
        PersonView {
            name: name.to_owned(),
            tier: tier.as_str().to_owned(),
            engagement: match service.definition.tiers.of(tier).engagement {
                Engagement::Ask => "ask".to_owned(),
                Engagement::Reply => "reply".to_owned(),
            },
        }
    };
    names.into_iter().take(PEOPLE).map(view).collect()
}

/// Why a task failed, in words of core's: a worker's own could be anybody's.
fn failure(broker: &mut Broker<'_>, code: &str, message: &str) -> TaskError {
    if let Some((why, detail, wait)) = broker.seen.trouble.clone() {
        let code = match why {
            Why::Limited => "rate_limited",
            Why::Leak => "leak_blocked",
            Why::Unreachable => "unreachable",
            _ => "refused",
        };
        let mut failed = error(code, detail);
        failed.retry_after_ms = wait.map(millis);
        return failed;
    }
    match (code, broker.seen.status) {
        ("rate_limited", None) => {
            let declined = broker.limiter.would_decline();
            let text = declined.map_or_else(|| "outbound limit".to_owned(), |d| d.to_string());
            let mut failed = error("rate_limited", text);
            failed.retry_after_ms = declined.and_then(|d| d.retry_after()).map(millis);
            failed
        }
        ("leak_blocked", None) => {
            let known: Vec<&str> = blastshield_leak::rules()
                .iter()
                .map(|rule| rule.id)
                .collect();
            let rules: Vec<&str> = message
                .split(", ")
                .filter(|rule| known.contains(rule))
                .collect();
            broker.blocked(&rules);
            error("leak_blocked", rules.join(", "))
        }
        (_, Some(429)) => error("rate_limited", "the service answered 429"),
        (_, Some(status)) if !(200..300).contains(&status) => {
            error("service_status", format!("the service answered {status}"))
        }
        ("bad_answer", _) => error("bad_answer", "the answer did not pass the stages"),
        _ => error("failed", "the task came to nothing"),
    }
}

fn is_flag(flag: &str) -> bool {
    (1..=40).contains(&flag.len())
        && !flag.contains("__")
        && flag
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
