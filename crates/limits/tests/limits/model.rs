//! The quotas against a model that remembers everything and counts anew each time.

use crate::limited;
use blastshield_limits::{Moment, Refused, SessionLimits};
use proptest::prelude::*;
use std::time::Duration;

const MINUTE: u64 = 60_000;

#[derive(Clone, Copy, Debug)]
enum Op {
    Message,
    ToolCall,
    Tokens(u64),
    Spent(u64),
}

/// One session as a person would keep its books.
#[derive(Default)]
struct Model {
    latest: u64,
    free_from: u64,
    messages: Vec<u64>,
    tool_calls: Vec<u64>,
    tokens: Vec<(u64, u64)>,
}

impl Model {
    fn recent(times: &[u64], now: u64) -> Vec<u64> {
        let times = times.iter().copied();
        times.filter(|time| now - time < MINUTE).collect()
    }

    /// Tokens whose minute is not more than sixty minutes ago.
    fn tokens(&self, now: u64) -> u64 {
        let counts = |time: u64| now / MINUTE - time / MINUTE <= 60;
        let tokens = self.tokens.iter().filter(|(time, _)| counts(*time));
        tokens.map(|(_, count)| count).sum()
    }

    /// The time until so many more tokens fit, found by trying every minute.
    fn tokens_fit(&self, count: u64, limit: u64, now: u64) -> Option<u64> {
        let minutes = (1..=62).map(|minute| (now / MINUTE + minute) * MINUTE);
        let mut fits = minutes.filter(|time| self.tokens(*time) + count <= limit);
        fits.next()
            .filter(|_| count <= limit)
            .map(|time| time - now)
    }

    fn ask(&mut self, op: Op, limits: &SessionLimits, now: u64) -> Result<u32, Refused> {
        self.latest = self.latest.max(now);
        let now = self.latest;
        if let Op::Spent(count) = op {
            self.tokens.push((now, count));
        }
        if self.free_from > now {
            let remaining = Duration::from_millis(self.free_from - now);
            return Err(Refused::Cooldown { remaining });
        }
        let (limit, wait) = match op {
            Op::Message | Op::ToolCall => {
                let (times, limit) = match op {
                    Op::Message => (&mut self.messages, limits.messages_per_minute),
                    _ => (&mut self.tool_calls, limits.tool_calls_per_minute),
                };
                let recent = Self::recent(times, now);
                if recent.len() < limit as usize {
                    times.push(now);
                    return Ok(recent.len() as u32 + 1);
                }
                (limit, recent.first().map(|first| first + MINUTE - now))
            }
            Op::Tokens(count) => {
                let limit = limits.tokens_per_hour;
                let used = self.tokens(now);
                if used + count <= u64::from(limit) {
                    self.tokens.push((now, count));
                    return Ok((used + count) as u32);
                }
                (limit, self.tokens_fit(count, u64::from(limit), now))
            }
            Op::Spent(_) => {
                let limit = limits.tokens_per_hour;
                let used = self.tokens(now);
                if used <= u64::from(limit) {
                    return Ok(used as u32);
                }
                (limit, self.tokens_fit(0, u64::from(limit), now))
            }
        };
        if limit > 0 {
            self.free_from = now + limits.cooldown_ms;
        }
        let retry_after = wait
            .filter(|_| limit > 0)
            .map(|wait| Duration::from_millis(wait.max(limits.cooldown_ms)));
        Err(match op {
            Op::Message => Refused::Messages { limit, retry_after },
            Op::ToolCall => Refused::ToolCalls { limit, retry_after },
            Op::Tokens(_) | Op::Spent(_) => Refused::Tokens { limit, retry_after },
        })
    }
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Message),
        4 => Just(Op::ToolCall),
        4 => (0_u64..12).prop_map(Op::Tokens),
        1 => (0_u64..12).prop_map(Op::Spent),
    ]
}

/// How the clock moves before a step: mostly on, sometimes far, sometimes back.
fn steps() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0_i64),
        8 => 0_i64..20_000,
        4 => 55_000_i64..65_000,
        2 => 3_500_000_i64..3_800_000,
        1 => Just(1_i64 << 32),
        2 => -90_000_i64..0,
        1 => -8_000_000_i64..0,
    ]
}

fn limits() -> impl Strategy<Value = SessionLimits> {
    let cooldown = prop_oneof![
        Just(0_u64),
        Just(1),
        1_000_u64..5_000,
        Just(60_000),
        Just(180_000)
    ];
    (0_u32..7, 0_u32..7, 0_u32..40, cooldown).prop_map(|(messages, tools, tokens, cooldown_ms)| {
        SessionLimits {
            messages_per_minute: messages,
            tool_calls_per_minute: tools,
            tokens_per_hour: tokens,
            cooldown_ms,
            ..SessionLimits::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_answer_is_the_models(
        limits in limits(),
        script in prop::collection::vec((0_usize..3, ops(), steps()), 1..120),
    ) {
        let sessions = limited(limits.clone());
        let mut models = [(); 3].map(|()| Model::default());
        let mut now = 1_700_000_000_000_u64;
        for (who, op, step) in script {
            now = now.saturating_add_signed(step);
            let key = ["one", "two", "three"][who];
            let moment = Moment::from_millis(now);
            let expected = models[who].ask(op, &limits, now);
            let answer = match op {
                Op::Message => sessions.message(key, moment),
                Op::ToolCall => sessions.tool_call(key, moment),
                Op::Tokens(count) => sessions.tokens(key, count, moment),
                Op::Spent(count) => sessions.tokens_spent(key, count, moment),
            };
            prop_assert_eq!(answer.map(|standing| standing.used), expected);

            let model = &models[who];
            let status = sessions.status(key, moment).unwrap();
            prop_assert_eq!(
                status.messages.used as usize,
                Model::recent(&model.messages, model.latest).len()
            );
            prop_assert_eq!(u64::from(status.tokens.used), model.tokens(model.latest));
            prop_assert_eq!(status.hold.is_some(), model.free_from > model.latest);
        }
    }

    #[test]
    fn no_hour_ever_holds_more_tokens_than_the_limit(
        limit in 0_u32..60,
        script in prop::collection::vec((0_u64..20, 0_u64..400_000), 1..150),
    ) {
        let sessions = limited(SessionLimits {
            tokens_per_hour: limit,
            cooldown_ms: 0,
            ..SessionLimits::default()
        });
        let mut now = 1_700_000_000_000;
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        for (count, step) in script {
            now += step;
            if sessions.tokens("one", count, Moment::from_millis(now)).is_ok() {
                admitted.push((now, count));
            }
            let hour = admitted.iter().filter(|(time, _)| now - time < 60 * MINUTE);
            prop_assert!(hour.map(|(_, count)| count).sum::<u64>() <= u64::from(limit));
        }
    }

    #[test]
    fn any_moment_in_any_order_is_taken(
        script in prop::collection::vec((ops(), any::<u64>()), 1..60),
    ) {
        let sessions = limited(SessionLimits::default());
        for (op, millis) in script {
            let now = Moment::from_millis(millis);
            let _ = match op {
                Op::Message => sessions.message("one", now),
                Op::ToolCall => sessions.tool_call("one", now),
                Op::Tokens(count) => sessions.tokens("one", count << 40, now),
                Op::Spent(count) => sessions.tokens_spent("one", count << 40, now),
            };
            let _ = sessions.status("one", now);
        }
    }
}
