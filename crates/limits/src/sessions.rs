//! All sessions: shared by the threads of a server, bounded in memory, one step to check and count.

use crate::abuse::{Detection, Sighting, Watch};
use crate::hold::{Held, Hold, HoldKind, bounded};
use crate::key::{Id, Keyed};
use crate::moment::Moment;
use crate::refused::{Refused, Standing};
use crate::session::Ask;
use crate::settings::{SHARDS, SessionLimits, Settings, SettingsError};
use crate::shard::Shard;
use crate::status::SessionStatus;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The quotas, conduct and holds of every session.
///
/// Each call takes one lock for well under a microsecond and never waits for anything else. Under any number of threads
/// no window ever admits more than its limit.
pub struct Sessions {
    shards: Vec<Mutex<Shard>>,
    keyed: Keyed,
    limits: SessionLimits,
    exempt: HashSet<Id>,
    watch: Watch,
    termination_ms: u64,
}

/// What became of the holds that were restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// So many hold again.
    pub held: usize,
    /// So many had ended meanwhile.
    pub ended: usize,
    /// So many could not be taken: there was no room for them, or the key is not valid.
    pub left_out: usize,
}

impl Sessions {
    /// Without any session. The secret must be random for each process: with it, nobody can choose keys that collide.
    pub fn new(settings: Settings, secret: [u8; 16]) -> Result<Self, SettingsError> {
        settings.check()?;
        let keyed = Keyed::new(&secret);
        let capacity = settings.max_sessions.div_ceil(SHARDS);
        let exempt = settings.limits.exempt_sessions.iter().enumerate();
        let exempt = exempt.map(|(index, key)| {
            let place = index + 1;
            keyed.id(key).map_err(|_| SettingsError::Exempt { place })
        });
        Ok(Self {
            exempt: exempt.collect::<Result<_, _>>()?,
            shards: (0..SHARDS)
                .map(|_| Mutex::new(Shard::new(capacity)))
                .collect(),
            watch: Watch::new(&settings.abuse)?,
            limits: settings.limits,
            termination_ms: settings.termination_ms,
            keyed,
        })
    }

    /// Checks and counts one message.
    pub fn message(&self, key: &str, now: Moment) -> Result<Standing, Refused> {
        self.ask(Ask::Message, key, now)
    }

    /// Checks and counts one tool call. Report it to [`Sessions::observe`] as well: that is what patterns look at.
    pub fn tool_call(&self, key: &str, now: Moment) -> Result<Standing, Refused> {
        self.ask(Ask::ToolCall, key, now)
    }

    /// Checks and counts tokens that are about to be used: all of them or none.
    pub fn tokens(&self, key: &str, count: u64, now: Moment) -> Result<Standing, Refused> {
        self.ask(Ask::Tokens(count), key, now)
    }

    /// Counts tokens that have been used, in any case, and then says whether it was too much.
    pub fn tokens_spent(&self, key: &str, count: u64, now: Moment) -> Result<Standing, Refused> {
        self.ask(Ask::Spent(count), key, now)
    }

    /// Remembers what a session did and gives the patterns that it completes. The consequences are in force on return.
    ///
    /// An error means that it could not be remembered: treat the session as refused.
    pub fn observe(
        &self,
        key: &str,
        seen: &Sighting<'_>,
        now: Moment,
    ) -> Result<Vec<Detection>, Refused> {
        let id = self.keyed.id(key)?;
        if !self.watch.enabled {
            return Ok(Vec::new());
        }
        let event = self.watch.event(seen, &self.keyed);
        let exempt = self.exempt.contains(&id);
        self.shard(id)?
            .with(id, now, |session, now| {
                session.observe(event, key, &self.watch, exempt, now)
            })
            .map_err(|retry_after| Refused::Full { retry_after })
    }

    /// Whether anything holds the session; counts nothing.
    pub fn check(&self, key: &str, now: Moment) -> Result<(), Refused> {
        let id = self.keyed.id(key)?;
        self.check_id(id, now)
    }

    /// Ends a session: its key is refused for the time that the settings give, or until a pardon. The reason is shown to the
    /// caller; it must not repeat what leaked.
    pub fn terminate(&self, key: &str, reason: &str, now: Moment) -> Result<Hold, Refused> {
        let id = self.keyed.id(key)?;
        let held = Held {
            key: key.into(),
            kind: HoldKind::Terminated,
            until: now.plus_millis(self.termination_ms),
            reason: bounded(reason),
        };
        let hold = Hold::from(&held);
        self.shard(id)?.hold(id, held, now);
        Ok(hold)
    }

    /// Lifts whatever holds a session, and lets it start over with empty windows and a clean history.
    pub fn pardon(&self, key: &str, now: Moment) -> Result<Option<Hold>, Refused> {
        let id = self.keyed.id(key)?;
        let mut shard = self.shard(id)?;
        let lifted = shard.with_known(id, now, |session, _| session.pardon());
        Ok(lifted.flatten().map(|held| Hold::from(&*held)))
    }

    /// Where a session stands; counts nothing and remembers nothing.
    pub fn status(&self, key: &str, now: Moment) -> Result<SessionStatus, Refused> {
        let id = self.keyed.id(key)?;
        let limits = (self.limits.enabled && !self.exempt.contains(&id)).then_some(&self.limits);
        let exempt = self.exempt.contains(&id);
        let shard = self.shard(id)?;
        Ok(SessionStatus::of(
            shard.get(id),
            limits,
            exempt,
            &self.watch,
            now,
        ))
    }

    /// Every hold in force, by key: for the owner's list, and to be stored so that it survives a restart.
    #[must_use]
    pub fn holds(&self, now: Moment) -> Vec<Hold> {
        let mut holds = Vec::new();
        for shard in &self.shards {
            let shard = lock(shard);
            holds.extend(shard.holds(now).map(Hold::from));
        }
        holds.sort_by(|one, other| one.key.cmp(&other.key));
        holds
    }

    /// Puts stored holds in force again, the strongest and longest first.
    pub fn restore(&self, mut holds: Vec<Hold>, now: Moment) -> Restored {
        holds.sort_by_key(|hold| std::cmp::Reverse((hold.kind, hold.until)));
        let mut restored = Restored::default();
        for hold in holds {
            if hold.until <= now {
                restored.ended += 1;
            } else if self.restore_one(&hold, now).is_ok() {
                restored.held += 1;
            } else {
                restored.left_out += 1;
            }
        }
        restored
    }

    /// How many sessions are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Whether no session is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes the sessions take. Visits every session.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let shards = self.shards.iter();
        shards.map(|shard| lock(shard).footprint()).sum()
    }

    fn ask(&self, ask: Ask, key: &str, now: Moment) -> Result<Standing, Refused> {
        let id = self.keyed.id(key)?;
        if !self.limits.enabled || self.exempt.contains(&id) {
            return self.check_id(id, now).map(|()| Standing::FREE);
        }
        self.shard(id)?
            .with(id, now, |session, now| {
                session.ask(ask, key, &self.limits, now)
            })
            .map_err(|retry_after| Refused::Full { retry_after })?
    }

    fn check_id(&self, id: Id, now: Moment) -> Result<(), Refused> {
        let shard = self.shard(id)?;
        let Some(session) = shard.get(id) else {
            return Ok(());
        };
        let waived = |held: &Held| held.kind == HoldKind::Cooldown && self.exempt.contains(&id);
        match session.held(now) {
            Some(held) if !waived(held) => Err(held.refusal(now.max(session.seen()))),
            _ => Ok(()),
        }
    }

    fn restore_one(&self, hold: &Hold, now: Moment) -> Result<(), Refused> {
        let id = self.keyed.id(&hold.key)?;
        let held = Held {
            key: hold.key.as_str().into(),
            kind: hold.kind,
            until: hold.until,
            reason: bounded(&hold.reason),
        };
        self.shard(id)?
            .with(id, now, |session, _| session.hold(held))
            .map_err(|retry_after| Refused::Full { retry_after })
    }

    fn shard(&self, id: Id) -> Result<MutexGuard<'_, Shard>, Refused> {
        let shard = self.shards.get(id.shard(SHARDS)).map(lock);
        shard.ok_or(Refused::Key)
    }
}

/// Nothing panics under the lock; if something did, the table is still whole enough to refuse.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}
