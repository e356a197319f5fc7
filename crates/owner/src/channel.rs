//! Which channels reach the owner, and since when one does not.

use crate::Approvals;
use blastshield_store::StoreError;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How a channel fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelState {
    /// Nothing is known yet.
    Starting,
    /// The latest exchange went well.
    Up,
    /// Several exchanges failed.
    Down,
}

impl ChannelState {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// A channel as the status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Its name.
    pub name: &'static str,
    /// How it fares.
    pub state: ChannelState,
    /// Whether requests go out through it; otherwise answers come in.
    pub delivers: bool,
    /// Since when, in milliseconds since the epoch.
    pub since_ms: i64,
    /// Why it is down.
    pub why: Option<String>,
    /// Messages that went out.
    pub delivered: u64,
}

#[derive(Default)]
pub(crate) struct Channels {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    all: BTreeMap<&'static str, ChannelStatus>,
    /// Whether it was said that nobody can be reached.
    told: bool,
}

impl Channels {
    pub(crate) fn register(&self, name: &'static str, delivers: bool, now_ms: i64) {
        let status = ChannelStatus {
            name,
            state: ChannelState::Starting,
            delivers,
            since_ms: now_ms,
            why: None,
            delivered: 0,
        };
        self.with(|table| table.all.insert(name, status));
    }

    /// An exchange went well: whether that is news.
    pub(crate) fn up(&self, name: &'static str, delivered: u64, now_ms: i64) -> bool {
        self.with(|table| {
            let Some(status) = table.all.get_mut(name) else {
                return false;
            };
            status.delivered += delivered;
            if status.state == ChannelState::Up {
                return false;
            }
            let was_down = status.state == ChannelState::Down;
            (status.state, status.since_ms, status.why) = (ChannelState::Up, now_ms, None);
            if status.delivers {
                table.told = false;
            }
            was_down
        })
    }

    /// Exchanges failed: if that is news, whether no other channel that delivers is left.
    pub(crate) fn down(&self, name: &'static str, why: &str, now_ms: i64) -> Option<bool> {
        self.with(|table| {
            let status = table.all.get_mut(name)?;
            if status.state == ChannelState::Down {
                return None;
            }
            (status.state, status.since_ms) = (ChannelState::Down, now_ms);
            status.why = Some(why.to_owned());
            let last = status.delivers && !table.reachable();
            table.told |= last;
            Some(last)
        })
    }

    /// Whether it is to be said now that there is no channel at all.
    pub(crate) fn nobody(&self) -> bool {
        self.with(|table| {
            let silent = !table.reachable() && !table.told;
            table.told |= silent;
            silent
        })
    }

    pub(crate) fn state(&self, name: &'static str) -> Option<ChannelState> {
        self.with(|table| table.all.get(name).map(|status| status.state))
    }

    pub(crate) fn list(&self) -> Vec<ChannelStatus> {
        self.with(|table| table.all.values().cloned().collect())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Approvals {
    /// How the channels fare.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelStatus> {
        self.health().list()
    }

    /// How many alerts wait for a channel; nothing for one that carries none.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn waiting_alerts(&self, channel: &ChannelStatus) -> Result<Option<u64>, StoreError> {
        if !channel.delivers {
            return Ok(None);
        }
        self.store().waiting_alerts(channel.name).await.map(Some)
    }
}

impl Table {
    fn reachable(&self) -> bool {
        self.all
            .values()
            .any(|status| status.delivers && status.state != ChannelState::Down)
    }
}
