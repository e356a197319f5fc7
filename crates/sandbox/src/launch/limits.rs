//! How much it may use.
//!
//! Memory is RLIMIT_DATA: it counts private writable memory, which is what a hog takes. RLIMIT_AS would also count
//! address space that is only reserved (64 MiB for each thread's heap, gigabytes in some interpreters), so that it either
//! breaks honest programs or is too large to catch anything. What RLIMIT_DATA does not count, shared anonymous memory and
//! memory files, the list of system calls denies.

use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::layers::{Layer, Layers};
use rustix::process::{Resource, Rlimit};

/// The smallest table of processes that the kernel permits.
const SMALLEST_TABLE: u64 = 301;

/// Bounds the number of processes by the size of its own process table, where the kernel keeps one for each: the other
/// limit does not bind processes that root started. Called by the first process of the table, while it has rights.
pub(super) fn processes(confinement: &Confinement, layers: &mut Layers) {
    let own_table = layers.holds(Layer::PidNamespace)
        && rustix::process::getpid().is_init()
        && own_table_size();
    if own_table {
        let most = confinement.limits.processes.max(SMALLEST_TABLE);
        if std::fs::write("/proc/sys/kernel/pid_max", most.to_string()).is_ok() {
            layers.hold(Layer::ProcessLimit, format!("a table of {most}"));
        }
    }
}

/// Whether each table has its own size here. Before that, the file that sets it would set it for the whole machine.
fn own_table_size() -> bool {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    newer(&release)
}

fn newer(release: &str) -> bool {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 14)
}

/// Sets every limit, soft and hard, so that none can be raised again.
pub(super) fn apply(confinement: &Confinement, layers: &mut Layers) -> Result<(), SandboxError> {
    let limits = &confinement.limits;
    let asked = [
        (Resource::Data, limits.memory),
        (Resource::Cpu, limits.cpu),
        (Resource::Nofile, limits.files),
        (Resource::Fsize, limits.file_size),
        (Resource::Core, 0),
        (Resource::Memlock, 64 * 1024),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    for (resource, most) in asked {
        set(resource, most)?;
    }
    layers.hold(
        Layer::ResourceLimits,
        format!("{} MiB of data, {} s", limits.memory >> 20, limits.cpu),
    );
    bound_processes(confinement, layers)
}

/// The limit counts the processes of this user in this namespace, of which three are ours.
fn bound_processes(confinement: &Confinement, layers: &mut Layers) -> Result<(), SandboxError> {
    let bound_by_table = layers.holds(Layer::ProcessLimit);
    if !layers.holds(Layer::UserNamespace) {
        // It would count everything that this user runs.
        if !bound_by_table {
            layers.miss(
                Layer::ProcessLimit,
                "without a user namespace it would count everybody's",
            );
        }
        return Ok(());
    }
    let most = confinement.limits.processes.saturating_add(3);
    set(Resource::Nproc, most)?;
    if !of_root() {
        layers.hold(
            Layer::ProcessLimit,
            format!("{}", confinement.limits.processes),
        );
    } else if !bound_by_table {
        layers.miss(
            Layer::ProcessLimit,
            "does not bind root, and the kernel is older than 6.14",
        );
    }
    Ok(())
}

/// Whether we are root outside: inside, the map of users says who that is.
fn of_root() -> bool {
    rustix::process::geteuid().is_root() || OUTSIDE_ROOT.load(std::sync::atomic::Ordering::Relaxed)
}

static OUTSIDE_ROOT: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// To be told before the user namespace hides it.
pub(super) fn remember_root(root: bool) {
    OUTSIDE_ROOT.store(root, std::sync::atomic::Ordering::Relaxed);
}

fn set(resource: Resource, most: u64) -> Result<(), SandboxError> {
    // Somebody may have set a lower one; it stays.
    let most = match rustix::process::getrlimit(resource).maximum {
        Some(hard) => hard.min(most),
        None => most,
    };
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    rustix::process::setrlimit(resource, limit).map_err(|e| SandboxError::step("set a limit", e))
}

#[cfg(test)]
mod tests {
    use super::newer;

    #[test]
    fn only_kernels_with_own_tables_are_asked_for_one() {
        for release in ["6.14.0", "6.18.44-fc-v445", "7.0-rc1", "10.1"] {
            assert!(newer(release), "{release}");
        }
        for release in ["6.13.9", "5.15.0-91-generic", "4.4.0", "", "strange"] {
            assert!(!newer(release), "{release}");
        }
    }
}
