//! The guard's state: sessions, leaks, fences, events. What it decides is decided in the crates below; here it has
//! consequences.

mod alarm;
mod setup;
mod telling;

use crate::clock;
use crate::error::ApiError;
use crate::ids::NoRandomness;
use crate::state::App;
use alarm::Alarm;
use blastshield_audit::{Audit, Event, Fingerprint, Level, Metrics, Time};
use blastshield_detect::Detector;
use blastshield_guard::fence::Isolation;
use blastshield_guard::output::{PromptShingles, Rules, Validator};
use blastshield_leak::{self as leak, Canary, Class, Finding, Leak, Scanner, Scope};
use blastshield_limits::{Detection, Hold, Moment, Refused, Sessions, Sighting};
use blastshield_store::{SessionHold, Store};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::Semaphore;

pub use setup::GuardError;

/// What the guard's endpoints share.
pub(crate) struct Guard {
    pub(crate) sessions: Sessions,
    scanner: Arc<RwLock<Scanner>>,
    prompts: Arc<PromptShingles>,
    detector: Arc<Detector>,
    pub(crate) isolation: Isolation,
    output: Option<Rules>,
    /// Canaries are looked for,
    canaries: bool,
    /// and there are some.
    placed: AtomicBool,
    /// Those of the store.
    known: Mutex<HashSet<String>>,
    /// Answers that may be checked as streams at once.
    pub(crate) streams: Arc<Semaphore>,
    alarm: Alarm,
}

impl Guard {
    /// The scanner as it is now; canaries may be added at any time.
    pub(crate) fn scanner(&self) -> Scanner {
        self.scanner
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The same, for whoever lives longer than a request.
    pub(crate) fn shared_scanner(&self) -> impl Fn() -> Scanner + Send + Sync + 'static {
        let scanner = Arc::clone(&self.scanner);
        move || {
            scanner
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        }
    }

    /// Looks for canaries that another process placed, such as the command line's.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), ApiError> {
        let known = self.known().len() as u64;
        if store.canary_count().await? == known {
            return Ok(());
        }
        for record in store.canaries().await? {
            if self.known().contains(&record.value) {
                continue;
            }
            let severity = setup::severity(record.severity == "critical");
            let canary = Canary::parse(&record.value, severity).map_err(|error| {
                tracing::error!(target: "security", %error, "the store holds what is no canary");
                ApiError::Internal
            })?;
            self.watch_for(canary)?;
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for one more canary from now on.
    pub(crate) fn watch_for(&self, canary: Canary) -> Result<(), ApiError> {
        if !self.known().insert(canary.token().to_owned()) {
            return Ok(());
        }
        let mut scanner = self.scanner.write().unwrap_or_else(PoisonError::into_inner);
        self.placed.store(true, Ordering::Release);
        *scanner = scanner.with_canary(canary).map_err(|error| {
            tracing::error!(target: "security", %error, "a canary cannot be looked for");
            ApiError::Internal
        })?;
        Ok(())
    }

    /// The part of a scope that the settings leave on.
    pub(crate) fn scope(&self, scope: Scope) -> Scope {
        if self.canaries {
            scope
        } else {
            scope.without(Scope::CANARIES)
        }
    }

    /// Checks what agents say; nothing when that is switched off.
    pub(crate) fn validator(&self) -> Option<Validator> {
        let rules = self.output?;
        let validator = Validator::new(rules, self.scanner(), Arc::clone(&self.prompts));
        Some(validator.with_detector(Arc::clone(&self.detector)))
    }

    /// Canaries in a text that came in; an alert for each unless it belongs there.
    pub(crate) fn canaries_in(
        &self,
        text: &str,
        belongs: bool,
        session: Option<&str>,
    ) -> Vec<Leak> {
        if !self.canaries || !self.placed.load(Ordering::Acquire) {
            return Vec::new();
        }
        let scanner = self.scanner();
        let found = scanner.scan_with(text, Scope::CANARIES);
        let leaks = scanner.leaks(&found);
        if !belongs {
            self.note_canaries(&leaks, "inbound", session, text);
        }
        leaks
    }

    fn note_canaries(&self, leaks: &[Leak], place: &str, session: Option<&str>, text: &str) {
        for leak in leaks {
            self.note(&Event::CanaryLeak {
                location: &leak.location,
                token: &leak.shown,
                critical: leak.severity == leak::Severity::Critical,
                place,
                session,
                content: Fingerprint::of(text),
            });
        }
    }

    /// A host as logs may name it: an agent may have put a secret into its labels.
    pub(crate) fn named(&self, host: &str) -> String {
        let scanner = self.scanner();
        scanner.redact_with(host, Scope::OUTBOUND).into_owned()
    }

    /// Counts an event, writes it down, and tells whoever must know.
    pub(crate) fn note(&self, event: &Event<'_>) {
        self.alarm.note(event);
    }

    /// Whether this process writes the audit log of the data folder; else another one does.
    pub(crate) fn records(&self) -> bool {
        self.alarm.audit().is_some()
    }

    /// The metrics, if this process keeps them.
    pub(crate) fn metrics(&self) -> Option<&Metrics> {
        self.alarm.audit().map(Audit::metrics)
    }

    /// Alerts of late, newest first.
    pub(crate) fn recent_alerts(&self) -> Vec<serde_json::Value> {
        self.alarm.recent()
    }

    /// Lets a session on, or says why not.
    pub(crate) fn admit(&self, session: Option<&str>) -> Result<(), ApiError> {
        match session {
            Some(key) => self.sessions.check(key, now()).map_err(ApiError::Session),
            None => Ok(()),
        }
    }

    /// Remembers what a session did; patterns that it completes are in force and on disk on return.
    pub(crate) async fn observe(
        &self,
        store: &Store,
        key: &str,
        seen: &Sighting<'_>,
    ) -> Result<Vec<Detection>, ApiError> {
        let detections = self
            .sessions
            .observe(key, seen, now())
            .map_err(ApiError::Session)?;
        for found in &detections {
            self.note(&Event::Abuse {
                session: key,
                pattern: &found.pattern,
                level: level(found),
                action: action(found),
            });
        }
        if detections.iter().any(|found| found.until.is_some()) {
            self.keep_hold(store, key).await;
        }
        Ok(detections)
    }

    /// Ends a session for good cause.
    pub(crate) async fn terminate(
        &self,
        store: &Store,
        key: &str,
        reason: &str,
    ) -> Result<(), ApiError> {
        self.sessions
            .terminate(key, reason, now())
            .map_err(ApiError::Session)?;
        self.note(&Event::SessionTerminated {
            session: key,
            why: reason,
        });
        self.keep_hold(store, key).await;
        Ok(())
    }

    /// What a refusal leaves behind: a count, and a hold that survives a restart.
    pub(crate) async fn refused(&self, store: &Store, key: &str, refused: &Refused) {
        let wait = refused.retry_after().unwrap_or_default();
        self.note(&Event::RateLimited {
            session: key,
            limit: refused.code(),
            cooldown_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        });
        let begins = matches!(
            refused,
            Refused::Messages { .. } | Refused::ToolCalls { .. } | Refused::Tokens { .. }
        );
        if begins {
            self.keep_hold(store, key).await;
        }
    }

    /// Writes a session's hold down. Until that works the hold stands in memory alone, which the log says.
    async fn keep_hold(&self, store: &Store, key: &str) {
        let Ok(status) = self.sessions.status(key, now()) else {
            return;
        };
        let Some(hold) = status.hold else { return };
        let kept = store
            .hold_session(SessionHold {
                session_key: key.to_owned(),
                kind: hold.kind.name().to_owned(),
                reason: hold.reason.to_string(),
                at_ms: clock::now_ms(),
                until_ms: i64::try_from(hold.until.millis()).unwrap_or(i64::MAX),
            })
            .await;
        if let Err(error) = kept {
            tracing::warn!(target: "security", %error, "a held session would be forgotten by a restart");
        }
    }

    /// Lifts a hold, in memory and on disk.
    pub(crate) async fn pardon(&self, store: &Store, key: &str) -> Result<Option<Hold>, ApiError> {
        store.pardon_session(key).await?;
        let lifted = self
            .sessions
            .pardon(key, now())
            .map_err(ApiError::Session)?;
        self.note(&Event::SessionPardoned {
            session: key,
            by: "owner",
        });
        Ok(lifted)
    }

    /// Everything noted is written on return.
    pub(crate) fn close(&self) {
        self.alarm.close();
    }
}

/// Something that must not leave was stopped: canaries are told apart, and a leaked credential ends the session.
/// Returns whether it was one.
async fn leaked(
    app: &App,
    session: Option<&str>,
    findings: &[Finding],
    text: &str,
    place: &'static str,
) -> Result<bool, ApiError> {
    let guard = &app.guard;
    let leaks = guard.scanner().leaks(findings);
    guard.note_canaries(&leaks, place, session, text);
    let credential = |found: &Finding| matches!(found.class, Class::Credential | Class::Registered);
    let grave = findings.iter().any(credential)
        || leaks
            .iter()
            .any(|leak| leak.severity == leak::Severity::Critical);
    if grave {
        guard.note(&Event::CredentialLeak {
            session,
            place,
            kinds: &rules_of(findings),
            content: Fingerprint::of(text),
            terminated: session.is_some(),
        });
        if let Some(key) = session {
            guard.terminate(&app.store, key, "credential_leak").await?;
        }
    }
    Ok(grave)
}

/// Stage 6b stopped something.
pub(crate) async fn outbound_blocked(
    app: &App,
    session: Option<&str>,
    destination: Option<&str>,
    findings: &[Finding],
    text: &str,
) -> Result<(), ApiError> {
    if !leaked(app, session, findings, text, "outbound").await? {
        app.guard.note(&Event::OutboundBlocked {
            service: destination.unwrap_or("unnamed"),
            session,
            patterns: &rules_of(findings),
            content: Fingerprint::of(text),
        });
    }
    Ok(())
}

/// An answer of an agent was stopped.
pub(crate) async fn answer_blocked(
    app: &App,
    session: Option<&str>,
    issues: &[&str],
    findings: &[Finding],
    text: &str,
) -> Result<(), ApiError> {
    if !leaked(app, session, findings, text, "output").await? {
        app.guard.note(&Event::OutputBlocked {
            session,
            issues,
            content: Fingerprint::of(text),
        });
    }
    Ok(())
}

fn rules_of(findings: &[Finding]) -> Vec<&'static str> {
    let mut rules: Vec<&str> = findings.iter().map(|found| found.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// The time of day, for records.
pub(crate) fn wall() -> Time {
    Time::from_millis(u64::try_from(clock::now_ms()).unwrap_or(0))
}

/// The time by which sessions are measured: it does not jump when the clock is set.
pub(crate) fn now() -> Moment {
    Moment::from_millis(clock::steady_ms())
}

/// Random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

fn level(found: &Detection) -> Level {
    match found.severity {
        blastshield_limits::Severity::Low => Level::Low,
        blastshield_limits::Severity::Medium => Level::Medium,
        blastshield_limits::Severity::High => Level::High,
    }
}

fn action(found: &Detection) -> &'static str {
    match found.action {
        blastshield_limits::Action::Warn => "warn",
        blastshield_limits::Action::Throttle => "throttle",
        blastshield_limits::Action::Block => "block",
    }
}
