//! Landlock: the same files again, by another mechanism, and TCP, abstract sockets and signals.

use crate::confinement::{Confinement, Network, Role};
use crate::error::SandboxError;
use crate::layers::{Layer, Layers};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::path::Path;

/// The version whose rights are asked for; an older kernel gives what it has.
const VERSION: ABI = ABI::V6;
/// Devices that every program may use.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Which of the usual folders are its own. Without a view they are everybody's: `/tmp` with the files of others, `/proc`
/// with their environment.
#[derive(Clone, Copy)]
struct Own {
    scratch: bool,
    processes: bool,
}

/// Restricts this process and what it becomes.
pub(super) fn restrict(confinement: &Confinement, layers: &mut Layers) -> Result<(), SandboxError> {
    let view = layers.holds(Layer::MountNamespace);
    let own = Own {
        scratch: confinement.limits.scratch > 0 && view,
        processes: layers.holds(Layer::PidNamespace) && view,
    };
    match ruleset(confinement, own) {
        Ok(status) => report(&status, confinement, layers),
        Err(error) => {
            // Asked for best effort, so this is not an old kernel but a wrong request.
            let _ = error;
            return Err(SandboxError::Step {
                step: "restrict files".to_owned(),
                os: "Landlock refused the rules".to_owned(),
            });
        }
    }
    Ok(())
}

fn ruleset(confinement: &Confinement, own: Own) -> Result<RestrictionStatus, RulesetError> {
    let mut asked = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?;
    if confinement.network == Network::None {
        // Handled and never allowed.
        asked = asked.handle_access(AccessNet::from_all(VERSION))?;
    }
    let mut rules = asked.create()?;
    let read = match confinement.role {
        Role::Worker => AccessFs::ReadFile | AccessFs::ReadDir,
        Role::Plugin => AccessFs::from_read(VERSION),
    };
    // No device is ever made, and none is controlled.
    let write = read
        | (AccessFs::from_write(VERSION)
            & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev));
    if confinement.system {
        for path in crate::SYSTEM {
            rules = allow(rules, Path::new(path), read)?;
        }
    }
    if confinement.role == Role::Plugin {
        for path in DEVICES {
            rules = allow(
                rules,
                Path::new(path),
                AccessFs::ReadFile | AccessFs::WriteFile,
            )?;
        }
        if own.processes {
            rules = allow(
                rules,
                Path::new("/proc"),
                AccessFs::ReadFile | AccessFs::ReadDir,
            )?;
        }
    }
    if own.scratch {
        rules = allow(rules, Path::new("/tmp"), write)?;
    }
    for path in &confinement.read {
        rules = allow(rules, path, read)?;
    }
    for path in &confinement.write {
        rules = allow(rules, path, write)?;
    }
    rules.restrict_self()
}

/// What exists is allowed; what does not needs no permission.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(found) = std::fs::metadata(path) else {
        return Ok(rules);
    };
    let Ok(place) = PathFd::new(path) else {
        return Ok(rules);
    };
    let access = if found.is_dir() {
        access
    } else {
        access & AccessFs::from_file(VERSION)
    };
    rules.add_rule(PathBeneath::new(place, access))
}

fn report(status: &RestrictionStatus, confinement: &Confinement, layers: &mut Layers) {
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as i32,
        LandlockStatus::NotEnabled => return none(layers, "Landlock is not enabled at boot"),
        LandlockStatus::NotImplemented => return none(layers, "the kernel has no Landlock"),
    };
    if status.ruleset == RulesetStatus::NotEnforced {
        return none(layers, "the kernel enforces nothing");
    }
    layers.hold(
        Layer::LandlockFiles,
        format!("version {version}: {}", rights(version)),
    );
    let older = |since: i32| format!("version {version}, needs {since}");
    if confinement.network != Network::None {
        layers.unasked(Layer::LandlockNetwork);
    } else if version >= 4 {
        layers.hold(Layer::LandlockNetwork, "no TCP");
    } else {
        layers.miss(Layer::LandlockNetwork, older(4));
    }
    if version >= 6 {
        layers.hold(
            Layer::LandlockScope,
            "no abstract socket or process of others",
        );
    } else {
        layers.miss(Layer::LandlockScope, older(6));
    }
}

fn rights(version: i32) -> &'static str {
    match version {
        ..=1 => "read, write, execute, make, remove",
        2 => "read, write, execute, make, remove, move",
        3 | 4 => "read, write, execute, make, remove, move, truncate",
        _ => "read, write, execute, make, remove, move, truncate, control devices",
    }
}

fn none(layers: &mut Layers, why: &str) {
    for layer in [
        Layer::LandlockFiles,
        Layer::LandlockNetwork,
        Layer::LandlockScope,
    ] {
        layers.miss(layer, why);
    }
}
