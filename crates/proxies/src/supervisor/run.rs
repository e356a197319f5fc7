//! A task from its turn to its end: which sessions it takes, and whether the owner is asked in between.

use super::service::Service;
use super::session::{Brought, cut_short, error};
use super::tasks::{TaskError, TaskState};
use super::{Inner, Plan, Taken};
use crate::broker::consent;
use crate::definition::{Approval, Engagement, Operation};
use crate::protocol::Phase;
use blastshield_owner::{Ask, State};
use blastshield_recovery::Workspace;
use blastshield_recovery::drafts::{self, Draft, DraftState};
use blastshield_recovery::relationships::Relationships;
use std::time::Duration;

impl Inner {
    pub(super) async fn run(&self, taken: &Taken) -> Result<Brought, TaskError> {
        let gone = || error("internal", "the service is gone");
        let service = self.services.get(&taken.service).ok_or_else(gone)?;
        let definition = &service.definition;
        let operation = definition
            .operations
            .get(&taken.operation)
            .ok_or_else(gone)?;
        let plan = Plan {
            task: &taken.id,
            draft: &taken.id,
            operation: &taken.operation,
            input: &taken.input,
            phase: Phase::Act,
            with: taken.with.as_deref(),
            approval: None,
        };
        let running = || {
            self.tasks
                .update(&taken.id, |view| view.state = TaskState::Running);
        };
        if !self.must_ask(service, operation, taken.with.as_deref()) {
            running();
            let first = self.session(service, operation, &plan).await;
            let Brought::Nothing { again: true, .. } = first else {
                return Ok(first);
            };
            // Once more at most, and under another name: the first draft was given up.
            let draft = format!("{}-2", taken.id);
            let again = Plan {
                draft: &draft,
                ..plan
            };
            return Ok(self.session(service, operation, &again).await);
        }
        running();
        if operation.sends() {
            let drafting = Plan {
                phase: Phase::Draft,
                ..plan
            };
            match self.session(service, operation, &drafting).await {
                Brought::Drafted => {}
                other => return Ok(other),
            }
        }
        let ask = consent(definition, operation, &taken.input, &taken.id);
        let allowed = self.asked(taken, &ask, definition.timeouts.approval).await;
        let approval = match allowed {
            Ok(approval) => approval,
            Err(error) => {
                self.give_up(service, &taken.id).await;
                return Err(error);
            }
        };
        running();
        let sending = Plan {
            phase: if operation.sends() {
                Phase::Send
            } else {
                Phase::Act
            },
            approval: Some((&approval, &ask)),
            task: &taken.id,
            draft: &taken.id,
            operation: &taken.operation,
            input: &taken.input,
            with: taken.with.as_deref(),
        };
        let sent = self.session(service, operation, &sending).await;
        if matches!(sent, Brought::Nothing { .. }) {
            self.give_up(service, &taken.id).await;
        }
        Ok(sent)
    }

    /// Whether the owner is asked before this operation.
    fn must_ask(&self, service: &Service, operation: &Operation, with: Option<&str>) -> bool {
        match operation.approval {
            Approval::Always => true,
            Approval::Never => false,
            Approval::Policy if self.config.posts_need_approval => true,
            Approval::Policy => {
                let known = Workspace::open(&service.recipe.workspace)
                    .and_then(|workspace| Relationships::read(&workspace))
                    .unwrap_or_default();
                let tier = with.map(|name| known.tier(name)).unwrap_or_default();
                service.definition.tiers.of(tier).engagement == Engagement::Ask
            }
        }
    }

    /// Asks the owner and waits. The name of the yes.
    async fn asked(&self, taken: &Taken, ask: &Ask, most: Duration) -> Result<String, TaskError> {
        let approvals = &self.config.approvals;
        let cannot = |message: String| error("not_asked", message);
        let request = approvals
            .ask(ask)
            .await
            .map_err(|problem| cannot(problem.to_string()))?;
        let id = request.id.to_string();
        self.tasks.update(&taken.id, |view| {
            view.state = TaskState::WaitingForOwner;
            view.approval = Some(id.clone());
        });
        crate::fault::point("core:asked");
        let mut cuts = self.cuts();
        let deadline = tokio::time::Instant::now() + most;
        loop {
            let decided = tokio::select! {
                decided = approvals.wait(&id, Duration::from_secs(60)) => decided,
                ending = cuts.comes() => return Err(cut_short(ending, false)),
            };
            match decided
                .map_err(|problem| cannot(problem.to_string()))?
                .state
            {
                State::Approved => return Ok(id),
                State::Denied => return Err(error("denied", "the owner said no")),
                State::Expired => return Err(error("expired", "the owner did not answer in time")),
                State::Pending if tokio::time::Instant::now() >= deadline => {
                    return Err(error("expired", "the owner did not answer in time"));
                }
                State::Pending => {}
            }
        }
    }

    /// Gives up a draft that nobody will send.
    async fn give_up(&self, service: &Service, id: &str) {
        let _turn = service.turn.lock().await;
        let Ok(workspace) = Workspace::open(&service.recipe.workspace) else {
            return;
        };
        if let Ok(mut draft) = Draft::read(&workspace, id) {
            // A final state stays as it is.
            let _ = draft.become_state(&workspace, DraftState::Abandoned, self.config.clock.now());
        }
    }

    /// Drafts that waited for an answer when core ended wait for nobody.
    pub(super) fn give_up_orphans(&self) {
        for service in self.services.values() {
            let Ok(workspace) = Workspace::open(&service.recipe.workspace) else {
                continue;
            };
            let Ok((all, _)) = drafts::list(&workspace) else {
                continue;
            };
            for mut draft in all {
                if draft.state() == DraftState::PendingApproval {
                    let now = self.config.clock.now();
                    let _ = draft.become_state(&workspace, DraftState::Abandoned, now);
                }
            }
        }
    }
}
