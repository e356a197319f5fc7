//! The proxy from outside: clients, origins and an owner, all on this machine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod abuse;
mod asking;
mod clients;
mod inspecting;
mod intercepting;
mod lockdown;
mod names;
mod node;
mod origin;
mod plain;
mod reuse;
mod tunnels;
mod world;
