//! What is written about sessions, processes, settings and access.

use super::facts::{Facts, grave_if};
use super::{Event, Level};
use crate::{Category, Severity};
use serde_json::json;

impl Event<'_> {
    /// Sessions, processes, settings, access.
    pub(super) fn session_facts(&self) -> Option<Facts> {
        use Category::{Access, Config, Env, Proxy, Session};
        Some(match self {
            Self::RateLimited {
                session,
                limit,
                cooldown_ms,
            } => Facts::new(
                "rate_limited",
                Severity::Warn,
                Session,
                "Session ran into a limit",
            )
            .told(json!({"session": session, "limit": limit}))
            .known(json!({"cooldownMs": cooldown_ms})),
            Self::Abuse {
                session,
                pattern,
                level,
                action,
            } => Facts::new(
                "abuse",
                grave_if(*level == Level::High),
                Session,
                format!("Abuse pattern seen ({})", level.as_str()),
            )
            .told(json!({"session": session, "pattern": pattern, "action": action}))
            .known(json!({"level": level.as_str()}))
            .decision(),
            Self::SessionTerminated { session, why } => Facts::new(
                "session_terminated",
                Severity::Critical,
                Session,
                "Session terminated",
            )
            .told(json!({"session": session, "why": why}))
            .decision(),
            Self::SessionPardoned { session, by } => Facts::new(
                "session_pardoned",
                Severity::Info,
                Session,
                "Session pardoned",
            )
            .told(json!({"session": session, "by": by}))
            .decision(),
            Self::ConfigChanged { key, by } => Facts::new(
                "config_changed",
                Severity::Warn,
                Config,
                "Configuration changed",
            )
            .told(json!({"setting": key, "by": by}))
            .decision(),
            Self::Lockdown { on, by } => Facts::new(
                if *on { "lockdown_on" } else { "lockdown_off" },
                Severity::Critical,
                Config,
                if *on {
                    "All ways out are closed"
                } else {
                    "The ways out are open again"
                },
            )
            .told(json!({"by": by}))
            .known(json!({"on": on}))
            .decision(),
            Self::EnvChecked {
                severity,
                missing,
                malformed,
            } => Facts::new(
                "env_checked",
                *severity,
                Env,
                format!(
                    "Configuration requirements checked: {} missing, {} malformed",
                    missing.len(),
                    malformed.len()
                ),
            )
            .told(json!({"missing": missing, "malformed": malformed})),
            Self::ProxyCrashed {
                proxy,
                trigger,
                detail,
                adversarial,
                requests,
                files_written,
                report,
                quarantined,
            } => Facts::new(
                "proxy_crashed",
                grave_if(*adversarial),
                Proxy,
                if *adversarial {
                    "Security proxy: adversarial crash"
                } else {
                    "Security proxy crashed"
                },
            )
            .told(json!({"proxy": proxy, "trigger": trigger, "detail": detail, "report": report}))
            .known(json!({
                "adversarial": adversarial, "requests": requests, "filesWritten": files_written,
                "quarantined": quarantined,
            }))
            .decision(),
            Self::AccessDenied { route, from, why } => {
                Facts::new("access_denied", Severity::Warn, Access, "Access denied")
                    .told(json!({"route": route, "from": from, "why": why}))
            }
            _ => return None,
        })
    }
}
