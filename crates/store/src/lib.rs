//! One store: SQLite embedded, PostgreSQL when several gateways share it.
//!
//! A write that returned `Ok` outlives the program, however it ends. It is on the disk too, but for records of searches
//! and of pages that were let through, which may take half a second more (see [`StoreOptions::sync_every_record`]).
//! Writers that wait at the same time share one commit, so that the price of that promise falls as load rises. Queues, records, answers and waits are bounded; the clock is passed in.
//!
//! ```
//! use blastshield_store::{Store, StoreOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), blastshield_store::StoreError> {
//! # let folder = tempfile::tempdir().map_err(|_| blastshield_store::StoreError::Unavailable)?;
//! let store = Store::open(StoreOptions::sqlite(folder.path().join("blastshield.db"))).await?;
//! store.ping().await?;
//! assert!(store.find_result("no-such-id", 0).await?.is_none());
//! store.close().await;
//! # Ok(())
//! # }
//! ```

mod alerts;
mod backend;
mod bounds;
mod channels;
mod error;
mod files;
mod grants;
mod guard;
mod insert;
mod inspect;
mod lockdown;
mod options;
mod owner;
mod prune;
mod readers;
mod records;
mod recovery;
mod rows;
mod schema;
mod store;
mod syncing;
mod tasks;
mod wallet;
mod writer;

pub use alerts::WaitingAlert;
pub use channels::Notice;
pub use error::StoreError;
pub use grants::GrantRecord;
pub use guard::{CanaryRecord, MAX_CANARIES, SessionHold};
pub use inspect::{StoreState, beside, is_local};
pub use lockdown::LockdownRecord;
pub use options::StoreOptions;
pub use owner::{ApprovalLimits, ApprovalPage, ApprovalRecord, Ruling};
pub use prune::Pruned;
pub use records::{
    CachedResult, Cursor, FetchDecision, FetchEvent, FetchKind, FlaggedPayload, FlaggedSummary,
    SearchRecord,
};
pub use recovery::{ProxyCrash, ProxyEnd, ProxyHold, ProxyQuarantine, ProxySession};
pub use schema::LATEST as SCHEMA_VERSION;
pub use store::Store;
pub use tasks::{MAX_TASK_ANSWER, ProxyTask};
pub use wallet::{DaySum, PaymentRecord, PaymentStep, Reserved};
