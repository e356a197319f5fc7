//! Payments over Lightning that an agent may ask for and only the owner can allow.
//!
//! An invoice is verified, its sats are set aside from the day's limit, the owner is asked, and then it is sent to LNbits
//! in one request, which is never repeated: whatever is unclear after that is found out by looking. Each step is on disk
//! before the next begins, so that a process that dies anywhere pays nothing twice and forgets nothing.

#![cfg_attr(test, allow(clippy::string_slice, reason = "a test may fail loudly"))]

mod drive;
mod error;
mod invoice;
mod mode;
mod options;
mod payment;
mod request;
mod settle;
mod status;
mod step;
mod wallet;
mod zone;

pub use drive::Running;
pub use error::{PayError, ResolveError, WaitError};
pub use invoice::{Invoice, InvoiceError, MAX_INVOICE, Network};
pub use mode::Mode;
pub use options::{Fees, Options, Pace};
pub use payment::{Outcome, Payment, State};
pub use request::{MAX_MEMO, Wish};
pub use status::Status;
pub use wallet::Wallet;
pub use zone::{Zone, ZoneError};
