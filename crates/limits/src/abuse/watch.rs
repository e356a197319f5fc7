//! The patterns made ready: an event is compared with every rule once, before it is remembered.

use super::credentials::asks_for_credentials;
use super::history::HISTORY;
use super::pattern::{AbuseSettings, Action, EventKind, Pattern, Rule, Severity, Trigger};
use crate::key::Keyed;
use crate::moment::Moment;
use crate::settings::SettingsError;
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Serialize;
use std::sync::Arc;

/// All patterns together may have so many rules.
pub const MAX_RULES: usize = 32;

const MAX_ID_BYTES: usize = 64;
const MAX_EXPRESSION_BYTES: usize = 1024;
const COMPILED_BYTES: usize = 4 << 20;

/// What a session just did. The text is looked at and not kept.
#[derive(Clone, Copy)]
pub struct Sighting<'a> {
    kind: EventKind,
    text: &'a str,
    score: f32,
    categories: &'a [&'a str],
    refused: bool,
}

impl<'a> Sighting<'a> {
    /// Someone spoke to the agent. Give the folded text where there is one, so that spelling tricks do not help.
    #[must_use]
    pub fn message(text: &'a str) -> Self {
        Self::new(EventKind::Message, text)
    }

    /// The agent read something.
    #[must_use]
    pub fn content(text: &'a str) -> Self {
        Self::new(EventKind::Content, text)
    }

    /// The agent called a tool of this name.
    #[must_use]
    pub fn tool_call(tool: &'a str) -> Self {
        Self::new(EventKind::ToolCall, tool)
    }

    /// With the detector's score and the names of the categories it found.
    #[must_use]
    pub fn scored(mut self, score: f32, categories: &'a [&'a str]) -> Self {
        self.score = score;
        self.categories = categories;
        self
    }

    /// Policy refused it. Do not mark what a quota or a cooldown refused: a client that asks again too early would
    /// keep itself in the cooldown for ever.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.refused = true;
        self
    }

    fn new(kind: EventKind, text: &'a str) -> Self {
        Self {
            kind,
            text,
            score: 0.0,
            categories: &[],
            refused: false,
        }
    }
}

/// A pattern was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detection {
    /// The pattern's id.
    pub pattern: Arc<str>,
    /// What it means.
    pub description: Arc<str>,
    /// How grave it is.
    pub severity: Severity,
    /// What was done.
    pub action: Action,
    /// How many events made it up.
    pub count: u32,
    /// Until when the session is held for it, in milliseconds since the Unix epoch.
    pub until: Option<Moment>,
}

/// What is remembered of a [`Sighting`]; one bit for each rule that it counts for.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) fingerprint: u64,
    pub(crate) length: u32,
    pub(crate) score: f32,
    pub(crate) counts_for: u32,
}

/// The patterns in the form in which they are looked for.
pub(crate) struct Watch {
    pub(crate) enabled: bool,
    pub(crate) patterns: Vec<Known>,
    pub(crate) rules: Vec<Compiled>,
    pub(crate) block_ms: u64,
    pub(crate) throttle_ms: u64,
    texts: RegexSet,
}

/// What a detection says of its pattern.
pub(crate) struct Known {
    pub(crate) id: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) severity: Severity,
    pub(crate) action: Action,
}

/// One rule of a pattern.
pub(crate) struct Compiled {
    pub(crate) pattern: usize,
    pub(crate) of: EventKind,
    pub(crate) count: usize,
    pub(crate) last: usize,
    pub(crate) within_ms: u64,
    any: Vec<Trigger>,
    texts: Vec<usize>,
}

impl Watch {
    pub(crate) fn new(settings: &AbuseSettings) -> Result<Self, SettingsError> {
        let mut rules = Vec::new();
        let mut texts = Vec::new();
        for (index, pattern) in settings.patterns.iter().enumerate() {
            let place = index + 1;
            check_id(pattern, place)?;
            let before = settings.patterns.iter().take(index);
            if before.into_iter().any(|other| other.id == pattern.id) {
                return Err(SettingsError::PatternTwice { place });
            }
            if pattern.when.is_empty() {
                return Err(SettingsError::PatternTrigger { place });
            }
            for rule in &pattern.when {
                rules.push(compiled(rule, index, &mut texts)?);
            }
        }
        if rules.len() > MAX_RULES {
            return Err(SettingsError::TooManyRules);
        }
        let known = |pattern: &Pattern| Known {
            id: pattern.id.as_str().into(),
            description: pattern.description.as_str().into(),
            severity: pattern.severity,
            action: settings.action.unwrap_or(pattern.action),
        };
        let place = texts.last().map_or(0, |(place, _)| *place);
        Ok(Self {
            enabled: settings.enabled && !rules.is_empty(),
            patterns: settings.patterns.iter().map(known).collect(),
            rules,
            block_ms: settings.block_ms,
            throttle_ms: settings.throttle_ms,
            texts: expressions(texts.iter().map(|(_, text)| text.as_str()))
                .ok_or(SettingsError::PatternText { place })?,
        })
    }

    /// Compares what was seen with every rule. Linear in the text.
    pub(crate) fn event(&self, seen: &Sighting<'_>, keyed: &Keyed) -> Event {
        let texts = if self.texts.is_empty() {
            None
        } else {
            Some(self.texts.matches(seen.text.as_bytes()))
        };
        let asks = self.rules.iter().any(|rule| {
            rule.of == seen.kind && rule.any.iter().any(|t| matches!(t, Trigger::Credentials))
        }) && asks_for_credentials(seen.text);
        let mut counts_for = 0;
        for (number, rule) in self.rules.iter().enumerate() {
            let written = || {
                let matched = |text: &usize| texts.as_ref().is_some_and(|t| t.matched(*text));
                rule.texts.iter().any(matched)
            };
            if rule.of == seen.kind && (rule.any.iter().any(|t| holds(t, seen, asks)) || written())
            {
                counts_for |= 1 << number;
            }
        }
        Event {
            kind: seen.kind,
            fingerprint: keyed.fingerprint(seen.text.as_bytes()),
            length: u32::try_from(seen.text.len()).unwrap_or(u32::MAX),
            score: seen.score,
            counts_for,
        }
    }
}

/// Whether a trigger that needs no expression holds. What cannot be compared counts.
fn holds(trigger: &Trigger, seen: &Sighting<'_>, asks: bool) -> bool {
    let reaches = |least: f32| seen.score.is_nan() || seen.score >= least;
    match trigger {
        Trigger::Any => true,
        Trigger::Score { at_least } => reaches(*at_least),
        Trigger::Category { among, at_least } => {
            reaches(*at_least) && among.iter().any(|n| seen.categories.contains(&n.as_str()))
        }
        Trigger::Text { .. } => false,
        Trigger::Credentials => asks,
        Trigger::Refused => seen.refused,
    }
}

fn check_id(pattern: &Pattern, place: usize) -> Result<(), SettingsError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if (1..=MAX_ID_BYTES).contains(&pattern.id.len()) && pattern.id.bytes().all(plain) {
        Ok(())
    } else {
        Err(SettingsError::PatternId { place })
    }
}

fn compiled(
    rule: &Rule,
    pattern: usize,
    texts: &mut Vec<(usize, String)>,
) -> Result<Compiled, SettingsError> {
    let place = pattern + 1;
    let count = usize::from(rule.count);
    let last = rule.last.map_or(HISTORY, usize::from);
    if count == 0 || count > last || last > HISTORY {
        return Err(SettingsError::PatternCount { place });
    }
    let usable = |trigger: &Trigger| match trigger {
        Trigger::Score { at_least } => !at_least.is_nan(),
        Trigger::Category { among, at_least } => !among.is_empty() && !at_least.is_nan(),
        Trigger::Text { pattern } => !pattern.is_empty(),
        Trigger::Any | Trigger::Credentials | Trigger::Refused => true,
    };
    if rule.any.is_empty() || !rule.any.iter().all(usable) {
        return Err(SettingsError::PatternTrigger { place });
    }
    let mut own = Vec::new();
    for trigger in &rule.any {
        if let Trigger::Text { pattern } = trigger {
            if pattern.len() > MAX_EXPRESSION_BYTES || expressions([pattern.as_str()]).is_none() {
                return Err(SettingsError::PatternText { place });
            }
            own.push(texts.len());
            texts.push((place, pattern.clone()));
        }
    }
    Ok(Compiled {
        pattern,
        of: rule.of,
        count,
        last,
        within_ms: rule.within_ms.unwrap_or(u64::MAX),
        any: rule.any.clone(),
        texts: own,
    })
}

fn expressions<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<RegexSet> {
    RegexSetBuilder::new(texts)
        .case_insensitive(true)
        .unicode(false)
        .size_limit(COMPILED_BYTES)
        .build()
        .ok()
}
