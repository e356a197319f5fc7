//! What is written about security proxies that wait, were put aside, restored or let go on.

use super::Event;
use super::facts::Facts;
use crate::{Category, Severity};
use serde_json::json;

impl Event<'_> {
    /// Holds, quarantines, restores and clears.
    pub(super) fn recovery_facts(&self) -> Option<Facts> {
        use Category::Proxy;
        Some(match self {
            Self::ProxyHeld {
                proxy,
                id,
                kind,
                why,
                escalated,
            } => Facts::new(
                "proxy_held",
                Severity::Warn,
                Proxy,
                if *escalated {
                    "Security proxy on hold: the same trouble again and again"
                } else {
                    "Security proxy on hold"
                },
            )
            .told(json!({"proxy": proxy, "why": why}))
            .known(json!({"id": id, "kind": kind, "escalated": escalated}))
            .decision(),
            Self::ProxyQuarantined {
                proxy,
                id,
                folder,
                review,
            } => Facts::new(
                "proxy_quarantined",
                Severity::Warn,
                Proxy,
                "Workspace of a security proxy put aside",
            )
            .told(json!({"proxy": proxy, "folder": folder}))
            .known(json!({"id": id, "review": review}))
            .decision(),
            Self::ProxyRestored {
                proxy,
                backup,
                files,
            } => Facts::new(
                "proxy_restored",
                Severity::Warn,
                Proxy,
                if backup.is_some() {
                    "Workspace of a security proxy restored"
                } else {
                    "Workspace of a security proxy begun anew: no known-good backup"
                },
            )
            .told(json!({"proxy": proxy, "backup": backup}))
            .known(json!({"files": files}))
            .decision(),
            Self::ProxyCleared {
                proxy,
                id,
                kind,
                by,
            } => Facts::new(
                "proxy_cleared",
                Severity::Warn,
                Proxy,
                "Hold of a security proxy cleared",
            )
            .told(json!({"proxy": proxy, "by": by}))
            .known(json!({"id": id, "kind": kind}))
            .decision(),
            _ => return None,
        })
    }
}
