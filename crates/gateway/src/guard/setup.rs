//! The guard, built from the settings, the environment and the store.

use super::{Guard, alarm::Alarm, now, random, telling::Redactor};
use crate::clock;
use crate::ids::NoRandomness;
use crate::tokens::Tokens;
use blastshield_config::{self as config, Secret, Settings};
use blastshield_detect::Detector;
use blastshield_guard::fence::Isolation;
use blastshield_guard::output::{PromptShingles, Rules};
use blastshield_leak::{BuildError, Canary, CanaryError, Scanner, Severity};
use blastshield_limits::{
    self as limits, Action, Hold, HoldKind, Moment, Pattern, SessionLimits, Sessions,
    SettingsError, Trigger,
};
use blastshield_store::{CanaryRecord, Store, StoreError};
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};
use tokio::sync::Semaphore;

/// Held sessions that a restart takes over at most.
const MAX_RESTORED: u32 = 100_000;
/// Answers that may be checked as streams at once; each may hold a few hundred kilobytes back.
const MAX_STREAMS: usize = 256;
/// A file of secrets or of a prompt is no larger than this.
const MAX_FILE: u64 = 1 << 20;
/// Shorter values would be found everywhere.
const MIN_SECRET: usize = 8;

/// The guard cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// Limits or abuse patterns.
    #[error("the limits of sessions cannot be used: {0}")]
    Limits(#[from] SettingsError),
    /// Registered values.
    #[error("secrets cannot be registered: {0}")]
    Leak(#[from] BuildError),
    /// A canary in the store.
    #[error("the store holds what is no canary: {0}")]
    Canary(#[from] CanaryError),
    /// The store.
    #[error("the store cannot be read: {0}")]
    Store(#[from] StoreError),
    /// A file that the settings name.
    #[error("a file that {setting} names cannot be read: {kind}")]
    File {
        /// The setting.
        setting: &'static str,
        /// Why not.
        kind: std::io::ErrorKind,
    },
    /// The audit log.
    #[error("the audit log cannot be opened: {0}")]
    Audit(#[from] blastshield_audit::LogError),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] NoRandomness),
}

impl Guard {
    pub(crate) async fn new(
        settings: &Settings,
        tokens: &Tokens,
        store: &Store,
        detector: Arc<Detector>,
    ) -> Result<Self, GuardError> {
        let security = &settings.security;
        let sessions = Sessions::new(limits_of(security), random()?)?;
        let held = store.session_holds(clock::now_ms(), MAX_RESTORED).await?;
        sessions.restore(held.iter().filter_map(hold).collect(), now());
        let kept = store.canaries().await?;
        let placed = !kept.is_empty() || !security.canaries.tokens.is_empty();
        let scanner = Arc::new(RwLock::new(scanner(settings, tokens, &kept)?));
        let threshold = security
            .tool_results
            .risk_score_threshold
            .unwrap_or_else(|| settings.policy.profile.block_line());
        Ok(Self {
            sessions,
            prompts: Arc::new(prompts(settings)?),
            detector,
            isolation: Isolation {
                enabled: security.tool_results.enabled,
                scan_for_injection: security.tool_results.scan_for_injection,
                risk_score_threshold: threshold,
            },
            output: security.output.enabled.then_some(Rules {
                block_credential_leaks: security.output.block_credential_leaks,
                block_system_prompt_leaks: security.output.block_system_prompt_leaks,
                scan_for_exfiltration: security.output.scan_for_exfiltration,
            }),
            canaries: security.canaries.enabled,
            placed: AtomicBool::new(placed),
            known: Mutex::new(kept.into_iter().map(|canary| canary.value).collect()),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            alarm: Alarm::start(settings, Arc::new(Redactor(Arc::clone(&scanner))))?,
            scanner,
        })
    }
}

fn limits_of(security: &config::SecuritySettings) -> limits::Settings {
    let rates = &security.rates;
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    limits::Settings {
        limits: SessionLimits {
            enabled: rates.enabled,
            messages_per_minute: rates.messages_per_minute,
            tool_calls_per_minute: rates.tool_calls_per_minute,
            tokens_per_hour: rates.tokens_per_hour,
            cooldown_ms: millis(rates.cooldown),
            exempt_sessions: rates.exempt_sessions.clone(),
        },
        abuse: limits::AbuseSettings {
            enabled: security.abuse.enabled,
            patterns: security.abuse.patterns.iter().filter_map(pattern).collect(),
            action: security.abuse.action.map(action),
            block_ms: millis(security.abuse.block_for),
            throttle_ms: millis(rates.cooldown),
        },
        ..limits::Settings::default()
    }
}

fn action(action: config::AbuseAction) -> Action {
    match action {
        config::AbuseAction::Warn => Action::Warn,
        config::AbuseAction::Throttle => Action::Throttle,
        config::AbuseAction::Block => Action::Block,
    }
}

fn pattern(pattern: &config::AbusePattern) -> Option<Pattern> {
    let own = match pattern {
        config::AbusePattern::Shipped(id) => {
            return Pattern::shipped().into_iter().find(|one| one.id == *id);
        }
        config::AbusePattern::Own(own) => own,
    };
    let trigger = match &own.what {
        config::OwnTrigger::Category(category) => Trigger::Category {
            among: vec![category.clone()],
            at_least: 0.0,
        },
        config::OwnTrigger::Text(words) => Trigger::Text {
            pattern: format!("(?i){}", regex_escape(words)),
        },
    };
    let rule = |of| limits::Rule {
        of,
        any: vec![trigger.clone()],
        count: own.count,
        last: None,
        within_ms: u64::try_from(own.window.as_millis()).ok(),
    };
    Some(Pattern {
        id: own.id.clone(),
        description: "a pattern of the owner".to_owned(),
        severity: limits::Severity::Medium,
        action: action(own.action),
        when: vec![
            rule(limits::EventKind::Message),
            rule(limits::EventKind::Content),
        ],
    })
}

/// The words as an expression that matches just them.
fn regex_escape(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for c in words.chars() {
        if !c.is_alphanumeric() && !c.is_whitespace() && c.is_ascii() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn hold(kept: &blastshield_store::SessionHold) -> Option<Hold> {
    let kind = match kept.kind.as_str() {
        "cooldown" => HoldKind::Cooldown,
        "block" => HoldKind::Block,
        // What is not understood holds as long as it says.
        _ => HoldKind::Terminated,
    };
    Some(Hold {
        key: kept.session_key.clone(),
        kind,
        until: Moment::from_millis(u64::try_from(kept.until_ms).ok()?),
        reason: kept.reason.clone(),
    })
}

pub(super) fn severity(critical: bool) -> Severity {
    if critical {
        Severity::Critical
    } else {
        Severity::Warn
    }
}

/// Knows every secret that this process holds, by value.
fn scanner(
    settings: &Settings,
    tokens: &Tokens,
    canaries: &[CanaryRecord],
) -> Result<Scanner, GuardError> {
    let leaks = &settings.leaks;
    let mut builder = Scanner::builder()
        .key(random()?)
        .internal_paths(&leaks.internal_paths)
        .internal_terms(&leaks.internal_terms)
        .owner_ids(&leaks.owner_ids);
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        if is_sensitive(name) && !is_place(value.trim()) && value.trim().len() >= MIN_SECRET {
            builder = builder.register(name, value.trim());
        }
    }
    let own: [(&str, Option<&Secret>); 11] = [
        (
            "proxies.moltbook_token",
            settings.proxies.moltbook_token.as_ref(),
        ),
        ("server.agent_token", settings.server.agent_token.as_ref()),
        (
            "search.brave_api_key",
            settings.search.brave_api_key.as_ref(),
        ),
        (
            "judge.openai_api_key",
            settings.judge.openai_api_key.as_ref(),
        ),
        (
            "renderer.browserless_token",
            settings.renderer.browserless_token.as_ref(),
        ),
        (
            "alerts.webhook_secret",
            settings.alerts.webhook_secret.as_ref(),
        ),
        ("telegram.bot_token", settings.telegram.bot_token.as_ref()),
        (
            "alerts.discord_webhook_url",
            settings.approvals.discord.as_ref(),
        ),
        ("wallet.admin_key", settings.wallet.admin_key.as_ref()),
        ("wallet.invoice_key", settings.wallet.invoice_key.as_ref()),
        ("server.owner_token", Some(tokens.owner())),
    ];
    for (name, secret) in own {
        if let Some(secret) = secret.filter(|secret| secret.reveal().len() >= MIN_SECRET) {
            builder = builder.register(name, secret.reveal());
        }
    }
    for file in &leaks.secret_files {
        let text = file_text(file, "leak.secret_files")?;
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("file");
        for line in text
            .lines()
            .map(value_of)
            .filter(|value| value.len() >= MIN_SECRET)
        {
            builder = builder.register(name, line);
        }
    }
    for canary in &settings.security.canaries.tokens {
        let value = canary.value.reveal();
        builder = match Canary::parse(value, severity(canary.critical)) {
            Ok(canary) => builder.canary(canary),
            // A text of the owner's own making: found by value, like any secret.
            Err(_) => builder.register(&canary.location, value),
        };
    }
    for canary in canaries {
        let severity = severity(canary.severity == "critical");
        builder = builder.canary(Canary::parse(&canary.value, severity)?);
    }
    Ok(builder.build()?)
}

/// The value of a line: what follows the first `=`, without quotes, or all of it.
fn value_of(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    let name = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = match line.trim_start_matches("export ").split_once('=') {
        Some((left, right)) if name(left.trim()) && !right.trim().is_empty() => right,
        _ => line,
    };
    value.trim().trim_matches(['"', '\''])
}

/// Whether a variable of this name holds something to keep.
fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

/// Whether a value says where a secret is instead of being one: a path, or a web address without a password or query.
fn is_place(value: &str) -> bool {
    let web = value.starts_with("http://") || value.starts_with("https://");
    let path = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| value.starts_with(start));
    web && !value.contains(['@', '?']) || path && !value.contains(['=', '+'])
}

fn prompts(settings: &Settings) -> Result<PromptShingles, GuardError> {
    let mut texts = Vec::new();
    for file in &settings.leaks.prompt_files {
        texts.push(file_text(file, "leak.prompt_files")?);
    }
    Ok(PromptShingles::of(texts.iter().map(String::as_str)))
}

fn file_text(path: &Path, setting: &'static str) -> Result<String, GuardError> {
    let cannot = |kind| GuardError::File { setting, kind };
    let file = std::fs::File::open(path).map_err(|error| cannot(error.kind()))?;
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    let length = read.map_err(|error| cannot(error.kind()))?;
    if length as u64 > MAX_FILE {
        return Err(cannot(std::io::ErrorKind::FileTooLarge));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_secret_file_are_values() {
        assert_eq!(value_of("API_KEY=\"abc=def\""), "abc=def");
        assert_eq!(value_of("export TOKEN='x'"), "x");
        assert_eq!(value_of("  plain-secret  "), "plain-secret");
        assert_eq!(value_of("a b=c"), "a b=c");
        assert_eq!(value_of("# TOKEN=x"), "");
    }

    #[test]
    fn variables_that_name_a_secret_are_sensitive() {
        for name in ["OPENAI_API_KEY", "telegram_bot_token", "DB_PASSWORD"] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG"] {
            assert!(!is_sensitive(name), "{name}");
        }
        for place in ["/run/secrets/key", "~/.ssh/id", "https://keys.example/v1"] {
            assert!(is_place(place), "{place}");
        }
        for secret in [
            "https://u:w@db.example",
            "https://h.example/?k=1",
            "/a+b/c==",
        ] {
            assert!(!is_place(secret), "{secret}");
        }
    }

    #[test]
    fn words_of_an_owner_are_no_expression() {
        assert_eq!(regex_escape("a.b (c)"), "a\\.b \\(c\\)");
    }
}
