//! What is said about each request: one line in the log, a count, and an event where something was refused.

use crate::decide::{Mode, Rule};
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use blastshield_audit::{Decision, Event};
use blastshield_leak::{Finding, Scanner, Scope};
use blastshield_owner::{Recorder, Unrecorded};
use blastshield_policy::Host;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Gives the leak scanner as it is now; canaries and registered values may be added at any time.
pub type Scanners = Arc<dyn Fn() -> Scanner + Send + Sync>;

/// Hosts of which it is remembered how they may be shown.
const MAX_SHOWN: usize = 4096;
/// How long a host's looks are remembered: a canary may be added meanwhile.
const SHOWN_FOR: Duration = Duration::from_secs(5);
/// The same refusal is an event once in this time.
const AGAIN_AFTER: Duration = Duration::from_secs(60);
const MAX_REFUSALS: usize = 1024;
/// Refusals that are events, in the same time; beyond that they are lines of the log alone.
const MAX_EVENTS: u32 = 120;

/// Records, while other tasks of this thread go on elsewhere.
pub(crate) fn record(recorder: &dyn Recorder, event: &Event<'_>) -> Result<(), Unrecorded> {
    let outcome = match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| recorder.record(event)),
        _ => recorder.record(event),
    };
    if outcome.is_err() {
        tracing::error!(target: "security", "an event about outbound traffic could not be recorded");
    }
    outcome
}

/// One request, from its head to its end.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) agent: Box<str>,
    pub(crate) method: Box<str>,
    pub(crate) host: Option<Host>,
    pub(crate) port: u16,
    pub(crate) address: Option<SocketAddr>,
    pub(crate) by_exception: bool,
    pub(crate) rule: Rule,
    pub(crate) approval: Option<String>,
    pub(crate) up: u64,
    pub(crate) down: u64,
    pub(crate) started: Instant,
    /// Whether its line is in the log.
    told: Mark,
}

/// A copy of an entry has a line of its own.
#[derive(Debug, Default)]
struct Mark(AtomicBool);

impl Clone for Mark {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Entry {
    pub(crate) fn new(agent: Box<str>, method: &str) -> Self {
        Self {
            agent,
            method: method.into(),
            host: None,
            port: 0,
            address: None,
            by_exception: false,
            rule: Rule::Protocol,
            approval: None,
            up: 0,
            down: 0,
            started: Instant::now(),
            told: Mark::default(),
        }
    }

    /// Whether its line is in the log.
    pub(crate) fn is_told(&self) -> bool {
        self.told.0.load(Relaxed)
    }
}

/// A request under way. One that is cut, whoever cuts it, has its line in the log all the same.
pub(crate) struct Begun<'j> {
    journal: &'j Journal,
    entry: Entry,
}

impl Begun<'_> {
    /// Goes on elsewhere, and is told there.
    pub(crate) fn handed_on(self) -> Entry {
        self.entry.told.0.store(true, Relaxed);
        self.entry.clone()
    }
}

impl Deref for Begun<'_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl DerefMut for Begun<'_> {
    fn deref_mut(&mut self) -> &mut Entry {
        &mut self.entry
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.entry.is_told() {
            self.journal.cut(&self.entry);
        }
    }
}

/// How a host may be shown, and what must not leave in it.
#[derive(Clone)]
struct Looks {
    shown: Arc<str>,
    findings: Arc<[Finding]>,
    since: Instant,
}

/// An agent, a host, and why it was refused.
type Told = (Box<str>, Host, &'static str);

/// Where it is said.
pub(crate) struct Journal {
    recorder: Arc<dyn Recorder>,
    pub(crate) scanners: Scanners,
    pub(crate) metrics: Arc<Metrics>,
    mode: Mode,
    looks: Mutex<HashMap<Host, Looks>>,
    refusals: Mutex<HashMap<Told, Instant>>,
    events: Mutex<(Instant, u32)>,
}

impl Journal {
    pub(crate) fn new(
        recorder: Arc<dyn Recorder>,
        scanners: Scanners,
        metrics: Arc<Metrics>,
        mode: Mode,
    ) -> Self {
        Self {
            recorder,
            scanners,
            metrics,
            mode,
            looks: Mutex::default(),
            refusals: Mutex::default(),
            events: Mutex::new((Instant::now(), 0)),
        }
    }

    pub(crate) fn begin(&self, entry: Entry) -> Begun<'_> {
        Begun {
            journal: self,
            entry,
        }
    }

    /// A request that was cut by the kill switch or by the end of the proxy, each of which is an event of its own.
    pub(crate) fn cut(&self, entry: &Entry) {
        self.metrics.count(false, entry);
        self.line(entry, "deny", Some(&Refusal::Cut));
    }

    /// What a host's labels hold that must not leave.
    pub(crate) fn leaks_in(&self, host: &Host) -> Arc<[Finding]> {
        self.looks(host).findings
    }

    fn looks(&self, host: &Host) -> Looks {
        let known = {
            let looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
            looks.get(host).cloned()
        };
        if let Some(known) = known
            && known.since.elapsed() < SHOWN_FOR
        {
            return known;
        }
        let scanner = (self.scanners)();
        let name = host.to_string();
        // Labels are also read as one: a value may be cut into several.
        let joined = name.replace('.', "");
        // A domain may well be called like a file of ours.
        let scope = Scope::OUTBOUND.without(Scope::INTERNAL);
        let mut findings = scanner.scan_with(&name, scope);
        if host.name().is_some() {
            findings.extend(scanner.scan_with(&joined, Scope::SECRETS));
        } else {
            findings.clear();
        }
        let shown: Arc<str> = if findings.is_empty() {
            name.as_str().into()
        } else {
            let redacted = scanner.redact_with(&name, scope);
            if redacted == name {
                "[REDACTED]".into()
            } else {
                redacted.into()
            }
        };
        let fresh = Looks {
            shown,
            findings: findings.into(),
            since: Instant::now(),
        };
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= MAX_SHOWN {
            looks.clear();
        }
        looks.insert(host.clone(), fresh.clone());
        fresh
    }

    pub(crate) fn shown(&self, host: &Host) -> Arc<str> {
        self.looks(host).shown
    }

    /// A request that was carried to its end, or as far as it went.
    pub(crate) fn carried(&self, entry: &Entry) {
        let verdict = match (entry.rule, self.mode) {
            (Rule::Mode, Mode::Report) => "report",
            _ => "allow",
        };
        self.metrics.count(true, entry);
        self.line(entry, verdict, None);
    }

    /// A request that was refused, before or while it was carried.
    pub(crate) fn refused(&self, entry: &Entry, refusal: &Refusal) {
        self.metrics.count(false, entry);
        self.line(entry, "deny", Some(refusal));
        let Some(host) = &entry.host else { return };
        if !self.is_news(entry, host, refusal.code()) || !self.has_room() {
            return;
        }
        let decision = match refusal {
            Refusal::Pending(_) => Decision::Ask,
            Refusal::Injection { .. } | Refusal::Leak { .. } => Decision::Block,
            Refusal::Unreachable(_) | Refusal::Gone | Refusal::Timeout(_) => return,
            Refusal::Internal | Refusal::NoOwner(_) => Decision::Error,
            _ => Decision::Deny,
        };
        let _ = record(
            self.recorder.as_ref(),
            &Event::HttpDecision {
                host: &self.shown(host),
                method: &entry.method,
                session: None,
                decision,
                why: refusal.code(),
            },
        );
    }

    /// What the filters stopped: always an event.
    pub(crate) fn blocked(&self, event: &Event<'_>) {
        let _ = record(self.recorder.as_ref(), event);
    }

    /// Whether another refusal may be an event: each waits for the disk.
    fn has_room(&self) -> bool {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.0.elapsed() >= AGAIN_AFTER {
            *events = (Instant::now(), 0);
        }
        events.1 = events.1.saturating_add(1);
        events.1 <= MAX_EVENTS
    }

    fn is_news(&self, entry: &Entry, host: &Host, code: &'static str) -> bool {
        let key = (entry.agent.clone(), host.clone(), code);
        let now = Instant::now();
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() >= MAX_REFUSALS {
            refusals.retain(|_, at| at.elapsed() < AGAIN_AFTER);
            if refusals.len() >= MAX_REFUSALS {
                refusals.clear();
            }
        }
        match refusals.get_mut(&key) {
            Some(at) if at.elapsed() < AGAIN_AFTER => false,
            Some(at) => {
                *at = now;
                true
            }
            None => {
                refusals.insert(key, now);
                true
            }
        }
    }

    fn line(&self, entry: &Entry, verdict: &str, refusal: Option<&Refusal>) {
        entry.told.0.store(true, Relaxed);
        let host = entry.host.as_ref().map(|host| self.shown(host));
        let approval = refusal
            .and_then(Refusal::approval)
            .or(entry.approval.as_deref());
        tracing::info!(
            target: "access",
            agent = &*entry.agent,
            method = &*entry.method,
            host = host.as_deref(),
            port = entry.port,
            address = entry.address.map(|address| address.to_string()),
            by_exception = entry.by_exception,
            verdict,
            rule = refusal.map_or(entry.rule, Refusal::rule).as_str(),
            code = refusal.map(Refusal::code),
            approval,
            up = entry.up,
            down = entry.down,
            ms = u64::try_from(entry.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "egress"
        );
    }
}
