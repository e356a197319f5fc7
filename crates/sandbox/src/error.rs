//! Why nothing was started, or why it ended badly.

use crate::layers::Layer;
use serde::{Deserialize, Serialize};

/// What went wrong. Never holds a path or an argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum SandboxError {
    /// Layers that must hold do not: nothing was started.
    #[error("this machine cannot hold {}: nothing was started", names(.0))]
    Missing(Vec<Layer>),
    /// The confinement asks for something impossible.
    #[error("{0}")]
    Invalid(String),
    /// One step of setting up failed: nothing was started.
    #[error("could not {step} ({os})")]
    Step {
        /// Which.
        step: String,
        /// What the system said.
        os: String,
    },
    /// The command could not be executed.
    #[error("the command could not be started ({0})")]
    Exec(String),
    /// The launcher ended or fell silent before it was done.
    #[error("the launcher {0}")]
    Launcher(String),
}

impl SandboxError {
    pub(crate) fn step(step: &str, error: impl Into<std::io::Error>) -> Self {
        Self::Step {
            step: step.to_owned(),
            os: said(&error.into()),
        }
    }
}

/// What the system said, without anything of ours.
pub(crate) fn said(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => std::io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

fn names(layers: &[Layer]) -> String {
    let names: Vec<&str> = layers.iter().map(|layer| layer.name()).collect();
    names.join(", ")
}
