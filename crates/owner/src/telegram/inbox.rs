//! Reads the owner's answers, each once: what was handled is noted before the next are asked for.

use super::courier::{fail, outcome};
use super::others::Others;
use super::quota::Quota;
use super::weigh::{self, SLACK_S};
use super::{NAME, REPLIES, TelegramSettings};
use crate::command::{Command, Text, read_button, read_text};
use crate::error::DecideError;
use crate::outbox::Fail;
use crate::pace::Backoff;
use crate::state::Refusal;
use crate::words::{Word, Words};
use crate::{Approvals, Reply};
use blastshield_audit::{Category, Event, Severity};
use blastshield_store::StoreError;
use blastshield_upstream::{Callback, Incoming, Telegram, TelegramError, Update, UpdateKind};
use serde_json::json;
use std::collections::VecDeque;
use tokio::time::{Instant, sleep, timeout};

/// After a week without updates Telegram may number the next ones anew.
const FRESH_MS: i64 = 6 * 86_400_000;
/// Updates of late that are recognised when they come again.
const REMEMBERED: usize = 512;
/// What is said about a request that is not ours, while another program has the same bot.
const ELSEWHERE: &str = "no request of this gateway; another program receives this bot's messages too, and it is left to it";
const HELP: &str = "Not understood. Reply with: approve <id> or deny <id>";

pub(super) struct Inbox {
    approvals: Approvals,
    bot: Telegram,
    settings: TelegramSettings,
    acks: Words,
    seen: VecDeque<i64>,
    /// Where to read on, and when that was noted.
    cursor: Option<(i64, i64)>,
    not_before_s: i64,
    quota: Quota,
    others: Others,
}

/// Whom an update concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concerns {
    Us,
    /// Perhaps another gateway with the same bot.
    Others,
}

impl Inbox {
    pub(super) fn new(
        approvals: Approvals,
        bot: Telegram,
        settings: TelegramSettings,
        acks: Words,
    ) -> Self {
        Self {
            approvals,
            bot,
            settings,
            acks,
            seen: VecDeque::new(),
            cursor: None,
            not_before_s: 0,
            quota: Quota::default(),
            others: Others::default(),
        }
    }

    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::new(self.settings.pace);
        let mut ready = false;
        loop {
            let round = async {
                if !ready {
                    self.begin().await?;
                    ready = true;
                }
                self.round().await
            };
            let begun = Instant::now();
            match round.await {
                Ok(news) => {
                    backoff.reset();
                    // Two programs on one bot have their good moments too.
                    if !self.others.are_there(self.approvals.now_ms()) {
                        self.approvals.up(REPLIES, 0);
                    }
                    if news == 0 && begun.elapsed() < self.settings.pace.first {
                        // A server that does not wait as it was asked to.
                        sleep(self.settings.pace.first).await;
                    }
                }
                Err(Fail::Later { wait, why, grave }) => {
                    let (pause, too_many) = backoff.fail(wait);
                    if too_many || grave {
                        self.approvals.down(REPLIES, &why);
                    }
                    sleep(pause).await;
                }
                Err(Fail::Never { why }) => {
                    let (pause, _) = backoff.fail(None);
                    self.approvals.down(REPLIES, &why);
                    sleep(pause).await;
                }
            }
        }
    }

    /// Takes up where an earlier run stopped. On the very first run, what was said before does not count.
    async fn begin(&mut self) -> Result<(), StoreError> {
        self.cursor = self.approvals.store().cursor(NAME).await?;
        if self.cursor.is_none() {
            self.not_before_s = self.approvals.now_ms() / 1000 - SLACK_S;
        }
        Ok(())
    }

    /// One poll: how many updates were new.
    async fn round(&mut self) -> Result<usize, Fail> {
        let now_ms = self.approvals.now_ms();
        let from = self.others.from(self.position(), now_ms);
        let polled = self.bot.updates(from, self.settings.poll).await;
        if polled == Err(TelegramError::Conflict) {
            self.others.meet(self.approvals.now_ms());
        }
        let mut updates = polled.map_err(fail)?;
        updates.sort_by_key(|update| update.id);
        // Another process on the same store may have handled them meanwhile.
        let noted = self.approvals.store().cursor(NAME).await?;
        self.cursor = noted.max(self.cursor);
        let offset = self.position();
        let mut next = None;
        let mut news = 0;
        for update in &updates {
            let old = offset.is_some_and(|offset| update.id < offset);
            if !old && !self.seen.contains(&update.id) {
                if self.handle(update).await? == Concerns::Others {
                    self.others.leave(update.id, self.approvals.now_ms());
                }
                self.remember(update.id);
                news += 1;
            }
            next = Some(update.id.saturating_add(1)).max(next);
        }
        let ahead = |next: &i64| offset.is_none_or(|offset| *next > offset);
        if let Some(next) = next.filter(ahead) {
            let at_ms = self.approvals.now_ms();
            self.approvals.store().set_cursor(NAME, next, at_ms).await?;
            self.cursor = Some((next, at_ms));
        }
        Ok(news)
    }

    /// Up to where everything was handled, unless that was so long ago that it means nothing.
    fn position(&self) -> Option<i64> {
        let now_ms = self.approvals.now_ms();
        let fresh = |(_, at_ms): &(i64, i64)| now_ms.saturating_sub(*at_ms) < FRESH_MS;
        self.cursor.filter(fresh).map(|(position, _)| position)
    }

    fn remember(&mut self, id: i64) {
        if self.seen.len() >= REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back(id);
    }

    /// # Errors
    /// Only when the store fails: then the same update is handled again.
    async fn handle(&mut self, update: &Update) -> Result<Concerns, StoreError> {
        match &update.kind {
            UpdateKind::Message(message) => self.message(message).await,
            UpdateKind::Edited(_) => {
                self.ignore("edited");
                Ok(Concerns::Us)
            }
            UpdateKind::Callback(callback) => self.callback(callback).await,
            UpdateKind::Other => Ok(Concerns::Us),
        }
    }

    async fn message(&mut self, message: &Incoming) -> Result<Concerns, StoreError> {
        let text = match weigh::message(message, self.settings.owner, self.not_before_s) {
            Ok(text) => text,
            Err(why) => {
                self.ignore(why);
                return Ok(Concerns::Us);
            }
        };
        let command = match read_text(text) {
            Text::Command(command) => command,
            Text::Lockdown(on) => {
                let said = self.lockdown(on, message.date).await?;
                self.acknowledge(said.to_owned());
                return Ok(Concerns::Others);
            }
            Text::Malformed => {
                self.acknowledge(HELP.to_owned());
                return Ok(Concerns::Us);
            }
            Text::Other => return Ok(Concerns::Us),
        };
        if let Some(request) = self.approvals.get(command.id.as_str()).await?
            && weigh::is_stale(message.date, request.created_ms)
        {
            self.ignore("older than the request");
            return Ok(Concerns::Us);
        }
        let (said, concerns) = self.obey(&command).await?;
        self.acknowledge(said);
        Ok(concerns)
    }

    /// Throws the kill switch: what to say about it. Whoever watches the switch records it, and acts on it. Words that are
    /// older than a lockdown do not lift it.
    async fn lockdown(&self, on: bool, date_s: i64) -> Result<&'static str, StoreError> {
        let store = self.approvals.store();
        if let Some(last) = store.lockdown().await?
            && !on
            && last.on
            && weigh::is_stale(date_s, last.at_ms)
        {
            return Ok("Lockdown stays on: your message is older than it");
        }
        store
            .set_lockdown(on, NAME, self.approvals.now_ms())
            .await?;
        Ok(if on {
            "Lockdown is on: every way out is closed. To open them again: lockdown off"
        } else {
            "Lockdown is off"
        })
    }

    async fn callback(&mut self, callback: &Callback) -> Result<Concerns, StoreError> {
        let command = match weigh::callback(callback, self.settings.owner) {
            Ok(data) => read_button(data).ok_or("a button that is not ours"),
            Err(why) => Err(why),
        };
        let command = match command {
            Ok(command) => command,
            Err(why) => {
                self.ignore(why);
                return Ok(Concerns::Us);
            }
        };
        // A message whose sending was never confirmed shows itself here; it too is to be brought up to date.
        if let Some(message_id) = callback.message_id
            && self.approvals.get(command.id.as_str()).await?.is_some()
        {
            self.approvals
                .store()
                .add_notice(NAME, command.id.as_str(), message_id)
                .await?;
        }
        let (said, concerns) = self.obey(&command).await?;
        // Only a courtesy: the message itself is brought up to date as well.
        let answer = self.bot.answer(&callback.id, &said);
        if !matches!(
            timeout(std::time::Duration::from_secs(5), answer).await,
            Ok(Ok(()))
        ) {
            tracing::debug!(target: "upstream", dependency = "telegram", "a pressed button was not answered");
        }
        Ok(concerns)
    }

    /// Does what the owner says: what to say about it.
    async fn obey(&self, command: &Command) -> Result<(String, Concerns), StoreError> {
        let reply = Reply {
            verdict: command.verdict,
            shown: command.shown.as_deref(),
            confirm: command.confirm.as_deref(),
        };
        let id = &command.id;
        match self.approvals.decide(id.as_str(), &reply, NAME).await {
            Ok(request) => Ok((format!("{id}: {}", outcome(&request)), Concerns::Us)),
            Err(DecideError::Store(error)) => Err(error),
            Err(DecideError::Refused(Refusal::Unknown))
                if self.others.are_there(self.approvals.now_ms()) =>
            {
                Ok((format!("{id}: {ELSEWHERE}"), Concerns::Others))
            }
            Err(error) => Ok((format!("{id}: {error}"), Concerns::Us)),
        }
    }

    fn acknowledge(&self, text: String) {
        // Only a courtesy, which a full queue may cost.
        let _ = self.acks.push(Word::Text(text));
    }

    /// Records what does not count; in a flood, how much of it there was.
    fn ignore(&mut self, why: &'static str) {
        let now_ms = self.approvals.now_ms();
        let (record, missed) = self.quota.take(now_ms);
        if missed > 0 {
            let details = json!({"channel": NAME, "count": missed});
            let _ = self.approvals.note(&Event::Note {
                severity: Severity::Warn,
                category: Category::Approval,
                name: "messages_ignored",
                message: "Further messages to the bot were ignored",
                details: details.as_object().cloned().unwrap_or_default(),
            });
        }
        if record {
            let _ = self.approvals.note(&Event::ApprovalRefused {
                id: "",
                channel: NAME,
                why,
            });
        }
    }
}
