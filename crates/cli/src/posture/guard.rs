//! Protections of the guard that are off or loosened, and whether anyone is told.

use super::check::{Check, Outcome, critical, found, found_any, found_if, info, warn};
use super::scene::Scene;
use super::server::said;
use super::services::is_open;
use blastshield_config::{AbuseAction, AbusePattern, SHIPPED_PATTERNS};

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("guard.model_off", "The model does not score texts; the rules are alone", "set security.enhancedInjectionDetection = true", |s| said(s, [("security.enhancedInjectionDetection", !s.settings.security.enhanced_injection_detection)])),
    critical("guard.fences_off", "What tools return has no fence", "set security.toolResultIsolation.enabled = true", |s| said(s, [("security.toolResultIsolation.enabled", !s.settings.security.tool_results.enabled)])),
    critical("guard.tool_scan_off", "What tools return is not scored", "set security.toolResultIsolation.scanForInjection = true", |s| said(s, [("security.toolResultIsolation.scanForInjection", !s.settings.security.tool_results.scan_for_injection)])),
    warn("guard.threshold_loose", "Tool results are blocked later than the profile says", "leave security.toolResultIsolation.riskScoreThreshold empty", |s| {
        let line = s.settings.policy.profile.block_line();
        said(s, [("security.toolResultIsolation.riskScoreThreshold", s.settings.security.tool_results.risk_score_threshold.is_some_and(|score| score > line))])
    }),
    warn("guard.rates_off", "Sessions are not limited", "set security.rateLimiting.enabled = true", |s| said(s, [("security.rateLimiting.enabled", !s.settings.security.rates.enabled)])),
    warn("guard.rates_loose", "Limits of a session are so wide that they stop nobody", "lower the limits of security.rateLimiting", |s| {
        let rates = &s.settings.security.rates;
        said(s, [
            ("security.rateLimiting.messagesPerMinute", rates.messages_per_minute > 600),
            ("security.rateLimiting.toolCallsPerMinute", rates.tool_calls_per_minute > 1200),
            ("security.rateLimiting.tokensPerHour", rates.tokens_per_hour > 20_000_000),
        ])
    }),
    info("guard.no_cooldown", "A session that hit a limit need not pause", "set security.rateLimiting.cooldownMs = 60000", |s| said(s, [("security.rateLimiting.cooldownMs", s.settings.security.rates.cooldown.as_millis() < 1000)])),
    warn("guard.exempt_sessions", "Sessions are exempt from limits", "empty security.rateLimiting.exemptSessions", |s| {
        let exempt = s.settings.security.rates.exempt_sessions.len();
        found_if(exempt > 0, || format!("security.rateLimiting.exemptSessions names {exempt}"))
    }),
    critical("guard.output_off", "What agents say is not checked", "set security.outputValidation.enabled = true", |s| said(s, [("security.outputValidation.enabled", !s.settings.security.output.enabled)])),
    critical("guard.credentials_pass", "Credentials in what agents say are let through with a warning", "set security.outputValidation.blockCredentialLeaks = true", |s| said(s, [("security.outputValidation.blockCredentialLeaks", !s.settings.security.output.block_credential_leaks)])),
    warn("guard.prompts_pass", "System prompts in what agents say are let through with a warning", "set security.outputValidation.blockSystemPromptLeaks = true", |s| said(s, [("security.outputValidation.blockSystemPromptLeaks", !s.settings.security.output.block_system_prompt_leaks)])),
    critical("guard.exfiltration_off", "Links and blobs that carry data away are not looked for", "set security.outputValidation.scanForExfiltration = true", |s| said(s, [("security.outputValidation.scanForExfiltration", !s.settings.security.output.scan_for_exfiltration)])),
    warn("guard.canaries_off", "Canaries are not looked for", "set security.canaryTokens.enabled = true", |s| said(s, [("security.canaryTokens.enabled", !s.settings.security.canaries.enabled)])),
    warn("guard.abuse_off", "Patterns of abuse are not looked for", "set security.abuseDetection.enabled = true", |s| said(s, [("security.abuseDetection.enabled", !s.settings.security.abuse.enabled)])),
    warn("guard.patterns_missing", "Shipped patterns of abuse are not in use", "add them to security.abuseDetection.patterns", patterns_missing),
    warn("guard.abuse_only_warns", "Abuse is reported and never stopped", "leave security.abuseDetection.action empty", |s| said(s, [("security.abuseDetection.action", s.settings.security.abuse.action == Some(AbuseAction::Warn))])),
    warn("leak.no_internal_names", "No internal paths or names are kept from leaving", "leave leak.internal_paths and leak.internal_terms at their defaults, or name yours", |s| found_if(s.settings.leaks.internal_paths.is_empty() && s.settings.leaks.internal_terms.is_empty(), || "leak.internal_paths and leak.internal_terms are empty".to_owned())),
    info("leak.no_known_secrets", "No secrets are registered by value: only those with a known shape are found", "name the agent's secret files in leak.secret_files", |s| found_if(s.settings.leaks.secret_files.is_empty(), || s.said("leak.secret_files"))),
    warn("alerts.nobody", "Nobody is told of an alert", "set TELEGRAM_BOT_TOKEN and TELEGRAM_OWNER_ID, or alerts.webhook_url and alerts.webhook_secret", |s| found_if(s.settings.alerts.webhook.is_none() && s.settings.telegram.pair().is_none() && s.settings.approvals.discord.is_none(), || s.said("alerts.webhook_url"))),
    warn("alerts.unsigned", "Posted alerts are not signed: anyone can forge one", "set alerts.webhook_secret: openssl rand -hex 32", |s| match &s.settings.alerts.webhook {
        None => Outcome::NotHere,
        Some(_) => found_if(s.settings.alerts.webhook_secret.is_none(), || s.said("alerts.webhook_secret")),
    }),
    critical("alerts.plain_http", "Alerts are posted in the clear", "use an https address in alerts.webhook_url", |s| match &s.settings.alerts.webhook {
        None => Outcome::NotHere,
        Some(url) if is_open(url) => found("alerts.webhook_url is a plain http address on another host"),
        Some(_) => Outcome::Fine,
    }),
    warn("alerts.deaf", "So many attempts are needed for an alert that none will come", "leave alerts.injection_attempts_per_hour and alerts.blocked_responses_per_hour at their defaults", |s| {
        let alerts = &s.settings.alerts;
        said(s, [
            ("alerts.injection_attempts_per_hour", alerts.injection_attempts_per_hour > 200),
            ("alerts.blocked_responses_per_hour", alerts.blocked_responses_per_hour > 100),
        ])
    }),
];

fn patterns_missing(scene: &Scene) -> Outcome {
    let used = &scene.settings.security.abuse.patterns;
    let missing = SHIPPED_PATTERNS.into_iter().filter(|id| {
        !used
            .iter()
            .any(|pattern| matches!(pattern, AbusePattern::Shipped(used) if used == id))
    });
    found_any(missing.map(str::to_owned).collect())
}
