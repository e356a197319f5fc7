//! The guard: fences, limits, output checks, canaries, abuse patterns, leaks and alerts.

use super::abuse::{AbuseSettings, abuse};
use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::ConfigError;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The longest list of canaries or patterns that a configuration may hold.
pub(super) const MAX_ENTRIES: usize = 1000;

/// `[security]`.
#[derive(Clone, Debug)]
pub struct SecuritySettings {
    /// Whether the model scores texts too, and not the rules alone.
    pub enhanced_injection_detection: bool,
    /// Fences around what tools return.
    pub tool_results: ToolResultSettings,
    /// How often sessions may do things.
    pub rates: RateSettings,
    /// Checks of what agents say.
    pub output: OutputSettings,
    /// Canaries.
    pub canaries: CanarySettings,
    /// Abuse patterns.
    pub abuse: AbuseSettings,
    /// The largest body of the guard's endpoints.
    pub max_body_bytes: usize,
}

/// Fences around what tools return.
#[derive(Clone, Copy, Debug)]
pub struct ToolResultSettings {
    /// Whether a fence is put around it.
    pub enabled: bool,
    /// Whether it is scored.
    pub scan_for_injection: bool,
    /// The score that blocks; the profile's block line when not set.
    pub risk_score_threshold: Option<f32>,
}

/// How often sessions may do things.
#[derive(Clone, Debug)]
pub struct RateSettings {
    /// Whether they are limited.
    pub enabled: bool,
    /// Messages a minute.
    pub messages_per_minute: u32,
    /// Tool calls a minute.
    pub tool_calls_per_minute: u32,
    /// Tokens an hour.
    pub tokens_per_hour: u32,
    /// The pause after a limit was hit.
    pub cooldown: Duration,
    /// Sessions without limits.
    pub exempt_sessions: Vec<String>,
}

/// Checks of what agents say.
#[derive(Clone, Copy, Debug)]
pub struct OutputSettings {
    /// Whether it is checked.
    pub enabled: bool,
    /// Whether a credential blocks it.
    pub block_credential_leaks: bool,
    /// Whether words of a registered system prompt block it.
    pub block_system_prompt_leaks: bool,
    /// Whether links and blobs that carry data are looked for.
    pub scan_for_exfiltration: bool,
}

/// Canaries.
#[derive(Clone, Debug)]
pub struct CanarySettings {
    /// Whether they are looked for.
    pub enabled: bool,
    /// Those of the configuration; others are in the store.
    pub tokens: Vec<CanaryEntry>,
}

/// A canary of the configuration.
#[derive(Clone, Debug)]
pub struct CanaryEntry {
    /// The text to look for.
    pub value: Secret,
    /// Where it was placed.
    pub location: String,
    /// Whether its leak is critical, and not a warning.
    pub critical: bool,
}

/// What must not leave.
#[derive(Clone, Debug)]
pub struct LeakSettings {
    /// Paths inside the agent's home.
    pub internal_paths: Vec<String>,
    /// Names that only insiders use.
    pub internal_terms: Vec<String>,
    /// The owner's ids.
    pub owner_ids: Vec<String>,
    /// Files whose lines are secrets.
    pub secret_files: Vec<PathBuf>,
    /// Files whose text is a system prompt.
    pub prompt_files: Vec<PathBuf>,
}

/// Who is told, and when.
#[derive(Clone, Debug)]
pub struct AlertSettings {
    /// Where alerts are posted.
    pub webhook: Option<Url>,
    /// Signs what is posted.
    pub webhook_secret: Option<Secret>,
    /// More attempts than this in an hour are an alert.
    pub injection_attempts_per_hour: u64,
    /// More blocked responses than this in an hour are an alert.
    pub blocked_responses_per_hour: u64,
}

pub(super) fn security(read: &Reader<'_>) -> Result<SecuritySettings, ConfigError> {
    Ok(SecuritySettings {
        enhanced_injection_detection: read.truth("security.enhancedInjectionDetection")?,
        tool_results: ToolResultSettings {
            enabled: read.truth("security.toolResultIsolation.enabled")?,
            scan_for_injection: read.truth("security.toolResultIsolation.scanForInjection")?,
            risk_score_threshold: threshold(read)?,
        },
        rates: RateSettings {
            enabled: read.truth("security.rateLimiting.enabled")?,
            messages_per_minute: read
                .number("security.rateLimiting.messagesPerMinute", 0..=10_000)?,
            tool_calls_per_minute: read
                .number("security.rateLimiting.toolCallsPerMinute", 0..=10_000)?,
            tokens_per_hour: read
                .number("security.rateLimiting.tokensPerHour", 0..=4_000_000_000)?,
            cooldown: Duration::from_millis(
                read.number("security.rateLimiting.cooldownMs", 0..=86_400_000)?,
            ),
            exempt_sessions: read.names("security.rateLimiting.exemptSessions")?,
        },
        output: OutputSettings {
            enabled: read.truth("security.outputValidation.enabled")?,
            block_credential_leaks: read.truth("security.outputValidation.blockCredentialLeaks")?,
            block_system_prompt_leaks: read
                .truth("security.outputValidation.blockSystemPromptLeaks")?,
            scan_for_exfiltration: read.truth("security.outputValidation.scanForExfiltration")?,
        },
        canaries: CanarySettings {
            enabled: read.truth("security.canaryTokens.enabled")?,
            tokens: canaries(read)?,
        },
        abuse: abuse(read)?,
        max_body_bytes: read.number("security.maxBodyBytes", 1024..=64_000_000)?,
    })
}

fn threshold(read: &Reader<'_>) -> Result<Option<f32>, ConfigError> {
    const KEY: &str = "security.toolResultIsolation.riskScoreThreshold";
    const EXPECTED: &str = "a score above 0 and up to 20";
    let score: Option<f32> = read.optional_parsed(KEY, EXPECTED)?;
    match score {
        Some(score) if score > 0.0 && score <= 20.0 => Ok(Some(score)),
        Some(_) => Err(read.bad(KEY, EXPECTED.into())),
        None => Ok(None),
    }
}

fn canaries(read: &Reader<'_>) -> Result<Vec<CanaryEntry>, ConfigError> {
    const KEY: &str = "security.canaryTokens.tokens";
    let bad = || {
        let expected = "a list of { value, location, severity = \"warn\" or \"critical\" }, \
            values with at least 16 characters";
        read.bad(KEY, expected.into())
    };
    let Some(text) = read.optional(KEY) else {
        return Ok(Vec::new());
    };
    let entries: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(text).map_err(|_| bad())?;
    if entries.len() > MAX_ENTRIES {
        return Err(bad());
    }
    let entry = |entry: serde_json::Map<String, serde_json::Value>| {
        let field = |name: &str| entry.get(name).and_then(|value| value.as_str());
        let known = ["value", "location", "severity"];
        let value = field("value").filter(|value| (16..=512).contains(&value.len()));
        let location = field("location").filter(|place| (1..=128).contains(&place.len()));
        let critical = match field("severity") {
            Some("critical") => Some(true),
            Some("warn") => Some(false),
            _ => None,
        };
        let extra = entry.keys().any(|name| !known.contains(&name.as_str()));
        match (value, location, critical, extra) {
            (Some(value), Some(location), Some(critical), false) => Ok(CanaryEntry {
                value: Secret::new(value.to_owned()),
                location: location.to_owned(),
                critical,
            }),
            _ => Err(bad()),
        }
    };
    entries.into_iter().map(entry).collect()
}

pub(super) fn leaks(read: &Reader<'_>) -> Result<LeakSettings, ConfigError> {
    let files = |key| -> Result<Vec<PathBuf>, ConfigError> {
        Ok(read.names(key)?.into_iter().map(PathBuf::from).collect())
    };
    Ok(LeakSettings {
        internal_paths: read.names("leak.internal_paths")?,
        internal_terms: read.names("leak.internal_terms")?,
        owner_ids: read.names("leak.owner_ids")?,
        secret_files: files("leak.secret_files")?,
        prompt_files: files("leak.prompt_files")?,
    })
}

pub(super) fn alerts(read: &Reader<'_>) -> Result<AlertSettings, ConfigError> {
    Ok(AlertSettings {
        webhook: read.optional_url("alerts.webhook_url")?,
        webhook_secret: read.token("alerts.webhook_secret")?,
        injection_attempts_per_hour: read
            .number("alerts.injection_attempts_per_hour", 0..=1_000_000)?,
        blocked_responses_per_hour: read
            .number("alerts.blocked_responses_per_hour", 0..=1_000_000)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AbuseAction, AbusePattern, OwnPattern, OwnTrigger, Settings, Values};

    fn settings(file: &str) -> Result<Settings, ConfigError> {
        Settings::from_values(&Values::read(Some(file), [])?)
    }

    #[test]
    fn every_protection_is_on_by_default() {
        let security = settings("").unwrap().security;
        assert!(security.enhanced_injection_detection && security.rates.enabled);
        assert!(security.tool_results.enabled && security.tool_results.scan_for_injection);
        assert!(security.output.enabled && security.output.block_credential_leaks);
        assert!(security.output.block_system_prompt_leaks && security.output.scan_for_exfiltration);
        assert!(security.canaries.enabled && security.abuse.enabled);
        assert_eq!(security.abuse.patterns.len(), 3);
        assert_eq!(settings("").unwrap().leaks.internal_terms.len(), 3);
    }

    #[test]
    fn the_file_reads_as_the_plan_wrote_it() {
        let file = r#"
            [security]
            enhancedInjectionDetection = false
            [security.toolResultIsolation]
            riskScoreThreshold = 7.5
            [security.rateLimiting]
            messagesPerMinute = 3
            exemptSessions = ["the owner", "cron"]
            [[security.canaryTokens.tokens]]
            value = "CANARY_MEMORY_0123456789abcdef0123456789abcdef"
            location = "memory"
            severity = "critical"
            [security.abuseDetection]
            patterns = ["credential_probing", { id = "mine", category = "role_manipulation", count = 2, windowSeconds = 60, action = "throttle" }]
            action = "block"
        "#;
        let security = settings(file).unwrap().security;
        assert!(!security.enhanced_injection_detection);
        assert_eq!(security.tool_results.risk_score_threshold, Some(7.5));
        assert_eq!(security.rates.messages_per_minute, 3);
        assert_eq!(security.rates.exempt_sessions, ["the owner", "cron"]);
        let canary = security.canaries.tokens.first().unwrap();
        assert!(canary.critical && canary.location == "memory");
        assert!(!format!("{canary:?}").contains("0123456789"));
        assert_eq!(security.abuse.action, Some(AbuseAction::Block));
        assert_eq!(
            security.abuse.patterns,
            [
                AbusePattern::Shipped("credential_probing".into()),
                AbusePattern::Own(OwnPattern {
                    id: "mine".into(),
                    what: OwnTrigger::Category("role_manipulation".into()),
                    count: 2,
                    window: Duration::from_secs(60),
                    action: AbuseAction::Throttle,
                })
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for file in [
            "[security.canaryTokens]\ntokens = [{ value = \"short\", location = \"x\", severity = \"warn\" }]",
            "[security.canaryTokens]\ntokens = [{ value = \"0123456789abcdef\", location = \"x\", severity = \"bad\" }]",
            "[security.canaryTokens]\ntokens = [{ value = \"0123456789abcdef\", location = \"x\", severity = \"warn\", more = 1 }]",
            "[security.abuseDetection]\npatterns = [{ id = \"a\" }]",
            "[security.abuseDetection]\npatterns = [3]",
            "[security.abuseDetection]\naction = \"nuke\"",
            "[security.toolResultIsolation]\nriskScoreThreshold = 0",
            "[security.toolResultIsolation]\nriskScoreThreshold = \"NaN\"",
            "[security.toolResultIsolation]\nriskscorethreshold = 3",
            "[security.deep.deeper.deepest]\na = 1",
        ] {
            assert!(settings(file).is_err(), "{file}");
        }
    }
}
