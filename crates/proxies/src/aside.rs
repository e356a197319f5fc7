//! Work that waits for the disk or takes the processor, while other tasks of the thread go on elsewhere.

use tokio::runtime::{Handle, RuntimeFlavor};

pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
