//! What is remembered of a session's conduct, and whether it adds up to a pattern.

use super::pattern::EventKind;
use super::watch::{Compiled, Event, Watch};
use crate::moment::Moment;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many events of each kind are remembered.
pub const HISTORY: usize = 32;

/// An event as it is remembered, for the owner's eyes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PastEvent {
    /// When it happened.
    pub at: Moment,
    /// What it was.
    pub kind: EventKind,
    /// A keyed hash of the content; comparable only within this process.
    pub fingerprint: u64,
    /// The content's length in bytes.
    pub length: u32,
    /// The detector's score.
    pub score: f32,
    /// The patterns that it counts for.
    pub counts_for: Vec<Arc<str>>,
}

/// The history of one session.
#[derive(Default)]
pub(crate) struct Conduct {
    kinds: [Ring; EventKind::COUNT],
    /// For each rule: events before this number have been counted in a detection and count no more.
    settled: Vec<u64>,
    /// For each pattern: how often it was seen.
    seen: Vec<u32>,
}

/// The last events of one kind.
#[derive(Default)]
struct Ring {
    records: VecDeque<(Moment, Event)>,
    pushed: u64,
}

impl Conduct {
    /// Remembers an event and gives the patterns that it completes, each with the number of events that count.
    ///
    /// An event makes up a pattern once: the same three attempts are not reported again with every further message.
    pub(crate) fn add(&mut self, event: Event, watch: &Watch, now: Moment) -> Vec<(usize, u32)> {
        self.settled.resize(watch.rules.len(), 0);
        self.seen.resize(watch.patterns.len(), 0);
        let Some(ring) = self.kinds.get_mut(event.kind.place()) else {
            return Vec::new();
        };
        ring.push(event, now);
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (number, rule) in watch.rules.iter().enumerate() {
            let from = self.settled.get(number).copied().unwrap_or(0);
            let counting = ring.counting(number, rule, from, now);
            if event.counts_for & (1 << number) != 0
                && counting >= rule.count
                && !found.iter().any(|(pattern, _)| *pattern == rule.pattern)
            {
                found.push((rule.pattern, u32::try_from(counting).unwrap_or(u32::MAX)));
            }
        }
        for (pattern, _) in &found {
            if let Some(times) = self.seen.get_mut(*pattern) {
                *times = times.saturating_add(1);
            }
            let rules = watch.rules.iter().zip(&mut self.settled);
            for (rule, settled) in rules.filter(|(rule, _)| rule.pattern == *pattern) {
                *settled = self.kinds.get(rule.of.place()).map_or(0, |r| r.pushed);
            }
        }
        found
    }

    /// Forgets the events and keeps how often each pattern was seen.
    pub(crate) fn forgive(&mut self) {
        self.kinds = Default::default();
        self.settled.clear();
    }

    /// How often each pattern was seen that was seen at all.
    pub(crate) fn detections(&self, watch: &Watch) -> Vec<(Arc<str>, u32)> {
        let known = watch.patterns.iter().map(|pattern| Arc::clone(&pattern.id));
        let times = self.seen.iter().copied();
        known.zip(times).filter(|(_, times)| *times > 0).collect()
    }

    /// The remembered events, oldest first.
    pub(crate) fn events(&self, watch: &Watch) -> Vec<PastEvent> {
        let records = self.kinds.iter().flat_map(|ring| &ring.records);
        let mut events: Vec<PastEvent> = records
            .map(|(at, event)| PastEvent {
                at: *at,
                kind: event.kind,
                fingerprint: event.fingerprint,
                length: event.length,
                score: event.score,
                counts_for: names(event, watch),
            })
            .collect();
        events.sort_by_key(|event| event.at);
        events
    }

    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let records = self.kinds.iter().map(|ring| ring.records.capacity());
        records.sum::<usize>() * size_of::<(Moment, Event)>()
            + self.settled.capacity() * size_of::<u64>()
            + self.seen.capacity() * size_of::<u32>()
    }
}

impl Ring {
    fn push(&mut self, event: Event, now: Moment) {
        if self.records.len() >= HISTORY {
            self.records.pop_front();
        }
        self.records.push_back((now, event));
        self.pushed = self.pushed.saturating_add(1);
    }

    /// How many of the last events count for a rule.
    fn counting(&self, number: usize, rule: &Compiled, settled: u64, now: Moment) -> usize {
        let fresh = self.pushed.saturating_sub(settled);
        let look = rule.last.min(usize::try_from(fresh).unwrap_or(usize::MAX));
        let recent = self.records.iter().rev().take(look);
        recent
            .filter(|(at, event)| {
                event.counts_for & (1 << number) != 0
                    && now.millis().saturating_sub(at.millis()) < rule.within_ms
            })
            .count()
    }
}

fn names(event: &Event, watch: &Watch) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for (number, rule) in watch.rules.iter().enumerate() {
        let pattern = watch.patterns.get(rule.pattern);
        if let Some(pattern) = pattern.filter(|_| event.counts_for & (1 << number) != 0)
            && !names.contains(&pattern.id)
        {
            names.push(Arc::clone(&pattern.id));
        }
    }
    names
}
