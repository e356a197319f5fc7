//! Confinement of a child process on Linux, without root: namespaces, Landlock, seccomp, limits.
//!
//! The program runs itself again. The new process, while it has one thread, reads its [`Confinement`], takes away
//! everything else from itself, and then executes a command ([`Role::Plugin`]) or returns into a function of the same
//! program ([`Role::Worker`]), which so never sees anything that it was not given.
//!
//! ```no_run
//! use blastshield_sandbox::{Confinement, Launcher, enter_if_asked};
//!
//! // First thing in main, before any thread exists.
//! if let Some(inside) = enter_if_asked() {
//!     // Confined: `inside.job` says what to do, `inside.line` is all there is of the outside.
//!     return Ok(());
//! }
//! let confinement = Confinement::worker().write("/srv/blastshield/workspace");
//! let mut child = Launcher::this_program().worker("proxy", &confinement)?;
//! let line = child.line.take();
//! let exit = child.wait()?;
//! # Ok::<(), blastshield_sandbox::SandboxError>(())
//! ```

mod calls;
mod cgroup;
mod confinement;
mod demand;
mod ends;
mod error;
mod launch;
mod layers;
mod paths;
mod run;
mod spawn;
mod started;
mod starter;
mod sys;
mod template;
mod wire;

pub use calls::container_profile;
pub use confinement::{Confinement, Limits, Missing, Network, Role, Streams};
pub use demand::lacking;
pub use error::SandboxError;
pub use layers::{Layer, Layers, Standing};
pub use run::{Bounds, Finished, Source};
pub use spawn::{Exit, Killer, Launcher, Sandboxed};
pub use template::Template;

use std::os::unix::net::UnixStream;

/// A worker, confined.
#[derive(Debug)]
pub struct Inside {
    /// What it was started for.
    pub job: String,
    /// The line to the one that started it: [`Sandboxed::line`].
    pub line: UnixStream,
    /// Which layers hold.
    pub layers: Layers,
}

/// Call this first thing in `main`, before any thread exists. `None`: this is an ordinary run of the program. `Some`: this
/// is a confined worker. In a process that was to become a command, or that could not be confined, it does not return.
pub fn enter_if_asked() -> Option<Inside> {
    enter_or_prepare(|_, _| ()).map(|(inside, _)| inside)
}

/// As [`enter_if_asked`], for programs whose workers are started by a [`Template`]: there `prepare` gets its job and how, and
/// each worker that is forked of it what `prepare` made. It must leave no thread behind.
pub fn enter_or_prepare<T>(prepare: impl FnOnce(&str, &str) -> T) -> Option<(Inside, Option<T>)> {
    launch::enter_or_prepare(prepare)
}

/// What [`Confinement::system`] makes readable: programs, libraries, certificates and time zones; no accounts, no homes, no
/// configuration. Those that do not exist here are left out.
pub fn system_paths() -> &'static [&'static str] {
    SYSTEM
}

const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/ca-certificates",
];
