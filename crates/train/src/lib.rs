//! Trains the embedded model: rows in, weights out, the same inputs giving the same bytes.
//!
//! Nothing here reads files or clocks: the command line brings the rows, this crate adds the
//! rows made from its phrase banks, fits the weights and calibrates them on sources that the
//! fit has not seen.

mod bank;
mod calibrate;
mod fit;
mod generate;
mod leave_out;
mod random;
mod row;
mod samples;

pub use bank::{Bank, BankError, shipped_banks};
pub use calibrate::{Rates, calibrate, threshold_at};
pub use fit::{FitOptions, fit};
pub use generate::{Recipe, generate};
pub use leave_out::{Fold, benign_groups, folds};
pub use row::Row;
pub use samples::{Sample, Samples};
