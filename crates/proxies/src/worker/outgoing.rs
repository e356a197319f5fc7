//! What is to go out: a draft first, and stage 6b before anything else happens to it.

use super::act::{Act, Stop, died, failed};
use super::life::now;
use crate::definition::{Input, Operation};
use crate::leaks::texts_of;
use crate::protocol::Phase;
use blastshield_leak::Scope;
use blastshield_recovery::Trigger;
use blastshield_recovery::drafts::{Draft, DraftState};
use serde_json::Value;

impl Act<'_> {
    /// The draft of what is to go out, past stage 6b, and its body.
    pub(super) fn drafted(
        &mut self,
        operation: &Operation,
        input: &Input,
    ) -> Result<(Draft, Option<Value>), Stop> {
        let id = self.job.task.clone();
        let broken = |_| died(Trigger::Exception, "a draft cannot be kept");
        if self.job.phase == Phase::Send {
            let draft = self
                .life
                .with(|workspace, _| Draft::read(workspace, &id))
                .map_err(|_| died(Trigger::Exception, "the approved draft is not there"))?;
            let ready =
                draft.state() == DraftState::PendingApproval && draft.operation() == operation.name;
            let body: Option<Value> = serde_json::from_str(draft.body())
                .map_err(|_| died(Trigger::Exception, "the approved draft cannot be read"))?;
            if !ready || body != input.body {
                return Err(died(
                    Trigger::PolicyViolation,
                    "not the draft that was approved",
                ));
            }
            self.leaks(operation, input)?;
            return Ok((draft, body));
        }
        let text = serde_json::to_string(&input.body)
            .map_err(|_| died(Trigger::Exception, "a draft cannot be written"))?;
        self.life
            .call("draft", &operation.name, Some(text.as_bytes()))?;
        let begun = self
            .life
            .with(|workspace, _| Draft::begin(workspace, &id, &operation.name, &text, now()));
        let mut draft = begun.map_err(|_| died(Trigger::Exception, "a draft cannot be written"))?;
        self.life.wrote(draft.path());
        crate::fault::point("worker:drafted");
        self.leaks(operation, input)?;
        if self.job.phase == Phase::Draft {
            self.life
                .with(|workspace, _| {
                    draft.become_state(workspace, DraftState::PendingApproval, now())
                })
                .map_err(broken)?;
        }
        Ok((draft, input.body.clone()))
    }

    /// Stage 6b: any match is a block.
    fn leaks(&self, operation: &Operation, input: &Input) -> Result<(), Stop> {
        let text = texts_of(&self.kit.definition, operation, input);
        let found = self
            .life
            .with(|_, scanner| scanner.scan_with(&text, Scope::OUTBOUND));
        if found.is_empty() {
            return Ok(());
        }
        let mut rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        Err(failed("leak_blocked", rules.join(", "), None))
    }
}
