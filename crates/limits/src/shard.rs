//! A part of the table of sessions: bounded, and forgetful only of those that are not held.
//!
//! A session stands in exactly one of two orders: the free ones by when they were last seen, the held ones by when they
//! become free. Room for a new one is made by the longest unused free session. If every one is held, nobody new comes in:
//! otherwise whoever can make up keys could wash away his own block.

use crate::hold::Held;
use crate::key::{AsIs, Id};
use crate::moment::Moment;
use crate::session::Session;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

pub(crate) struct Shard {
    /// Boxed, because a table keeps more places than it fills.
    sessions: HashMap<Id, Box<Session>, AsIs>,
    free: BTreeSet<(Moment, Id)>,
    held: BTreeSet<(Moment, Id)>,
    capacity: usize,
}

/// Where a session stands in the two orders.
#[derive(PartialEq, Eq)]
enum Place {
    Free(Moment),
    Held(Moment),
}

impl Shard {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            sessions: HashMap::with_hasher(AsIs::default()),
            free: BTreeSet::new(),
            held: BTreeSet::new(),
            capacity,
        }
    }

    /// The session, if it is known.
    pub(crate) fn get(&self, id: Id) -> Option<&Session> {
        self.sessions.get(&id).map(|session| &**session)
    }

    /// Works on a session, known or new. An error says how long until there is room for a new one.
    pub(crate) fn with<T>(
        &mut self,
        id: Id,
        now: Moment,
        work: impl FnOnce(&mut Session, Moment) -> T,
    ) -> Result<T, Duration> {
        if !self.sessions.contains_key(&id) {
            self.make_room(now)?;
        }
        Ok(self.change(id, now, work))
    }

    /// Holds a session back whatever it costs: if every session is held, the one that would be free first is forgotten.
    pub(crate) fn hold(&mut self, id: Id, held: Held, now: Moment) {
        if !self.sessions.contains_key(&id)
            && self.make_room(now).is_err()
            && let Some((_, first)) = self.held.pop_first()
        {
            self.sessions.remove(&first);
        }
        self.change(id, now, |session, _| session.hold(held));
    }

    /// Works on a session that is known.
    pub(crate) fn with_known<T>(
        &mut self,
        id: Id,
        now: Moment,
        work: impl FnOnce(&mut Session, Moment) -> T,
    ) -> Option<T> {
        let known = self.sessions.contains_key(&id);
        known.then(|| self.change(id, now, work))
    }

    /// Every session that is held at that moment.
    pub(crate) fn holds(&self, now: Moment) -> impl Iterator<Item = &Held> {
        let standing = self.held.iter();
        standing.filter_map(move |(_, id)| self.sessions.get(id)?.held(now))
    }

    pub(crate) fn len(&self) -> usize {
        self.sessions.len()
    }

    /// About so many bytes.
    pub(crate) fn footprint(&self) -> usize {
        let order = size_of::<(Moment, Id)>() * 2;
        let slots = self.sessions.capacity() * (size_of::<(Id, Box<Session>)>() + 1);
        let own = size_of::<Session>() + order;
        let heap = self.sessions.values().map(|session| session.heap() + own);
        slots + heap.sum::<usize>()
    }

    fn change<T>(
        &mut self,
        id: Id,
        now: Moment,
        work: impl FnOnce(&mut Session, Moment) -> T,
    ) -> T {
        let mut stood = None;
        let session = self
            .sessions
            .entry(id)
            .and_modify(|session| stood = Some(place(session)))
            .or_default();
        let now = session.settle(now);
        let answer = work(session, now);
        let stands = place(session);
        if stood.as_ref() != Some(&stands) {
            if let Some(stood) = stood {
                self.take(&stood, id);
            }
            match stands {
                Place::Free(seen) => self.free.insert((seen, id)),
                Place::Held(until) => self.held.insert((until, id)),
            };
        }
        answer
    }

    fn take(&mut self, place: &Place, id: Id) {
        match place {
            Place::Free(seen) => self.free.remove(&(*seen, id)),
            Place::Held(until) => self.held.remove(&(*until, id)),
        };
    }

    fn make_room(&mut self, now: Moment) -> Result<(), Duration> {
        if self.sessions.len() < self.capacity {
            return Ok(());
        }
        while let Some((until, id)) = self.held.first().copied()
            && until <= now
        {
            self.held.remove(&(until, id));
            if let Some(session) = self.sessions.get_mut(&id) {
                // Its last use counts, not the moment at which its hold was found to be over.
                let seen = session.seen().max(until);
                session.settle(seen);
                self.free.insert((seen, id));
            }
        }
        if let Some((_, id)) = self.free.pop_first() {
            self.sessions.remove(&id);
            return Ok(());
        }
        let first = self.held.first().map_or(now, |(until, _)| *until);
        Err(first.since(now))
    }
}

fn place(session: &Session) -> Place {
    match session.held_until() {
        Some(until) => Place::Held(until),
        None => Place::Free(session.seen()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::HoldKind;
    use crate::key::Keyed;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Touch,
        Hold(u64),
        Terminate(u64),
    }

    /// When a session was last seen, and until when it is held.
    type Book = BTreeMap<Id, (Moment, Option<Moment>)>;

    fn make_room(book: &mut Book, capacity: usize, now: Moment) -> Result<(), Duration> {
        if book.len() < capacity {
            return Ok(());
        }
        let free = book.iter().filter_map(|(id, (seen, hold))| match hold {
            Some(until) if *until > now => None,
            Some(until) => Some((*until.max(seen), *id)),
            None => Some((*seen, *id)),
        });
        if let Some((_, id)) = free.min() {
            book.remove(&id);
            return Ok(());
        }
        let first = book.values().filter_map(|(_, hold)| *hold).min();
        Err(first.unwrap().since(now))
    }

    fn held(until: Moment) -> Held {
        Held {
            key: "key".into(),
            kind: HoldKind::Cooldown,
            until,
            reason: "reason".into(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn who_is_forgotten_and_who_is_refused_is_the_books(
            capacity in 1_usize..6,
            script in prop::collection::vec((
                0_u8..12,
                prop_oneof![
                    4 => Just(Op::Touch),
                    2 => (1_u64..400).prop_map(Op::Hold),
                    1 => (1_u64..400).prop_map(Op::Terminate),
                ],
                0_u64..60,
            ), 1..150),
        ) {
            let keyed = Keyed::new(&[5; 16]);
            let mut shard = Shard::new(capacity);
            let mut book = Book::new();
            let mut now = Moment::from_millis(1_000);
            for (who, op, step) in script {
                now = now.plus_millis(step);
                let id = keyed.id(&who.to_string()).unwrap();
                let mut room = if book.contains_key(&id) {
                    Ok(())
                } else {
                    make_room(&mut book, capacity, now)
                };
                let until = match op {
                    Op::Touch => None,
                    Op::Hold(millis) | Op::Terminate(millis) => Some(now.plus_millis(millis)),
                };
                if let Op::Terminate(millis) = op {
                    if room.is_err() {
                        let holds = book.iter().map(|(id, (_, hold))| (hold.unwrap(), *id));
                        let (_, first) = holds.min().unwrap();
                        book.remove(&first);
                        room = Ok(());
                    }
                    shard.hold(id, held(now.plus_millis(millis)), now);
                } else {
                    let answer = shard.with(id, now, |session, _| {
                        if let Some(until) = until {
                            session.hold(held(until));
                        }
                    });
                    prop_assert_eq!(answer, room);
                }
                if room.is_ok() {
                    let entry = book.entry(id).or_default();
                    let standing = entry.1.filter(|until| *until > now);
                    *entry = (now, standing.max(until));
                }
                prop_assert_eq!(shard.len(), book.len());
                prop_assert!(shard.len() <= capacity);
                prop_assert_eq!(shard.free.len() + shard.held.len(), shard.len());
                for (id, (_, hold)) in &book {
                    let session = shard.get(*id).expect("remembered");
                    let stands = hold.filter(|until| *until > now);
                    prop_assert_eq!(session.held(now).map(|held| held.until), stands);
                }
            }
        }
    }
}
