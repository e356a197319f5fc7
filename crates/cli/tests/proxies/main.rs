//! Security proxies end to end: the real program, the real sandbox, and a hostile service on loopback.
//!
//! Where the kernel lacks a layer of the sandbox the program refuses to start a worker and every test here fails with its
//! name; nothing is skipped in silence.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::needless_pass_by_value,
    reason = "a test may fail loudly"
)]

mod approvals;
mod bench;
mod commands;
mod core;
mod crashes;
mod ends;
mod faults;
mod limits;
mod many;
mod relations;
mod restarts;
mod restoring;
mod secrets;
mod service;
mod stops;
mod tasks;
