//! The settings as types: what does not parse is refused here, by name.

mod abuse;
mod egress;
mod owner;
mod proxies;
mod security;
mod services;
mod wallet;
mod web;

pub use abuse::{
    AbuseAction, AbusePattern, AbuseSettings, OwnPattern, OwnTrigger, SHIPPED_PATTERNS,
};
pub use egress::{EgressAgent, EgressMode, EgressSettings};
pub use owner::{ApprovalSettings, EnvironmentSettings, StatusSettings, TelegramSettings};
pub use proxies::ProxySettings;
pub use security::{
    AlertSettings, CanaryEntry, CanarySettings, LeakSettings, OutputSettings, RateSettings,
    SecuritySettings, ToolResultSettings,
};
pub use services::{
    JudgeProvider, JudgeSettings, OpenAiApi, RateClass, Renderer, RendererSettings, SearchProvider,
    SearchSettings, SearchStrategy, WaitUntil,
};
pub use wallet::{WalletNetwork, WalletSettings};
pub use web::WebSettings;

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::{ConfigError, Values};
use blastshield_detect::Profile;
use blastshield_policy::DomainPolicy;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder for everything that is written.
    pub data_dir: PathBuf,
    /// Listening, tokens and limits of the server.
    pub server: ServerSettings,
    /// What is allowed, blocked and shown.
    pub policy: PolicySettings,
    /// Retrieval.
    pub web: WebSettings,
    /// Search providers.
    pub search: SearchSettings,
    /// The model that judges the gray zone.
    pub judge: JudgeSettings,
    /// The browser behind retrieval.
    pub renderer: RendererSettings,
    /// Persistence.
    pub store: StoreSettings,
    /// Log files.
    pub logs: LogSettings,
    /// The guard.
    pub security: SecuritySettings,
    /// What must not leave.
    pub leaks: LeakSettings,
    /// Who is told, and when.
    pub alerts: AlertSettings,
    /// The wallet.
    pub wallet: WalletSettings,
    /// Security proxies.
    pub proxies: ProxySettings,
    /// The forward proxy.
    pub egress: EgressSettings,
    /// The owner's bot.
    pub telegram: TelegramSettings,
    /// What the owner is asked.
    pub approvals: ApprovalSettings,
    /// What the environment must hold.
    pub environment: EnvironmentSettings,
    /// The status file.
    pub status: StatusSettings,
}

/// Listening, tokens and limits of the server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where to listen.
    pub address: SocketAddr,
    /// The agents' token.
    pub agent_token: Option<Secret>,
    /// The owner's token.
    pub owner_token: Option<Secret>,
    /// Largest request body.
    pub max_body_bytes: usize,
    /// Requests answered at once.
    pub max_requests: usize,
    /// Longest time for one request.
    pub request_timeout: Duration,
    /// Time to finish at shutdown.
    pub shutdown_grace: Duration,
}

/// What is allowed, blocked and shown.
#[derive(Clone, Debug)]
pub struct PolicySettings {
    /// Where the lines lie.
    pub profile: Profile,
    /// Block what nobody could clear.
    pub fail_closed: bool,
    /// Leave URLs out of search results.
    pub redact_urls: bool,
    /// Keep link targets in content that was allowed.
    pub expose_safe_content_urls: bool,
    /// Allowlist and blocklist.
    pub domains: DomainPolicy,
}

/// Persistence.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// The SQLite file.
    pub path: PathBuf,
    /// A shared store instead.
    pub url: Option<Secret>,
    /// Every record is on the disk before its answer.
    pub sync_every_record: bool,
    /// Days that things are kept.
    pub retention_days: u32,
}

/// Log files.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Their folder.
    pub dir: PathBuf,
    /// Size at which a file is rotated.
    pub max_bytes: u64,
}

impl Settings {
    /// Reads every setting.
    pub fn from_values(values: &Values) -> Result<Self, ConfigError> {
        let read = Reader { values };
        let data_dir = PathBuf::from(read.text("data_dir")?);
        let policy = policy(&read)?;
        let logs = LogSettings {
            dir: read
                .optional("logs.dir")
                .map_or_else(|| data_dir.join("logs"), PathBuf::from),
            max_bytes: read.number("logs.max_bytes", 10_000..=10_000_000_000)?,
        };
        let settings = Self {
            server: server(&read)?,
            web: web::web(&read, policy.profile)?,
            policy,
            search: services::search(&read)?,
            judge: services::judge(&read)?,
            renderer: services::renderer(&read)?,
            security: security::security(&read)?,
            leaks: security::leaks(&read)?,
            alerts: security::alerts(&read)?,
            wallet: wallet::wallet(&read)?,
            proxies: proxies::proxies(&read, &data_dir)?,
            egress: egress::egress(&read)?,
            telegram: owner::telegram(&read)?,
            approvals: owner::approvals(&read)?,
            environment: owner::environment(&read)?,
            status: owner::status(&read, logs.dir.clone())?,
            store: StoreSettings {
                path: read
                    .optional("store.path")
                    .map_or_else(|| data_dir.join("blastshield.db"), PathBuf::from),
                url: read.secret("store.url"),
                sync_every_record: read.truth("store.sync_every_record")?,
                retention_days: read.number("store.retention_days", 1..=3650)?,
            },
            logs,
            data_dir,
        };
        settings.check_together()?;
        Ok(settings)
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        if self.judge.enabled && self.judge.model.is_empty() {
            return Err(ConfigError::Together(
                "judge.enabled needs judge.model: say which model to ask",
            ));
        }
        let wants_key =
            self.judge.provider == JudgeProvider::OpenAi && self.judge.openai_api_key.is_none();
        if self.judge.enabled && wants_key {
            return Err(ConfigError::Together(
                "judge.provider openai needs judge.openai_api_key",
            ));
        }
        Ok(())
    }
}

fn server(read: &Reader<'_>) -> Result<ServerSettings, ConfigError> {
    let host: IpAddr = read.parsed("server.host", "an IP address")?;
    Ok(ServerSettings {
        address: SocketAddr::new(host, read.number("server.port", 0..=65535)?),
        agent_token: read.token("server.agent_token")?,
        owner_token: read.token("server.owner_token")?,
        max_body_bytes: read.number("server.max_body_bytes", 1024..=16_000_000)?,
        max_requests: read.number("server.max_requests", 1..=100_000)?,
        request_timeout: read.millis("server.request_timeout_ms")?,
        shutdown_grace: read.millis("server.shutdown_grace_ms")?,
    })
}

fn policy(read: &Reader<'_>) -> Result<PolicySettings, ConfigError> {
    Ok(PolicySettings {
        profile: read.one_of(
            "policy.profile",
            &[
                ("baseline", Profile::Baseline),
                ("strict", Profile::Strict),
                ("paranoid", Profile::Paranoid),
            ],
        )?,
        fail_closed: read.truth("policy.fail_closed")?,
        redact_urls: read.truth("policy.redact_urls")?,
        expose_safe_content_urls: read.truth("policy.expose_safe_content_urls")?,
        domains: DomainPolicy {
            allow: read.domains("policy.allowlist_domains")?,
            block: read.domains("policy.blocklist_domains")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::SETTINGS;
    use crate::values::Origin;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::from_values(&Values::read(None, variables)?)
    }

    #[test]
    fn the_defaults_protect() {
        let settings = settings(&[]).unwrap();
        assert!(settings.server.address.ip().is_loopback());
        assert!(settings.policy.fail_closed && settings.policy.redact_urls);
        assert_eq!(settings.policy.profile, Profile::Strict);
        assert!(!settings.web.allow_http && settings.web.allowed_ranges.is_empty());
        assert_eq!(settings.web.max_bytes, 1_000_000);
        assert!(!settings.judge.enabled);
    }

    #[test]
    fn profiles_bring_their_limits_and_may_be_overruled() {
        let paranoid = settings(&[("CLAWRUBBER_PROFILE", "Paranoid")]).unwrap().web;
        assert_eq!(
            (
                paranoid.max_bytes,
                paranoid.timeout.as_millis(),
                paranoid.max_redirects
            ),
            (750_000, 6_000, 2)
        );
        let large = settings(&[("BLASTSHIELD_MAX_BYTES", "2000000")])
            .unwrap()
            .web;
        assert_eq!((large.max_bytes, large.max_redirects), (2_000_000, 3));
    }

    #[test]
    fn every_bad_value_is_named_and_not_repeated() {
        for setting in SETTINGS {
            let Some(variable) = setting.variables.first() else {
                panic!("{} has no variable", setting.key);
            };
            let free_text = matches!(
                setting.key,
                "search.brave_api_key"
                    | "judge.openai_api_key"
                    | "renderer.browserless_token"
                    | "store.url"
            ) || matches!(
                setting.key,
                "data_dir"
                    | "web.ca_file"
                    | "judge.model"
                    | "store.path"
                    | "logs.dir"
                    | "renderer.wait_for_selector"
                    | "renderer.chromium_path"
                    | "security.rateLimiting.exemptSessions"
                    | "security.abuseDetection.patterns"
                    | "leak.internal_paths"
                    | "leak.internal_terms"
                    | "leak.owner_ids"
                    | "leak.secret_files"
                    | "leak.prompt_files"
                    | "proxies.dir"
                    | "proxies.moltbook_token"
                    | "environment.schema_file"
                    | "environment.file"
                    | "status.dir"
            );
            match settings(&[(variable, "\u{7}not//it")]) {
                Ok(_) => assert!(free_text, "{} takes anything", setting.key),
                Err(ConfigError::Value {
                    key,
                    origin,
                    expected,
                }) => {
                    assert_eq!((key, origin), (setting.key, Origin::Variable(variable)));
                    assert!(!expected.contains('\u{7}'), "{key}: {expected}");
                }
                Err(other) => panic!("{}: {other}", setting.key),
            }
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert!(settings(&[("CLAWRUBBER_LLM_JUDGE_ENABLED", "true")]).is_err());
        let ollama = [
            ("CLAWRUBBER_LLM_JUDGE_ENABLED", "true"),
            ("CLAWRUBBER_LLM_PROVIDER", "ollama"),
            ("CLAWRUBBER_LLM_MODEL", "small"),
        ];
        assert!(settings(&ollama).is_ok());
    }

    #[test]
    fn guessable_tokens_are_refused() {
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "short")]).is_err());
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "long enough but spaced")]).is_err());
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "0123456789abcdef")]).is_ok());
    }
}
