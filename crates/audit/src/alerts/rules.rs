//! When the owner is told.

use super::AlertKind;
use crate::{Event, Level, Risk};
use std::time::Duration;

/// Thresholds and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// More injection attempts in an hour than this.
    pub injection_attempts_per_hour: u64,
    /// More blocked responses in an hour than this.
    pub blocked_responses_per_hour: u64,
    /// Any credential leak.
    pub credential_leak: bool,
    /// Abuse patterns of this level and above.
    pub abuse: Option<Level>,
    /// Within this time the same alert is sent once; at its end a summary tells how often it was.
    pub window: Duration,
    /// Alerts in an hour, adversarial ones aside.
    pub per_hour: u64,
    /// Adversarial alerts in an hour that are sent one by one; beyond it they are told together, once a minute.
    pub adversarial_per_hour: u64,
    /// Different alerts that are remembered at a time, of each sort.
    pub max_keys: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            injection_attempts_per_hour: 10,
            blocked_responses_per_hour: 5,
            credential_leak: true,
            abuse: Some(Level::High),
            window: Duration::from_secs(600),
            per_hour: 30,
            adversarial_per_hour: 600,
            max_keys: 4096,
        }
    }
}

/// What an event calls for.
pub(super) struct Alarm<'e> {
    pub(super) kind: AlertKind,
    /// Who or what is behind it: alerts from the same source are the same alert.
    pub(super) source: [&'e str; 2],
}

impl Rules {
    /// What a single event calls for; rates are judged elsewhere.
    pub(super) fn alarm<'e>(&self, event: &'e Event<'_>) -> Option<Alarm<'e>> {
        let (kind, source) = match event {
            Event::CredentialLeak { session, place, .. } if self.credential_leak => {
                (AlertKind::CredentialLeak, [session.unwrap_or(""), *place])
            }
            Event::OutboundBlocked {
                session, service, ..
            } if self.credential_leak => {
                (AlertKind::CredentialLeak, [session.unwrap_or(""), *service])
            }
            Event::CanaryLeak {
                location, session, ..
            } => (AlertKind::CanaryLeak, [*location, session.unwrap_or("")]),
            Event::Abuse {
                session,
                pattern,
                level,
                ..
            } if self.abuse.is_some_and(|least| *level >= least) => {
                (AlertKind::Abuse, [*session, *pattern])
            }
            // Each attack is told by itself, also right after the one before was cleared.
            Event::ProxyCrashed {
                proxy,
                report,
                adversarial: true,
                ..
            } => (AlertKind::ProxyCrash, [*proxy, *report]),
            Event::ProxyHeld {
                proxy,
                kind,
                escalated: true,
                ..
            } => (AlertKind::Other, [*proxy, *kind]),
            Event::MemoryPoisoned { file, risk, .. } if *risk >= Risk::High => {
                (AlertKind::MemoryPoisoned, [*file, ""])
            }
            Event::Undeliverable { channel, .. } => (AlertKind::Undeliverable, [*channel, ""]),
            Event::Payment {
                step: crate::PaymentStep::Unknown,
                id,
                ..
            } => (AlertKind::Other, ["payment", *id]),
            Event::EnvChecked {
                severity: crate::Severity::Critical,
                ..
            } => (AlertKind::Other, ["env", ""]),
            Event::Note {
                severity: crate::Severity::Critical,
                name,
                ..
            } => (AlertKind::Other, ["note", *name]),
            _ => return None,
        };
        Some(Alarm { kind, source })
    }
}
