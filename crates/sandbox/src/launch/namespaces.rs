//! Into namespaces of its own, as far as this machine permits.

use crate::confinement::{Confinement, Network};
use crate::error::said;
use crate::layers::{Layer, Layers};
use crate::sys;
use rustix::process::{Gid, Uid};
use rustix::thread::UnshareFlags;

/// Who it is inside. Outside it is whoever started it, without any right over others.
const INNER: u32 = 1000;

/// Enters each namespace that the confinement asks for; none of them is an error, [`crate::demand`] judges.
pub(super) fn enter(confinement: &Confinement, layers: &mut Layers) {
    let outer = (rustix::process::geteuid(), rustix::process::getegid());
    super::limits::remember_root(outer.0.is_root());
    if outer.0.is_root() {
        // Groups give access to files, and can only be left before the namespace.
        let _ = rustix::thread::set_thread_groups(&[]);
    }
    // Without it, only root may enter the others.
    match sys::unshare(UnshareFlags::NEWUSER).and_then(|()| map(outer)) {
        Ok(()) => layers.hold(Layer::UserNamespace, format!("uid {INNER} inside")),
        Err(error) => layers.miss(Layer::UserNamespace, said(&error)),
    }
    let asked = [
        (Layer::MountNamespace, UnshareFlags::NEWNS),
        (Layer::PidNamespace, UnshareFlags::NEWPID),
        (Layer::IpcNamespace, UnshareFlags::NEWIPC),
        (Layer::UtsNamespace, UnshareFlags::NEWUTS),
    ];
    for (layer, flag) in asked {
        one(layer, flag, layers);
    }
    if confinement.network == Network::Full {
        layers.unasked(Layer::NetworkNamespace);
    } else {
        one(Layer::NetworkNamespace, UnshareFlags::NEWNET, layers);
    }
    let _ = sys::unshare(UnshareFlags::NEWCGROUP);
    if layers.holds(Layer::UtsNamespace) {
        let _ = rustix::system::sethostname(b"sandbox");
    }
}

fn one(layer: Layer, flag: UnshareFlags, layers: &mut Layers) {
    match sys::unshare(flag) {
        Ok(()) => layers.hold(layer, "own"),
        Err(error) => layers.miss(layer, said(&error)),
    }
}

/// Says who it is inside. Some systems permit the namespace and not this: then it has no right in it either.
fn map((user, group): (Uid, Gid)) -> std::io::Result<()> {
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{INNER} {} 1", user.as_raw()))?;
    std::fs::write(
        "/proc/self/gid_map",
        format!("{INNER} {} 1", group.as_raw()),
    )
}
