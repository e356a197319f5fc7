//! Whom the owner's requests and alerts reach, how long an answer may take, and what the environment must hold.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::ConfigError;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Seconds in thirty days: nobody answers after that.
const LONGEST: u64 = 30 * 86_400;

/// The owner's bot.
#[derive(Clone, Debug)]
pub struct TelegramSettings {
    /// The bot's token.
    pub bot_token: Option<Secret>,
    /// The only account whose answers count.
    pub owner_id: Option<i64>,
    /// Where the Bot API is.
    pub base_url: Url,
    /// Longest time for one call; a poll for answers takes longer.
    pub timeout: Duration,
}

impl TelegramSettings {
    /// Token and owner, if both are set: one without the other asks nobody.
    #[must_use]
    pub fn pair(&self) -> Option<(&Secret, i64)> {
        Some((self.bot_token.as_ref()?, self.owner_id?))
    }
}

/// What the owner is asked, and for how long.
#[derive(Clone, Debug)]
pub struct ApprovalSettings {
    /// Whether the owner approves each post.
    pub posts: bool,
    /// The page on which requests are decided; the id is appended.
    pub link: Option<Url>,
    /// A Discord channel's webhook, for requests and alerts. The address is a secret.
    pub discord: Option<Secret>,
    /// How long a payment waits.
    pub payment_timeout: Duration,
    /// How long a post waits.
    pub post_timeout: Duration,
    /// How long a skill waits.
    pub skill_timeout: Duration,
    /// How long a request to a host waits.
    pub http_timeout: Duration,
    /// How long anything else waits.
    pub custom_timeout: Duration,
    /// How long a yes may be used.
    pub use_within: Duration,
    /// Open requests of everybody.
    pub max_pending: u32,
    /// Open requests of one requester.
    pub max_per_requester: u32,
    /// Requests of one requester within an hour.
    pub max_per_hour: u32,
}

/// What the environment must hold, and where that is said.
#[derive(Clone, Debug)]
pub struct EnvironmentSettings {
    /// Requirements instead of those that ship.
    pub schema: Option<PathBuf>,
    /// A file of variables that count beside those of the process.
    pub file: Option<PathBuf>,
    /// How often they are checked.
    pub every: Duration,
}

/// The status file.
#[derive(Clone, Debug)]
pub struct StatusSettings {
    /// Its folder.
    pub dir: PathBuf,
    /// How often it is written without a change.
    pub every: Duration,
}

pub(super) fn telegram(read: &Reader<'_>) -> Result<TelegramSettings, ConfigError> {
    Ok(TelegramSettings {
        bot_token: bot_token(read)?,
        owner_id: read.optional_number("telegram.owner_id", 1..=i64::MAX.unsigned_abs())?,
        base_url: read.url("telegram.base_url")?,
        timeout: read.millis("telegram.timeout_ms")?,
    })
}

fn bot_token(read: &Reader<'_>) -> Result<Option<Secret>, ConfigError> {
    const KEY: &str = "telegram.bot_token";
    let Some(text) = read.optional(KEY) else {
        return Ok(None);
    };
    let word = |part: &str, also: &[u8]| {
        !part.is_empty()
            && part.bytes().all(|byte| {
                byte.is_ascii_digit()
                    || also.contains(&byte)
                    || !also.is_empty() && byte.is_ascii_alphabetic()
            })
    };
    let fits = text
        .split_once(':')
        .is_some_and(|(bot, rest)| word(bot, b"") && word(rest, b"_-"));
    if !fits || text.len() > 256 {
        let expected = "digits, a colon, and letters, digits, _ or -, as BotFather gives it";
        return Err(read.bad(KEY, expected.into()));
    }
    Ok(Some(Secret::new(text.to_owned())))
}

pub(super) fn approvals(read: &Reader<'_>) -> Result<ApprovalSettings, ConfigError> {
    let time = |key| read.number(key, 1..=LONGEST).map(Duration::from_secs);
    // Only read to refuse what is no address.
    read.optional_url("alerts.discord_webhook_url")?;
    Ok(ApprovalSettings {
        posts: read.truth("approvals.require_post_approval")?,
        link: read.optional_url("approvals.link_url")?,
        discord: read.secret("alerts.discord_webhook_url"),
        payment_timeout: time("approvals.payment_timeout_seconds")?,
        post_timeout: time("approvals.post_timeout_seconds")?,
        skill_timeout: time("approvals.skill_timeout_seconds")?,
        http_timeout: time("approvals.http_timeout_seconds")?,
        custom_timeout: time("approvals.custom_timeout_seconds")?,
        use_within: time("approvals.use_within_seconds")?,
        max_pending: read.number("approvals.max_pending", 1..=500)?,
        max_per_requester: read.number("approvals.max_per_requester", 1..=500)?,
        max_per_hour: read.number("approvals.max_per_hour", 1..=100_000)?,
    })
}

pub(super) fn environment(read: &Reader<'_>) -> Result<EnvironmentSettings, ConfigError> {
    Ok(EnvironmentSettings {
        schema: read.optional("environment.schema_file").map(PathBuf::from),
        file: read.optional("environment.file").map(PathBuf::from),
        every: read
            .number("environment.check_seconds", 1..=86_400)
            .map(Duration::from_secs)?,
    })
}

pub(super) fn status(read: &Reader<'_>, logs: PathBuf) -> Result<StatusSettings, ConfigError> {
    Ok(StatusSettings {
        dir: read.optional("status.dir").map_or(logs, PathBuf::from),
        every: read
            .number("status.write_seconds", 1..=86_400)
            .map(Duration::from_secs)?,
    })
}

#[cfg(test)]
mod tests {
    use crate::{ConfigError, Settings, Values};

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::from_values(&Values::read(None, variables)?)
    }

    #[test]
    fn the_seeds_variables_work_as_they_are() {
        let token = format!("123456:{}", "Ab_-0".repeat(7));
        let read = settings(&[
            ("TELEGRAM_BOT_TOKEN", token.as_str()),
            ("TELEGRAM_OWNER_ID", "77"),
            ("REQUIRE_POST_APPROVAL", "no"),
        ])
        .unwrap();
        let (found, owner) = read.telegram.pair().unwrap();
        assert_eq!((found.reveal(), owner), (token.as_str(), 77));
        assert!(!read.approvals.posts);
        assert!(settings(&[]).unwrap().approvals.posts);
    }

    #[test]
    fn one_half_of_the_pair_asks_nobody_and_starts() {
        let half = settings(&[("TELEGRAM_OWNER_ID", "77")]).unwrap();
        assert!(half.telegram.pair().is_none());
        let empty = settings(&[("TELEGRAM_BOT_TOKEN", " "), ("TELEGRAM_OWNER_ID", "")]).unwrap();
        assert!(empty.telegram.pair().is_none());
    }

    #[test]
    fn a_token_or_an_id_of_another_form_stops_the_start() {
        for bad in ["12", "x:y", "1:a/b", "1:", ":a", "1:a b"] {
            assert!(settings(&[("TELEGRAM_BOT_TOKEN", bad)]).is_err(), "{bad}");
        }
        for bad in ["0", "-5", "me", "9223372036854775808"] {
            assert!(settings(&[("TELEGRAM_OWNER_ID", bad)]).is_err(), "{bad}");
        }
    }
}
