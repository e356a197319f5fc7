//! One session: a worker from its first word to the judgement of its end.

use super::accept::{Found, people};
use super::hands::{Hand, NoHand};
use super::service::Service;
use super::talk::{Talk, end};
use super::tasks::{PersonView, TaskError};
use super::{Inner, Plan};
use crate::aside::aside;
use crate::broker::{Broker, Seen, millis};
use crate::capability::Capability;
use crate::definition::Operation;
use crate::protocol::{Ending, Job, Person};
use blastshield_audit::{Category, Event, Severity};
use blastshield_recovery::relationships::{Relationship, Relationships};
use blastshield_recovery::{BeginError, Exit, Facts, Hold, Session, Workspace};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a worker has for its checklist.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long a session waits for somebody else's work on the same service, such as a backup.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// Interactions of each relationship that a new session is told of.
const RECENT: usize = 3;
const RECENT_CHARS: usize = 2000;

/// What a session brought.
pub(super) enum Brought {
    Data {
        data: Value,
        summary: String,
        flags: Vec<String>,
        people: Vec<PersonView>,
        context: Option<String>,
    },
    Drafted,
    /// Nothing; whether the same task may be tried once more.
    Nothing {
        error: TaskError,
        again: bool,
    },
}

pub(super) fn error(code: &str, message: impl Into<String>) -> TaskError {
    TaskError {
        code: code.to_owned(),
        message: message.into(),
        retry_after_ms: None,
        hold: None,
    }
}

/// Why a task came to nothing that somebody cut short; whether its request was under way.
pub(super) fn cut_short(ending: Ending, sent: bool) -> TaskError {
    let (code, message) = super::cuts::why(ending);
    if sent {
        return error(
            code,
            format!("{message}; the request may have reached the service"),
        );
    }
    error(code, message)
}

fn nothing(error: TaskError) -> Brought {
    Brought::Nothing {
        error,
        again: false,
    }
}

impl Inner {
    /// Runs one phase of a task in a worker of its own.
    pub(super) async fn session(
        &self,
        service: &Service,
        operation: &Operation,
        plan: &Plan<'_>,
    ) -> Brought {
        let _turn = service.turn.lock().await;
        if *self.config.stop.borrow() {
            return nothing(cut_short(Ending::OwnerStop, false));
        }
        let (capability, mut hand, session) = match self.ready(service, operation).await {
            Ok(ready) => ready,
            Err(error) => return nothing(error),
        };
        crate::fault::point("core:begun");
        let known = Relationships::read(session.workspace()).unwrap_or_default();
        let context = self.context(service, &known);
        let mut broker = Broker {
            definition: &service.definition,
            operation,
            input: plan.input,
            phase: plan.phase,
            task: plan.task,
            capability,
            token: service.token.as_ref(),
            approval: plan.approval,
            limiter: &service.limiter,
            dialler: &self.config.dialler,
            approvals: &self.config.approvals,
            recorder: self.config.recorder.as_ref(),
            scanner: self.scanner(),
            seen: Seen::default(),
        };
        let job = self.job(service, plan, &broker, &known, &context);
        let deadline = Instant::now() + service.definition.timeouts.task;
        let talk = self.talk(&mut hand, &mut broker, job, deadline).await;
        let exit = end(&mut hand, &talk, deadline).await;
        crate::fault::point("core:ended");
        let result = aside(|| self.accept(operation, plan, &mut broker, talk.outcome.as_ref()));
        if !same_standing(&known, session.workspace()) {
            broker.violated("changed somebody's standing");
        }
        let seen = &broker.seen;
        let facts = Facts {
            exit,
            requests: seen.requests,
            violations: seen.violations.len() as u64,
            burned: seen.burned,
            root_cause_known: talk.cut.is_some() || result.cause_known,
            owner_stop: talk.cut == Some(Ending::OwnerStop),
            core_wrote: Vec::new(),
        };
        let judged = match self.recovery.end(session, &facts).await {
            Ok(judged) => judged,
            Err(problem) => {
                tracing::error!(target: "security", error = %problem, "a session could not be judged");
                return nothing(error(
                    "unjudged",
                    "the session could not be judged; nothing is returned",
                ));
            }
        };
        crate::fault::point("core:judged");
        if judged.decision.quarantine {
            // Workers that wait are confined to a folder that is no longer the workspace.
            service.ready.drop_older(Duration::ZERO);
        }
        if judged.is_clean() {
            service.ready.fill(&service.recipe, self.config.ready);
        }
        if seen.burned || service_burned(service) {
            let _ = service.limiter.new_session();
        }
        if let Some(ending @ (Ending::OwnerStop | Ending::Shutdown)) = talk.cut
            && !judged.decision.is_adversarial()
        {
            return nothing(cut_short(ending, seen.sent));
        }
        if judged.is_clean() {
            return match result.brought {
                Ok(Found::Data(data, flags)) => Brought::Data {
                    people: people(service, operation, &known, &data),
                    summary: operation.summary(plan.input, crate::worker::count(operation, &data)),
                    data,
                    flags,
                    context: Some(context).filter(|text| !text.is_empty()),
                },
                Ok(Found::Drafted) => Brought::Drafted,
                Err(error) => nothing(error),
            };
        }
        let kind = judged.decision.kind.as_str();
        let mut failed = error(
            &kind.to_ascii_lowercase(),
            message(kind, judged.decision.is_adversarial(), &talk),
        );
        failed.hold = judged.hold;
        Brought::Nothing {
            error: failed,
            again: judged.decision.retry_task,
        }
    }

    /// Everything that a session needs. A worker is there before the session begins: one that cannot be started leaves
    /// nothing behind that would have to be judged.
    async fn ready(
        &self,
        service: &Service,
        operation: &Operation,
    ) -> Result<(Capability, Hand, Session), TaskError> {
        self.not_held(service).await?;
        let lifetime = service.definition.timeouts.capability;
        let capability = Capability::issue(&operation.name, lifetime)
            .map_err(|problem| error("internal", problem.to_string()))?;
        let hand = self.hand(service).await.map_err(|problem| {
            tracing::error!(target: "security", error = %problem, "no worker could be started");
            error("sandbox_unavailable", problem.to_string())
        })?;
        let session = self.begin(service).await?;
        if hand.is_for(session.workspace().descriptor()) {
            return Ok((capability, hand, session));
        }
        // Somebody put another folder in its place; this happens once or something is wrong.
        drop(hand);
        match service.recipe.start().await {
            Ok(hand) if hand.is_for(session.workspace().descriptor()) => {
                Ok((capability, hand, session))
            }
            _ => {
                let _ = self.recovery.end(session, &Facts::new(Exit::Lost)).await;
                Err(error("sandbox_unavailable", "no worker could be started"))
            }
        }
    }

    /// Refuses while a hold is on that core cannot end by itself.
    async fn not_held(&self, service: &Service) -> Result<(), TaskError> {
        let unknown = |problem: blastshield_recovery::RecoveryError| {
            error("unavailable", problem.to_string())
        };
        for hold in self.recovery.holds(&service.name).await.map_err(unknown)? {
            if !self.settled(service, &hold).await {
                return Err(held(hold.id, Hold::parse(&hold.kind).as_str()));
            }
        }
        Ok(())
    }

    /// Begins, once nobody else works on the service.
    async fn begin(&self, service: &Service) -> Result<Session, TaskError> {
        for _ in 0..BUSY_TRIES {
            match self.recovery.begin(&service.name).await {
                Ok(session) => return Ok(session),
                Err(BeginError::Busy) => sleep(BUSY_PAUSE).await,
                Err(BeginError::Held { id, kind, .. }) => return Err(held(id, kind)),
                Err(problem) => return Err(error("unavailable", problem.to_string())),
            }
        }
        Err(error("busy", "another process works on this service"))
    }

    /// A worker that is ready, or a new one.
    async fn hand(&self, service: &Service) -> Result<Hand, NoHand> {
        let hand = match service.ready.take() {
            Some(hand) => hand,
            None => service.recipe.start().await?,
        };
        // Where others wait, the next ones get ready while this one works.
        if self.config.ready > 0 && self.tasks.on(&service.definition.name) > 1 {
            service.ready.fill(&service.recipe, self.config.ready + 1);
        }
        Ok(hand)
    }

    /// What a new session is told of the ones before. Workers wrote it, so that it is scanned like anything else.
    fn context(&self, service: &Service, known: &Relationships) -> String {
        let context = known.recent_context(RECENT, RECENT_CHARS, &self.scanner());
        if !aside(|| self.blocks(&context)) {
            return context;
        }
        let details = json!({"proxy": service.definition.name});
        self.record(&Event::Note {
            severity: Severity::Critical,
            category: Category::Proxy,
            name: "relationships_poisoned",
            message: "The relationships of a proxy hold an injection; nothing of them is passed on",
            details: details.as_object().cloned().unwrap_or_default(),
        });
        String::new()
    }

    fn job(
        &self,
        service: &Service,
        plan: &Plan<'_>,
        broker: &Broker<'_>,
        known: &Relationships,
        context: &str,
    ) -> Job {
        let with = plan.with.map(|name| Person {
            name: name.to_owned(),
            tier: known.tier(name).as_str().to_owned(),
            recent: context.lines().map(str::to_owned).collect(),
        });
        Job {
            task: plan.draft.to_owned(),
            operation: plan.operation.to_owned(),
            phase: plan.phase,
            params: plan.input.texts.clone(),
            body: plan.input.body.clone(),
            with,
            capability: broker.capability.token().to_owned(),
            limits: service.limiter.state(),
            profile: self.config.profile.to_owned(),
            now_ms: service.limiter.now().millis(),
            time_ms: millis(service.definition.timeouts.task),
        }
    }
}

/// Whether a session left everybody's tier and status as they were: both are the owner's to change, a worker notes what
/// passed and no more.
fn same_standing(before: &Relationships, workspace: &Workspace) -> bool {
    let Ok(after) = Relationships::read(workspace) else {
        return false;
    };
    let fresh = Relationship::default();
    let kept = before.iter().all(|(name, _)| after.get(name).is_some());
    kept && after.iter().all(|(name, now)| {
        let was = before.get(name).unwrap_or(&fresh);
        (was.tier, was.status) == (now.tier, now.status)
    })
}

/// The reason may hold words of a worker: it is the owner's to read.
fn held(id: String, kind: &str) -> TaskError {
    let message = format!("the service is on hold ({kind}) until the cause is dealt with");
    TaskError {
        hold: Some(id),
        ..error("held", message)
    }
}

fn service_burned(service: &Service) -> bool {
    use blastshield_limits::proxy::Declined;
    matches!(
        service.limiter.would_decline(),
        Some(Declined::Burned { .. })
    )
}

fn message(kind: &str, adversarial: bool, talk: &Talk) -> String {
    if adversarial {
        format!("the worker ended as after an attack ({kind}); the owner was told")
    } else if talk.cut == Some(Ending::TimeOut) {
        super::cuts::why(Ending::TimeOut).1.to_owned()
    } else {
        format!("the worker ended early ({kind})")
    }
}
