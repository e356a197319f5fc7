//! One session: its windows, its history, and what holds it back.

use crate::abuse::{Action, Conduct, Detection, Event, Watch};
use crate::hold::{Held, HoldKind};
use crate::moment::Moment;
use crate::refused::{Refused, Standing};
use crate::settings::SessionLimits;
use crate::tokens::Tokens;
use crate::window::Window;
use std::sync::Arc;
use std::time::Duration;

/// What is known of a session. Everything outside the windows and the history is a few machine words.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) messages: Window,
    pub(crate) tool_calls: Window,
    pub(crate) tokens: Tokens,
    pub(crate) conduct: Option<Box<Conduct>>,
    hold: Option<Box<Held>>,
    /// The latest moment at which it was asked about; it never goes back.
    seen: Moment,
}

/// What a session asks for.
#[derive(Clone, Copy)]
pub(crate) enum Ask {
    Message,
    ToolCall,
    /// So many tokens, about to be used.
    Tokens(u64),
    /// So many tokens that have been used.
    Spent(u64),
}

impl Session {
    /// Lets time pass: a hold that has ended is gone. Gives the moment that counts for this session.
    pub(crate) fn settle(&mut self, now: Moment) -> Moment {
        self.seen = self.seen.max(now);
        if self.hold.as_ref().is_some_and(|h| h.until <= self.seen) {
            self.hold = None;
        }
        self.seen
    }

    /// What holds it at that moment.
    pub(crate) fn held(&self, now: Moment) -> Option<&Held> {
        let now = now.max(self.seen);
        self.hold.as_deref().filter(|held| held.until > now)
    }

    /// The latest moment at which it was asked about.
    pub(crate) fn seen(&self) -> Moment {
        self.seen
    }

    /// Until when it is held, looked at or not since.
    pub(crate) fn held_until(&self) -> Option<Moment> {
        self.hold.as_ref().map(|held| held.until)
    }

    /// Checks and counts in one step. Only what is admitted counts, and tokens that have been spent.
    pub(crate) fn ask(
        &mut self,
        ask: Ask,
        key: &str,
        limits: &SessionLimits,
        now: Moment,
    ) -> Result<Standing, Refused> {
        if let Ask::Spent(count) = ask {
            self.tokens.charge(count, now);
        }
        if let Some(held) = self.held(now) {
            return Err(held.refusal(now));
        }
        let (limit, answer) = match ask {
            Ask::Message => {
                let limit = limits.messages_per_minute;
                (limit, self.messages.admit(limit, now).map_err(Some))
            }
            Ask::ToolCall => {
                let limit = limits.tool_calls_per_minute;
                (limit, self.tool_calls.admit(limit, now).map_err(Some))
            }
            Ask::Tokens(count) => {
                let limit = limits.tokens_per_hour;
                (limit, self.tokens.admit(count, limit, now))
            }
            // Already counted: what is left to ask is whether it was too much.
            Ask::Spent(_) => {
                let limit = limits.tokens_per_hour;
                (limit, self.tokens.admit(0, limit, now))
            }
        };
        let wait = match answer {
            Ok(used) => {
                let limit = Some(limit);
                return Ok(Standing { used, limit });
            }
            Err(wait) => wait,
        };
        if limit == 0 {
            return Err(over(ask, limit, None));
        }
        let cooldown = Duration::from_millis(limits.cooldown_ms);
        if limits.cooldown_ms > 0 {
            self.hold(Held {
                key: key.into(),
                kind: HoldKind::Cooldown,
                until: now.plus_millis(limits.cooldown_ms),
                reason: limit_name(ask).into(),
            });
        }
        Err(over(ask, limit, wait.map(|wait| wait.max(cooldown))))
    }

    /// Remembers an event and lets the consequences follow. A blocked session's events are not remembered: its block
    /// ends when it was said to end.
    pub(crate) fn observe(
        &mut self,
        event: Event,
        key: &str,
        watch: &Watch,
        exempt: bool,
        now: Moment,
    ) -> Vec<Detection> {
        if self.held(now).is_some_and(|h| h.kind > HoldKind::Cooldown) {
            return Vec::new();
        }
        let conduct = self.conduct.get_or_insert_default();
        let found = conduct.add(event, watch, now);
        let mut detections = Vec::new();
        for (number, count) in found {
            let Some(pattern) = watch.patterns.get(number) else {
                continue;
            };
            let consequence = match pattern.action {
                Action::Warn => None,
                Action::Throttle if exempt => None,
                Action::Throttle => Some((HoldKind::Cooldown, watch.throttle_ms)),
                Action::Block => Some((HoldKind::Block, watch.block_ms)),
            };
            let until = consequence.map(|(kind, millis)| {
                let until = now.plus_millis(millis);
                self.hold(Held {
                    key: key.into(),
                    kind,
                    until,
                    reason: Arc::clone(&pattern.id),
                });
                until
            });
            detections.push(Detection {
                pattern: Arc::clone(&pattern.id),
                description: Arc::clone(&pattern.description),
                severity: pattern.severity,
                action: pattern.action,
                count,
                until,
            });
        }
        detections
    }

    /// Holds it back, beside what holds it already. After a block or termination it starts over with a clean history.
    pub(crate) fn hold(&mut self, held: Held) {
        if held.kind > HoldKind::Cooldown
            && let Some(conduct) = &mut self.conduct
        {
            conduct.forgive();
        }
        let joined = match self.hold.take() {
            Some(standing) => standing.joined(held),
            None => held,
        };
        self.hold = Some(Box::new(joined));
    }

    /// Starts it over; only the numbers of past detections stay.
    pub(crate) fn pardon(&mut self) -> Option<Box<Held>> {
        self.messages.clear();
        self.tool_calls.clear();
        self.tokens.clear();
        if let Some(conduct) = &mut self.conduct {
            conduct.forgive();
        }
        self.hold.take()
    }

    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let conduct = |c: &Conduct| size_of::<Conduct>() + c.heap();
        let hold = |h: &Held| size_of::<Held>() + h.key.len() + h.reason.len();
        self.messages.heap()
            + self.tool_calls.heap()
            + self.tokens.heap()
            + self.conduct.as_deref().map_or(0, conduct)
            + self.hold.as_deref().map_or(0, hold)
    }
}

fn over(ask: Ask, limit: u32, retry_after: Option<Duration>) -> Refused {
    match ask {
        Ask::Message => Refused::Messages { limit, retry_after },
        Ask::ToolCall => Refused::ToolCalls { limit, retry_after },
        Ask::Tokens(_) | Ask::Spent(_) => Refused::Tokens { limit, retry_after },
    }
}

fn limit_name(ask: Ask) -> &'static str {
    match ask {
        Ask::Message => "message_rate",
        Ask::ToolCall => "tool_call_rate",
        Ask::Tokens(_) | Ask::Spent(_) => "token_limit",
    }
}
