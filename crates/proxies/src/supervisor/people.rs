//! Whom a proxy's identity knows, and the owner's word on how well. Workers note what passed; nobody else raises a tier.

use super::Supervisor;
use crate::aside::aside;
use blastshield_audit::Event;
use blastshield_recovery::relationships::{Relationships, Status, Tier};
use blastshield_recovery::{Workspace, WorkspaceError};

/// A relationship was not read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeopleError {
    /// No such service.
    #[error("there is no service of this name")]
    Service,
    /// The name, or the file.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The audit log does not take it.
    #[error("the change could not be recorded, so it was not made")]
    Unrecorded,
}

impl Supervisor {
    /// The relationships of a service, between two sessions.
    ///
    /// # Errors
    /// When there is no such service, or they cannot be read.
    pub async fn relationships(&self, service: &str) -> Result<Relationships, PeopleError> {
        let service = self.0.services.get(service).ok_or(PeopleError::Service)?;
        let _turn = service.turn.lock().await;
        match Workspace::open(&service.recipe.workspace) {
            Ok(workspace) => Ok(aside(|| Relationships::read(&workspace))?),
            Err(WorkspaceError::Missing) => Ok(Relationships::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets somebody's tier or status in the owner's name. `Ok` means in the audit log and on disk.
    ///
    /// # Errors
    /// When it was not done.
    pub async fn set_relationship(
        &self,
        service: &str,
        name: &str,
        tier: Option<Tier>,
        status: Option<Status>,
    ) -> Result<(), PeopleError> {
        let known = self.0.services.get(service).ok_or(PeopleError::Service)?;
        let _turn = known.turn.lock().await;
        let workspace = Workspace::open(&known.recipe.workspace)?;
        aside(|| {
            let mut all = Relationships::read(&workspace)?;
            let before = all.get(name).map(|one| one.tier).unwrap_or_default();
            all.set_tier(name, tier.unwrap_or(before))?;
            if let Some(status) = status {
                all.set_status(name, status);
            }
            let key = format!("relationship of {service}: {name}");
            let event = Event::ConfigChanged {
                key: &key,
                by: "owner",
            };
            let recorded = self.0.config.recorder.record(&event);
            recorded.map_err(|_| PeopleError::Unrecorded)?;
            Ok(all.write(&workspace)?)
        })
    }
}
