//! An older backup put back because a person says so. What is there is put aside, never deleted, and every step is one of
//! the quarantine's, so that a process that dies in between is followed by one that goes on.

use crate::backups::Backup;
use crate::decision::Hold;
use crate::error::RecoveryError;
use crate::names::ServiceName;
use crate::quarantine::Step;
use crate::recovery::{Recovery, millis};
use blastshield_store::{ProxyEnd, ProxyHold, ProxyQuarantine};

/// A backup was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The backup.
    pub backup: Backup,
    /// Where what was there lies now, in `proxies/workspaces` of the data folder.
    pub folder: String,
    /// Holds of the service that are on.
    pub still_held: usize,
}

/// A backup was not put back; the workspace is as it was, or the next start completes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The word that was given for it.
    #[error(
        "a backup is named by its day, as 20260223 or 2026-02-23, or by its name, as 20260223-2"
    )]
    Name,
    /// None of that day, or none at all.
    #[error("there is no such backup")]
    Unknown,
    /// Not what it was.
    #[error("the backup is damaged: its files are not those that were kept")]
    Damaged,
    /// Who says so.
    #[error("a name of at most 64 visible characters says who restores")]
    Who,
    /// Something could not be done.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

impl From<std::io::Error> for RestoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Recovery(error.into())
    }
}

impl Recovery {
    /// Puts the backup of a day back, or the newest good one. What is in the workspace is put aside whole; holds stay on.
    /// `Ok` means in the audit log and on disk.
    ///
    /// # Errors
    /// [`RecoveryError::Busy`] while a session is on. When it fails after it began, the next start completes it.
    pub async fn restore(
        &self,
        service: &ServiceName,
        from: Option<&str>,
        who: &str,
    ) -> Result<Restored, RestoreError> {
        let named = !who.trim().is_empty()
            && who.chars().count() <= 64
            && !who.chars().any(char::is_control);
        if !named {
            return Err(RestoreError::Who);
        }
        let from = from.map(stamp).transpose()?;
        let _lock = self.home.lock(service)?;
        self.settle_past(service).await?;
        let backup = self.chosen(service, from.as_deref())?;
        let now = self.now();
        let id = crate::id::random(8).map_err(|_| RecoveryError::NoRandom)?;
        let quarantine = ProxyQuarantine {
            id: id.clone(),
            folder: crate::quarantine::folder(service.as_str(), now),
            service: service.as_str().to_owned(),
            home: self.home.id.clone(),
            step: Step::Decided.number(),
            before_ms: millis(now),
            backup: backup.name.clone(),
            review: Vec::new(),
        };
        // Nothing begins before it is complete, not even after a crash.
        let hold = ProxyHold {
            id: id.clone(),
            service: service.as_str().to_owned(),
            crash_id: id.clone(),
            kind: Hold::Fix.as_str().to_owned(),
            reason: format!("backup {} is being restored", backup.name),
            at_ms: millis(now),
            cleared_ms: 0,
            cleared_by: String::new(),
        };
        let begun = ProxyEnd {
            hold: Some(hold),
            quarantine: Some(quarantine.clone()),
            ..ProxyEnd::default()
        };
        self.store
            .end_proxy_session(begun)
            .await
            .map_err(RecoveryError::from)?;
        self.carry_out(service, quarantine).await?;
        self.point("restored-by-hand");
        self.finish_restore(&id, who).await?;
        let folder = self
            .store
            .proxy_quarantine(&id)
            .await
            .map_err(RecoveryError::from)?
            .map_or_else(String::new, |one| one.folder);
        Ok(Restored {
            backup,
            folder,
            still_held: self.holds(service).await?.len(),
        })
    }

    async fn finish_restore(&self, id: &str, who: &str) -> Result<(), RecoveryError> {
        let hold = self.store.proxy_hold(id).await?;
        let hold = hold.ok_or(RecoveryError::Inconsistent)?;
        self.record(&blastshield_audit::Event::ProxyCleared {
            proxy: &hold.service,
            id,
            kind: Hold::Fix.as_str(),
            by: who,
        })?;
        let placed = Step::Placed.number();
        self.store
            .clear_proxy_hold(id, who, false, placed, self.now_ms())
            .await?;
        Ok(())
    }

    /// The backup of this name, or the newest good one of this day, or of all.
    fn chosen(&self, service: &ServiceName, from: Option<&str>) -> Result<Backup, RestoreError> {
        let all = self.backups(service)?;
        let of_day = |name: &str| from.is_none_or(|day| name.split('-').next() == Some(day));
        let named = all.iter().find(|(backup, _)| {
            Some(backup.name.as_str()) == from.filter(|from| from.contains('-'))
        });
        let good = all
            .iter()
            .rev()
            .find(|(backup, good)| *good && of_day(&backup.name));
        match named.or(good) {
            Some((backup, true)) => Ok(backup.clone()),
            Some((_, false)) => Err(RestoreError::Damaged),
            None if all.iter().any(|(backup, _)| of_day(&backup.name)) => {
                Err(RestoreError::Damaged)
            }
            None => Err(RestoreError::Unknown),
        }
    }
}

/// `2026-02-23` and `20260223` are the same day; `20260223-2` is the second of it.
fn stamp(from: &str) -> Result<String, RestoreError> {
    let is_number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    let parts: Vec<&str> = from.split('-').collect();
    match parts.as_slice() {
        [day] if is_number(day, 8..=8) => Ok((*day).to_owned()),
        [day, number] if is_number(day, 8..=8) && is_number(number, 1..=3) => Ok(from.to_owned()),
        [year, month, day]
            if is_number(year, 4..=4) && is_number(month, 2..=2) && is_number(day, 2..=2) =>
        {
            Ok(parts.concat())
        }
        _ => Err(RestoreError::Name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_both_forms() {
        assert_eq!(stamp("20260223"), Ok("20260223".to_owned()));
        assert_eq!(stamp("2026-02-23"), Ok("20260223".to_owned()));
        assert_eq!(stamp("20260223-2"), Ok("20260223-2".to_owned()));
        for bad in [
            "",
            "today",
            "2026",
            "2026-2-23",
            "../20260223",
            "20260223-",
            "20260223-2-1",
        ] {
            assert_eq!(stamp(bad), Err(RestoreError::Name), "{bad}");
        }
    }
}
