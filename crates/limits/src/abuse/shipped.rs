//! The patterns that come with the program.

use super::pattern::{Action, EventKind, Pattern, Rule, Severity, Trigger};
use crate::settings::SettingsError;

/// From this score on a message counts as an injection attempt: the detector's medium line of the strict profile.
///
/// A lower line would punish ordinary people: a pasted document often brings a weak rule's point or two, and one harmless
/// message in two hundred reaches this line.
pub const SUSPICIOUS_SCORE: f32 = 6.0;

const MINUTE: u64 = 60_000;

impl Pattern {
    /// `repeated_injection_attempts`, `credential_probing` and `rapid_tool_exploitation`.
    #[must_use]
    pub fn shipped() -> Vec<Self> {
        vec![
            Self {
                id: "repeated_injection_attempts".into(),
                description: "Three of the last ten messages try to inject instructions".into(),
                severity: Severity::High,
                action: Action::Block,
                when: vec![Rule {
                    of: EventKind::Message,
                    any: vec![Trigger::Score {
                        at_least: SUSPICIOUS_SCORE,
                    }],
                    count: 3,
                    last: Some(10),
                    within_ms: None,
                }],
            },
            Self {
                id: "credential_probing".into(),
                description: "Two of the last ten messages ask for credentials".into(),
                severity: Severity::High,
                action: Action::Block,
                when: vec![Rule {
                    of: EventKind::Message,
                    any: vec![
                        Trigger::Credentials,
                        Trigger::Category {
                            among: vec!["secret_request".into()],
                            at_least: SUSPICIOUS_SCORE,
                        },
                    ],
                    count: 2,
                    last: Some(10),
                    within_ms: None,
                }],
            },
            Self {
                id: "rapid_tool_exploitation".into(),
                description: "Twenty tool calls in ten seconds, or ten refused ones in a minute"
                    .into(),
                severity: Severity::Medium,
                action: Action::Throttle,
                when: vec![
                    Rule {
                        of: EventKind::ToolCall,
                        any: vec![Trigger::Any],
                        count: 20,
                        last: None,
                        within_ms: Some(10_000),
                    },
                    Rule {
                        of: EventKind::ToolCall,
                        any: vec![Trigger::Refused],
                        count: 10,
                        last: None,
                        within_ms: Some(MINUTE),
                    },
                ],
            },
        ]
    }

    /// The shipped patterns of these names, in this order.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Self>, SettingsError> {
        let shipped = Self::shipped();
        let found = names.into_iter().enumerate().map(|(index, name)| {
            let pattern = shipped.iter().find(|pattern| pattern.id == name).cloned();
            pattern.ok_or(SettingsError::UnknownPattern { place: index + 1 })
        });
        found.collect()
    }
}
