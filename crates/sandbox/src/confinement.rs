//! What a confined process may do: nothing but what is said here.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Who is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A function of our own program that handles hostile bytes. It may compute, use its line and its files; any other
    /// system call ends it with SIGSYS. It cannot execute, fork, or open a socket.
    Worker,
    /// A command of somebody else. What it may not do fails with EPERM, as ordinary programs expect.
    Plugin,
}

/// What it can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing, not even itself.
    None,
    /// One listener of ours on its own loopback: [`crate::Sandboxed::listener`]. The proxy variables name it.
    Proxied,
    /// Everything this machine reaches.
    Full,
}

/// What happens when this machine cannot hold a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Nothing is started.
    Refuse,
    /// Start with what there is, and say what is missing; without the last wall (system calls, files, network) still
    /// nothing is started.
    Degrade,
}

/// Where its standard streams go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Streams {
    /// Nowhere: what it writes is gone, and there is nothing to read.
    Nowhere,
    /// Three pipes of the caller, who must read them: a process that is not heard out waits.
    Pipes,
    /// The caller's own streams, its terminal with them.
    Inherit,
}

/// How much it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of writable private memory a process (RLIMIT_DATA), and of the whole tree where control groups can be used.
    pub memory: u64,
    /// Seconds of processor time a process.
    pub cpu: u64,
    /// Open descriptors a process.
    pub files: u64,
    /// Processes and threads of the tree.
    pub processes: u64,
    /// Bytes of the largest file that it writes.
    pub file_size: u64,
    /// Bytes of its private `/tmp`; 0 for none.
    pub scratch: u64,
}

const MIB: u64 = 1024 * 1024;

/// Everything about one confined process. Clear by default: no files, no network, no environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Who.
    pub role: Role,
    /// Folders and files that it may read and, as [`Role::Plugin`], execute.
    pub read: Vec<PathBuf>,
    /// Folders that it may also write.
    pub write: Vec<PathBuf>,
    /// The libraries and programs of this system are readable: see [`crate::system_paths`].
    pub system: bool,
    /// What it reaches.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
    /// What happens when a layer cannot hold.
    pub missing: Missing,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Its working folder; the first writable one, or `/`.
    pub folder: Option<PathBuf>,
    /// Where its streams go.
    pub streams: Streams,
}

impl Confinement {
    /// For a function of ours: no files, no network, 256 MiB, no processes; refuses where a layer is missing.
    pub fn worker() -> Self {
        Self {
            role: Role::Worker,
            read: Vec::new(),
            write: Vec::new(),
            system: false,
            network: Network::None,
            limits: Limits {
                memory: 256 * MIB,
                cpu: 60,
                files: 64,
                processes: 32,
                file_size: 16 * MIB,
                scratch: 0,
            },
            missing: Missing::Refuse,
            env: Vec::new(),
            folder: None,
            streams: Streams::Pipes,
        }
    }

    /// For a command of somebody else: the system's programs and libraries, no network, 256 MiB, a plain environment.
    pub fn plugin() -> Self {
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/tmp"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
        ];
        Self {
            role: Role::Plugin,
            system: true,
            limits: Limits {
                memory: 256 * MIB,
                cpu: 300,
                files: 256,
                processes: 64,
                file_size: 256 * MIB,
                scratch: 64 * MIB,
            },
            env: env.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec(),
            ..Self::worker()
        }
    }

    /// May also read this.
    #[must_use]
    pub fn read(mut self, path: impl AsRef<Path>) -> Self {
        self.read.push(path.as_ref().to_owned());
        self
    }

    /// May also read and write below this.
    #[must_use]
    pub fn write(mut self, path: impl AsRef<Path>) -> Self {
        self.write.push(path.as_ref().to_owned());
        self
    }

    /// Reaches this.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// May use this much memory.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory = bytes;
        self
    }

    /// May use this much.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Does this when a layer cannot hold.
    #[must_use]
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Has this variable, in place of one of the same name.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts in this folder, which it must be able to read.
    #[must_use]
    pub fn folder(mut self, path: impl AsRef<Path>) -> Self {
        self.folder = Some(path.as_ref().to_owned());
        self
    }

    /// Its streams go there.
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }
}
