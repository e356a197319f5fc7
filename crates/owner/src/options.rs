//! How long the owner has, and how much may wait at once.

use crate::Action;
use std::time::Duration;

/// How long the owner has, by action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a payment; an invoice does not live long.
    pub payment: Duration,
    /// For a post.
    pub post: Duration,
    /// For a skill.
    pub skill_install: Duration,
    /// For a request to a host; somebody waits for it.
    pub http: Duration,
    /// For anything else.
    pub custom: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        Self {
            payment: minutes(10),
            post: minutes(60),
            skill_install: minutes(60),
            http: minutes(5),
            custom: minutes(15),
        }
    }
}

impl Timeouts {
    pub(crate) fn of(&self, action: Action) -> Duration {
        match action {
            Action::Payment => self.payment,
            Action::Post => self.post,
            Action::SkillInstall => self.skill_install,
            Action::Http => self.http,
            Action::Custom => self.custom,
        }
    }
}

/// Bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long the owner has.
    pub timeouts: Timeouts,
    /// Open requests of everybody.
    pub max_pending: u32,
    /// Open requests of one requester.
    pub max_per_requester: u32,
    /// Requests that one requester may make within an hour: asking again and again wears a person down.
    pub max_per_hour: u32,
    /// Callers that wait for an answer at the same time.
    pub max_waiting: usize,
    /// How often a waiting caller looks for decisions of other processes.
    pub look_every: Duration,
    /// How long a yes may be used.
    pub use_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            max_pending: 100,
            max_per_requester: 10,
            max_per_hour: u32::MAX,
            max_waiting: 256,
            look_every: Duration::from_secs(2),
            use_within: Duration::from_secs(3600),
        }
    }
}
