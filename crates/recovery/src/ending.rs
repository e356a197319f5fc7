//! The end of a session: looked at, judged, told, kept, and acted upon, in an order that a crash may cut anywhere.
//!
//! The session stays in the store until its judgement is: a crash before that makes it an end that nobody saw, which is
//! judged worse. The owner is told before the judgement is kept: a crash in between tells twice rather than never.

use crate::alert::{self, Told};
use crate::decision::{self, Decision, Exit, Hold, Kind, Situation, decide};
use crate::drafts;
use crate::error::RecoveryError;
use crate::evidence::{Evidence, Facts, weigh};
use crate::names::ServiceName;
use crate::quarantine::Step;
use crate::recovery::{Recovery, millis};
use crate::report::{Found, find};
use crate::session::Session;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use blastshield_audit::{Event, Time};
use blastshield_store::{ProxyCrash, ProxyEnd, ProxyHold, ProxyQuarantine, ProxySession};

const DAY_MS: i64 = 86_400_000;
/// Files that are named in the store.
const NAMED: usize = 100;

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// What is to be done; what concerns the workspace is done.
    pub decision: Decision,
    /// Both accounts.
    pub evidence: Evidence,
    /// The hold that began, by whose id it is cleared.
    pub hold: Option<String>,
    /// The owner's alert, if it is adversarial; it went to every channel.
    pub alert: Option<String>,
}

impl Outcome {
    /// Whether what the child returned may be used.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.decision.kind == Kind::Reported(crate::Trigger::TaskComplete)
    }
}

impl Recovery {
    /// Ends a session: the child, and all that it started, is gone. On return the workspace is safe to use or put aside.
    ///
    /// # Errors
    /// When something could not be done; then the service may not be spawned until it is, which the next
    /// [`Recovery::begin`] or [`Recovery::resume`] tries. Nothing that the child returned may be used.
    pub async fn end(&self, session: Session, facts: &Facts) -> Result<Outcome, RecoveryError> {
        self.point("ended");
        let now = self.now();
        let (evidence, after) = self.disk(|_| {
            let (workspace, before) = (&session.workspace, &session.before);
            let after = Snapshot::take(workspace.folder(), &self.options.bounds, Some(before))?;
            let span = (session.started, now);
            let found = find(workspace, before, &after, &self.redact, span);
            let evidence = weigh(workspace, before, &after, found, facts, &session.review);
            Ok((evidence, after))
        })?;
        let ended = Ended {
            service: &session.service,
            spawn_id: &session.spawn_id,
            started_ms: millis(session.started),
            exit: facts.exit,
            root_cause_known: facts.root_cause_known,
            owner_stop: facts.owner_stop,
            now,
        };
        let outcome = self
            .judge(&ended, evidence, Some(&session.workspace))
            .await?;
        if !outcome.decision.quarantine {
            self.learn(&session.service, after);
        }
        Ok(outcome)
    }

    /// With the lock held: a session that nobody saw end.
    pub(crate) async fn end_lost(
        &self,
        service: &ServiceName,
        session: ProxySession,
    ) -> Result<(), RecoveryError> {
        let started_ns = i128::from(session.started_ms) * 1_000_000;
        let files = self.disk(|home| {
            let Ok(root) = home.workspaces.child(service.as_str()) else {
                return Ok(Vec::new());
            };
            let seen = Snapshot::take(&root, &self.options.bounds, None)?;
            Ok(seen.changed_since(started_ns))
        })?;
        let evidence = Evidence {
            found: Found::Missing,
            files,
            contradictions: Vec::new(),
            requests: 0,
        };
        let ended = Ended {
            service,
            spawn_id: &session.spawn_id,
            started_ms: session.started_ms,
            exit: Exit::Lost,
            root_cause_known: false,
            owner_stop: false,
            now: self.now(),
        };
        self.judge(&ended, evidence, None).await.map(drop)
    }

    async fn judge(
        &self,
        ended: &Ended<'_>,
        evidence: Evidence,
        workspace: Option<&Workspace>,
    ) -> Result<Outcome, RecoveryError> {
        let (service, now_ms) = (ended.service, millis(ended.now));
        let kind = decision::kind(
            evidence.reported(),
            &evidence.contradictions,
            ended.owner_stop,
        );
        let before = self
            .store
            .count_proxy_crashes(
                service.as_str(),
                kind.as_str(),
                now_ms.saturating_sub(DAY_MS),
            )
            .await?;
        let decision = decide(&Situation {
            reported: evidence.reported(),
            exit: ended.exit,
            files_written: evidence.files.len() as u64,
            contradictions: &evidence.contradictions,
            same_kind_in_a_day: before.saturating_add(1),
            root_cause_known: ended.root_cause_known,
            owner_stop: ended.owner_stop,
            held: !self.holds(service).await?.is_empty(),
        });
        let account = Account::new(ended, &evidence, &decision);
        let recorded = self.tell(service, &account, &decision);
        self.point("told");
        if let Some(workspace) = workspace.filter(|_| !decision.quarantine) {
            self.disk(|_| Ok(drafts::abandon_in_progress(workspace, ended.now)?))?;
        }
        let kept = self.keep(ended, &evidence, &decision, &account)?;
        let (hold, quarantine) = (kept.hold.clone(), kept.quarantine.clone());
        self.store.end_proxy_session(kept).await?;
        self.point("kept");
        let noted = hold.as_ref().map_or(Ok(()), |hold| {
            self.record(&Event::ProxyHeld {
                proxy: service.as_str(),
                id: &hold.id,
                kind: &hold.kind,
                why: &hold.reason,
                escalated: decision.hold == Some(Hold::Pattern),
            })
        });
        if let Some(quarantine) = quarantine {
            self.carry_out(service, quarantine).await?;
        }
        recorded.and(noted)?;
        Ok(Outcome {
            alert: decision
                .is_adversarial()
                .then(|| alert::text(&account.told(service, &decision))),
            decision,
            evidence,
            hold: hold.map(|hold| hold.id),
        })
    }

    fn tell(
        &self,
        service: &ServiceName,
        account: &Account,
        decision: &Decision,
    ) -> Result<(), RecoveryError> {
        if decision.alert == decision::Alert::None {
            return Ok(());
        }
        let told = account.told(service, decision);
        self.record(&Event::ProxyCrashed {
            proxy: told.service,
            trigger: told.trigger,
            detail: told.detail,
            adversarial: decision.is_adversarial(),
            requests: told.requests,
            files_written: told.files_written,
            report: told.report,
            quarantined: told.quarantined,
        })
    }

    fn keep(
        &self,
        ended: &Ended<'_>,
        evidence: &Evidence,
        decision: &Decision,
        account: &Account,
    ) -> Result<ProxyEnd, RecoveryError> {
        let mut end = ProxyEnd {
            spawn_id: ended.spawn_id.to_owned(),
            ..ProxyEnd::default()
        };
        if decision.alert == decision::Alert::None {
            return Ok(end);
        }
        let random = |length| crate::id::random(length).map_err(|_| RecoveryError::NoRandom);
        let service = ended.service.as_str().to_owned();
        let at_ms = millis(ended.now);
        let crash_id = random(12)?;
        end.crash = Some(ProxyCrash {
            id: crash_id.clone(),
            service: service.clone(),
            kind: decision.kind.as_str().to_owned(),
            at_ms,
            adversarial: decision.is_adversarial(),
            detail: account.detail.clone(),
            last_action: evidence
                .report()
                .map_or_else(String::new, |report| report.last_action().to_owned()),
            requests: evidence.requests,
            files: evidence.files.iter().take(NAMED).cloned().collect(),
            files_count: evidence.files.len() as u64,
            report: account.report.clone().unwrap_or_default(),
        });
        let Some(kind) = decision.hold else {
            return Ok(end);
        };
        let id = random(8)?;
        end.hold = Some(ProxyHold {
            id: id.clone(),
            service: service.clone(),
            crash_id,
            kind: kind.as_str().to_owned(),
            reason: format!("{}: {}", decision.kind.as_str(), account.detail),
            at_ms,
            cleared_ms: 0,
            cleared_by: String::new(),
        });
        if decision.quarantine {
            end.quarantine = Some(ProxyQuarantine {
                id,
                folder: crate::quarantine::folder(&service, ended.now),
                service,
                home: self.home.id.clone(),
                step: Step::Decided.number(),
                before_ms: ended.started_ms,
                backup: String::new(),
                review: Vec::new(),
            });
        }
        Ok(end)
    }
}

/// Which session ended, and how.
struct Ended<'a> {
    service: &'a ServiceName,
    spawn_id: &'a str,
    started_ms: i64,
    exit: Exit,
    root_cause_known: bool,
    owner_stop: bool,
    now: Time,
}

/// What is said of an end.
struct Account {
    detail: String,
    report: Option<String>,
    /// What the owner is to look at.
    review: String,
    requests: u64,
    files: u64,
}

impl Account {
    fn new(ended: &Ended<'_>, evidence: &Evidence, decision: &Decision) -> Self {
        let said = match &evidence.found {
            Found::Report(report, _) => report.detail().to_owned(),
            Found::Missing if ended.exit == Exit::Lost => "nobody saw the session end".to_owned(),
            Found::Missing => format!("no crash report; {}", exit(ended.exit)),
            Found::Unusable(why) => format!("{why}; {}", exit(ended.exit)),
        };
        let mut detail = said;
        for contradiction in &evidence.contradictions {
            detail.push_str("; ");
            detail.push_str(contradiction.as_str());
        }
        if decision.kind == Kind::Lied
            && let Some(report) = evidence.report()
        {
            detail = format!(
                "reported {}: {detail}; {}",
                report.trigger().as_str(),
                exit(ended.exit)
            );
        }
        let report = match &evidence.found {
            Found::Report(_, path) => Some(path.split().1.to_owned()),
            _ => None,
        };
        let aside = || crate::quarantine::folder(ended.service.as_str(), ended.now);
        let review = report
            .clone()
            .unwrap_or_else(|| format!("{} (no usable crash report)", aside()));
        Self {
            detail,
            report,
            review,
            requests: evidence.requests,
            files: evidence.files.len() as u64,
        }
    }

    fn told<'a>(&'a self, service: &'a ServiceName, decision: &Decision) -> Told<'a> {
        Told {
            service: service.as_str(),
            trigger: decision.kind.as_str(),
            detail: &self.detail,
            requests: self.requests,
            files_written: self.files,
            report: &self.review,
            quarantined: decision.quarantine,
        }
    }
}

fn exit(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
        Exit::TimedOut => "ended by core, its time was up".to_owned(),
        Exit::Lost => "not seen".to_owned(),
    }
}
