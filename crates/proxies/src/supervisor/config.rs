//! What a supervisor works with.

use super::Definitions;
use crate::broker::{Dialler, Token};
use crate::worker::How;
use blastshield_audit::Clock;
use blastshield_detect::Detector;
use blastshield_leak::Scanner;
use blastshield_owner::{Approvals, Recorder};
use blastshield_sandbox::{Launcher, Missing};
use blastshield_store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Gives the scanner as it is now: canaries may be added while core runs.
pub type ScannerSource = Arc<dyn Fn() -> Scanner + Send + Sync>;
/// Gives the value of a variable that holds a credential.
pub type CredentialSource = Arc<dyn Fn(&str) -> Option<Token> + Send + Sync>;

/// What a supervisor works with.
pub struct Config {
    /// The data folder; everything lies in its `proxies`.
    pub data: PathBuf,
    /// The services.
    pub definitions: Definitions,
    /// Whether plain HTTP to this machine is allowed, for tests.
    pub loopback: bool,
    /// Whether the model scores too.
    pub enhanced: bool,
    /// `baseline`, `strict` or `paranoid`.
    pub profile: &'static str,
    /// Whether the owner approves each post, whatever a tier says.
    pub posts_need_approval: bool,
    /// Workers kept ready for each service in use.
    pub ready: usize,
    /// How long such a worker may wait.
    pub ready_idle: Duration,
    /// Tasks that may be on at once.
    pub max_tasks: usize,
    /// What happens when this machine cannot hold a layer of the sandbox.
    pub missing: Missing,
    /// Paths that must not leave.
    pub internal_paths: Vec<String>,
    /// Terms that must not leave.
    pub internal_terms: Vec<String>,
    /// Starts workers.
    pub launcher: Launcher,
    /// The detector.
    pub detector: Arc<Detector>,
    /// What must not leave.
    pub scanner: ScannerSource,
    /// Credentials.
    pub credential: CredentialSource,
    /// The way out.
    pub dialler: Dialler,
    /// The owner.
    pub approvals: Approvals,
    /// Whether the owner has closed all ways out: then nothing runs, and what runs is ended.
    pub stop: watch::Receiver<bool>,
    /// Where tasks are kept.
    pub store: Store,
    /// The audit log.
    pub recorder: Arc<dyn Recorder>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

impl Config {
    /// What workers are prepared for.
    pub(super) fn how(&self) -> How {
        How {
            enhanced: self.enhanced,
            internal_paths: self.internal_paths.clone(),
            internal_terms: self.internal_terms.clone(),
        }
    }
}
