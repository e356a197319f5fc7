//! What is found, told to the owner: it goes into the audit log, and from there to the channels. While a gateway runs the
//! log is its own, and it is asked to write.

use super::look::Looked;
use super::options::MemoryScanOptions;
use crate::quarantine::audit;
use crate::remote::Remote;
use crate::settings::settings;
use anyhow::{Context, bail};
use blastshield_audit::{Digest, Event, Fingerprint, LogError, Risk};
use blastshield_config::Settings;
use blastshield_detect::Severity;
use serde_json::json;

/// Whom to tell, if anybody.
pub(super) struct Owner(Option<Settings>);

impl Owner {
    pub(super) fn of(options: &MemoryScanOptions) -> anyhow::Result<Self> {
        let settings = options.tell.then(|| settings(&options.settings));
        settings.transpose().map(Self)
    }

    /// Tells of a poisoned file, or says on standard error why nobody was told: whether the owner knows.
    pub(super) fn tell(&self, looked: &Looked, quarantined: bool) -> bool {
        let told = self
            .0
            .as_ref()
            .map_or(Ok(()), |settings| record(settings, looked, quarantined));
        if let Err(error) = &told {
            eprintln!("blastshield: the owner was not told: {error:#}");
        }
        told.is_ok()
    }
}

fn record(settings: &Settings, looked: &Looked, quarantined: bool) -> anyhow::Result<()> {
    let file = &looked.file;
    let sha256 = Digest::parse(&file.hash).context("the hash of a file is none")?;
    match audit(settings) {
        Ok(audit) => {
            let event = Event::MemoryPoisoned {
                file: &file.path,
                risk: risk(looked.severity),
                content: Fingerprint {
                    sha256,
                    length: looked.length as u64,
                },
                quarantined,
            };
            audit.record(&event).context("the audit log")?;
            audit.tick().context("the audit log")
        }
        Err(LogError::Busy) => {
            let body = json!({
                "file": file.path, "score": looked.score, "sha256": file.hash, "length": looked.length,
                "quarantined": quarantined,
            });
            let answer = Remote::of(settings)?.post("/v1/memory/findings", &body)?;
            if !answer.is_ok() {
                bail!("{}", answer.message());
            }
            Ok(())
        }
        Err(error) => Err(error).context("the audit log"),
    }
}

const fn risk(severity: Severity) -> Risk {
    match severity {
        Severity::Low => Risk::Low,
        Severity::Medium => Risk::Medium,
        Severity::High => Risk::High,
        Severity::Critical => Risk::Critical,
    }
}
