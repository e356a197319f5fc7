//! What the owner is asked about a host, and which earlier question that is.

use crate::agents::ANYBODY;
use crate::refusal::Refusal;
use blastshield_owner::{Action, Approvals, Ask, AskError, Request, Scope, State, Value};
use blastshield_policy::Host;
use std::net::IpAddr;
use std::time::Duration;

const REASON: &str = "A connection to a host that is not on the allowlist";
/// How long a no counts without asking again.
pub(crate) const DENIED_FOR: Duration = Duration::from_secs(300);
/// How long silence counts as no.
pub(crate) const SILENT_FOR: Duration = Duration::from_secs(60);
/// Requests that are looked through for one that was made before.
const LOOK_BACK: u32 = 200;

/// The request that was made for this before, if it still counts; otherwise a new one.
pub(crate) async fn find_or_ask(
    approvals: &Approvals,
    ask: &Ask,
    agent: &str,
    host: &Host,
) -> Result<Request, Refusal> {
    let (agent, host) = (requester(agent), asked_host(host));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let earlier = approvals
        .list(LOOK_BACK)
        .await
        .map_err(|_| Refusal::NoOwner("the store does not answer"))?;
    let same = |request: &&Request| {
        let named = request.host.as_deref().unwrap_or_default();
        // The same agent may have asked for something else at this host, in other words.
        request.action == Action::Http
            && request.requester == agent
            && request.shown.contains(REASON)
            && named.trim_start_matches('[').trim_end_matches(']') == host
    };
    if let Some(request) = earlier.iter().find(same)
        && still_counts(request, now_ms())
    {
        return Ok(request.clone());
    }
    approvals.ask(ask).await.map_err(|error| {
        Refusal::NoOwner(match error {
            AskError::TooManyOfYours => {
                "too many of this agent's requests wait for an answer already"
            }
            AskError::TooOften => "this agent asked too often within an hour",
            AskError::TooMany => "too many requests wait for an answer already",
            AskError::Unrecorded => "the request could not be recorded",
            AskError::Invalid(_) => "the host cannot be shown to the owner",
            AskError::Store(_) | AskError::NoRandom => "the request could not be kept",
        })
    })
}

/// Whether an earlier request says something about the next connection: open, approved for one time and unused, or
/// refused a moment ago.
fn still_counts(request: &Request, now_ms: i64) -> bool {
    let ago = now_ms
        .saturating_sub(request.decided_ms.unwrap_or(0))
        .max(0)
        .unsigned_abs();
    let within = |time: Duration| u128::from(ago) < time.as_millis();
    match request.state {
        State::Pending => request.expires_ms > now_ms,
        State::Approved => {
            request.scope == Some(Scope::Once) && !request.used && within(Duration::from_secs(3600))
        }
        State::Denied => within(DENIED_FOR),
        State::Expired => within(SILENT_FOR),
    }
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// The same words for the same agent and host, so that an approval fits however often it is asked for.
pub(crate) fn wording(agent: &str, host: &Host) -> Ask {
    let ask = Ask::new(Action::Http, REASON, requester(agent)).to_host(asked_host(host));
    if agent == ANYBODY {
        return ask;
    }
    // A yes is for this agent alone, so the owner sees for whom.
    ask.with("agent", Value::Text(agent.to_owned()))
}

/// Agents with names ask as parts of the agent, which may look at what becomes of their requests.
pub(crate) fn requester(agent: &str) -> String {
    if agent == ANYBODY {
        ANYBODY.to_owned()
    } else {
        format!("{ANYBODY}/{agent}")
    }
}

/// A host as approvals name it.
pub(crate) fn asked_host(host: &Host) -> String {
    match host {
        Host::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
        host => host.to_string(),
    }
}
