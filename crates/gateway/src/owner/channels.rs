//! The channels that the settings name.

use blastshield_config::Settings;
use blastshield_owner::{
    Approvals, DiscordChannel, Pace, Running, TelegramChannel, TelegramSettings, WebhookChannel,
};
use blastshield_upstream::{ConfigError, Discord, Secret, Telegram, TelegramOptions, Webhook};
use std::time::Duration;
use url::Url;

const POST_TIMEOUT: Duration = Duration::from_secs(10);

/// Clients that are ready to start.
pub(super) struct Clients {
    telegram: Option<(Telegram, i64)>,
    discord: Option<Discord>,
    webhook: Option<Webhook>,
    link: Option<Url>,
}

impl Clients {
    pub(super) fn new(settings: &Settings) -> Result<Self, ConfigError> {
        let telegram = match settings.telegram.pair() {
            Some((token, owner)) => {
                let options = TelegramOptions {
                    base: settings.telegram.base_url.as_str().parse()?,
                    token: Secret::new(token.reveal()),
                    timeout: settings.telegram.timeout,
                };
                Some((Telegram::new(options)?, owner))
            }
            None => None,
        };
        let discord = match &settings.approvals.discord {
            Some(address) => {
                let url = Url::parse(address.reveal()).map_err(|_| ConfigError::Unusable {
                    what: "the Discord webhook",
                })?;
                Some(Discord::new(&url, POST_TIMEOUT)?)
            }
            None => None,
        };
        let webhook = match &settings.alerts.webhook {
            Some(url) => {
                let secret = settings.alerts.webhook_secret.as_ref();
                let secret = secret.map(|secret| Secret::new(secret.reveal()));
                Some(Webhook::new(url, secret, POST_TIMEOUT)?)
            }
            None => None,
        };
        Ok(Self {
            telegram,
            discord,
            webhook,
            link: settings.approvals.link.clone(),
        })
    }

    pub(super) fn start(self, approvals: &Approvals) -> Vec<Running> {
        let (link, pace) = (self.link, Pace::default());
        let telegram = self.telegram.map(|(bot, owner)| {
            TelegramChannel::start(approvals, bot, TelegramSettings::new(owner))
        });
        let discord = self
            .discord
            .map(|discord| DiscordChannel::start(approvals, discord, link.clone(), pace));
        let webhook = self
            .webhook
            .map(|webhook| WebhookChannel::start(approvals, webhook, link, pace));
        telegram.into_iter().chain(discord).chain(webhook).collect()
    }
}
