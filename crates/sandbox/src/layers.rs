//! The layers, and which of them hold.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One layer of confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Nothing executed gains rights.
    NoNewPrivs,
    /// An own user namespace: its rights mean nothing outside.
    UserNamespace,
    /// An own view of the files: only what was given is there.
    MountNamespace,
    /// An own network without any device but loopback.
    NetworkNamespace,
    /// An own process table: nobody else is in it, and all in it end together.
    PidNamespace,
    /// Own System V objects and message queues.
    IpcNamespace,
    /// An own host name.
    UtsNamespace,
    /// No capability, and none to gain.
    Capabilities,
    /// Landlock on files.
    LandlockFiles,
    /// Landlock on TCP.
    LandlockNetwork,
    /// Landlock on abstract sockets and signals.
    LandlockScope,
    /// The list of system calls.
    Seccomp,
    /// Memory, processor time, descriptors, file sizes, core dumps.
    ResourceLimits,
    /// The number of processes.
    ProcessLimit,
    /// Memory of the whole tree.
    CgroupMemory,
    /// It ends when we do.
    ParentDeath,
    /// It is signalled by descriptor and not by a number that could be reused.
    Pidfd,
}

impl Layer {
    /// Every layer, in the order in which they are told.
    pub const ALL: [Self; 17] = [
        Self::NoNewPrivs,
        Self::UserNamespace,
        Self::MountNamespace,
        Self::NetworkNamespace,
        Self::PidNamespace,
        Self::IpcNamespace,
        Self::UtsNamespace,
        Self::Capabilities,
        Self::LandlockFiles,
        Self::LandlockNetwork,
        Self::LandlockScope,
        Self::Seccomp,
        Self::ResourceLimits,
        Self::ProcessLimit,
        Self::CgroupMemory,
        Self::ParentDeath,
        Self::Pidfd,
    ];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoNewPrivs => "no_new_privs",
            Self::UserNamespace => "user_namespace",
            Self::MountNamespace => "mount_namespace",
            Self::NetworkNamespace => "network_namespace",
            Self::PidNamespace => "pid_namespace",
            Self::IpcNamespace => "ipc_namespace",
            Self::UtsNamespace => "uts_namespace",
            Self::Capabilities => "capabilities",
            Self::LandlockFiles => "landlock_files",
            Self::LandlockNetwork => "landlock_network",
            Self::LandlockScope => "landlock_scope",
            Self::Seccomp => "seccomp",
            Self::ResourceLimits => "resource_limits",
            Self::ProcessLimit => "process_limit",
            Self::CgroupMemory => "cgroup_memory",
            Self::ParentDeath => "parent_death",
            Self::Pidfd => "pidfd",
        }
    }
}

/// How one layer stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Standing {
    /// It was applied and the kernel confirmed it.
    Holds {
        /// What exactly, such as the version of an interface.
        detail: String,
    },
    /// The kernel refused or does not have it.
    Missing {
        /// What the kernel said.
        why: String,
    },
    /// The confinement does not ask for it.
    Unasked,
}

/// How each layer stands for one process, or on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layers(pub(crate) BTreeMap<Layer, Standing>);

impl Layers {
    /// How this one stands; a layer that nobody spoke of is missing.
    pub fn standing(&self, layer: Layer) -> Standing {
        self.0
            .get(&layer)
            .cloned()
            .unwrap_or_else(|| Standing::Missing {
                why: "not reported".to_owned(),
            })
    }

    /// Whether it holds.
    pub fn holds(&self, layer: Layer) -> bool {
        matches!(self.0.get(&layer), Some(Standing::Holds { .. }))
    }

    /// Each layer in order.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, Standing)> + '_ {
        Layer::ALL
            .into_iter()
            .map(|layer| (layer, self.standing(layer)))
    }

    /// What was asked for and is missing.
    pub fn missing(&self) -> Vec<Layer> {
        Layer::ALL
            .into_iter()
            .filter(|layer| matches!(self.standing(*layer), Standing::Missing { .. }))
            .collect()
    }

    pub(crate) fn hold(&mut self, layer: Layer, detail: impl Into<String>) {
        let detail = detail.into();
        self.0.insert(layer, Standing::Holds { detail });
    }

    pub(crate) fn miss(&mut self, layer: Layer, why: impl Into<String>) {
        let why = why.into();
        self.0.insert(layer, Standing::Missing { why });
    }

    pub(crate) fn unasked(&mut self, layer: Layer) {
        self.0.insert(layer, Standing::Unasked);
    }
}
