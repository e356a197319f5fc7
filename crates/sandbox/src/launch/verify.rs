//! Tries each layer from within: what was applied and does not stop anything does not hold.

use crate::confinement::Confinement;
use crate::layers::{Layer, Layers};
use crate::sys;
use rustix::process::{Resource, Signal};

/// Takes back every layer that does not stop what it should.
pub(super) fn verify(confinement: &Confinement, layers: &mut Layers) {
    let limits = &confinement.limits;
    let within = |resource, most: u64| {
        rustix::process::getrlimit(resource)
            .maximum
            .is_some_and(|hard| hard <= most)
    };
    let none_left = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.is_empty() && sets.permitted.is_empty());
    let stands = [
        (
            Layer::NoNewPrivs,
            rustix::thread::no_new_privs().unwrap_or(false),
        ),
        (Layer::UserNamespace, !rustix::process::getuid().is_root()),
        (
            Layer::MountNamespace,
            !exists("/etc/passwd") && !exists("/sys/kernel") && !exists("/root"),
        ),
        // The first process of the table is ours, this is the next.
        (
            Layer::PidNamespace,
            rustix::process::getpid().as_raw_nonzero().get() == 2,
        ),
        (
            Layer::UtsNamespace,
            rustix::system::uname().nodename().to_bytes() == b"sandbox",
        ),
        (Layer::Capabilities, none_left),
        // The root is there, but nobody gave it.
        (Layer::LandlockFiles, std::fs::read_dir("/").is_err()),
        (Layer::Seccomp, sys::personality().is_err()),
        (
            Layer::ResourceLimits,
            within(Resource::Data, limits.memory)
                && within(Resource::Cpu, limits.cpu)
                && within(Resource::Nofile, limits.files)
                && within(Resource::Core, 0),
        ),
        (
            Layer::ParentDeath,
            rustix::process::parent_process_death_signal() == Ok(Some(Signal::KILL)),
        ),
    ];
    for (layer, stopped) in stands {
        if layers.holds(layer) && !stopped {
            layers.miss(layer, "it was applied, and stops nothing");
        }
    }
}

fn exists(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
