//! The owner's own bot: requests with buttons go out, answers come in by long polling.
//!
//! Only a message that the owner wrote in the private chat with the bot counts, and only as it was first sent: forwarded
//! or edited messages, those written through other bots, older ones and those of other people are ignored and recorded.
//! A second program that polls for the same bot is told in the status; what may be meant for it is left for it.

mod courier;
mod inbox;
mod others;
mod quota;
mod weigh;

use crate::Approvals;
use crate::outbox::Running;
use crate::pace::Pace;
use blastshield_upstream::Telegram;
use inbox::Inbox;
use std::time::Duration;

pub(crate) use courier::outcome;

pub(crate) const NAME: &str = "telegram";
pub(crate) const REPLIES: &str = "telegram_replies";

/// Whom the bot serves, and how it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelegramSettings {
    /// The owner's user id.
    pub owner: i64,
    /// How long one poll waits for answers; the API takes at most 50 seconds.
    pub poll: Duration,
    /// How failures are retried.
    pub pace: Pace,
}

impl TelegramSettings {
    /// For this owner, with the default waits.
    #[must_use]
    pub fn new(owner: i64) -> Self {
        Self {
            owner,
            poll: Duration::from_secs(25),
            pace: Pace::default(),
        }
    }
}

/// The Telegram channel.
#[derive(Debug)]
pub struct TelegramChannel;

impl TelegramChannel {
    /// Starts sending and receiving. One process should receive for a bot; two take turns, slowly, and say so.
    #[must_use]
    pub fn start(approvals: &Approvals, bot: Telegram, settings: TelegramSettings) -> Running {
        let courier = courier::TelegramCourier {
            bot: bot.clone(),
            owner: settings.owner,
        };
        let mut running = Running::start(courier, approvals.clone(), settings.pace);
        approvals
            .health()
            .register(REPLIES, false, approvals.now_ms());
        let inbox = Inbox::new(approvals.clone(), bot, settings, running.words());
        running.tasks.push(tokio::spawn(inbox.run()));
        running
    }
}
