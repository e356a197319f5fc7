//! Thousands of tunnels need thousands of descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the number of open files to what this process may have; how many that is.
#[must_use]
pub fn raise_descriptor_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if limit.current < limit.maximum && setrlimit(Resource::Nofile, raised).is_err() {
        return limit.current;
    }
    limit.maximum
}
