//! The gateway as its clients meet it: a real listener, real origins, real files, all on loopback.
//!
//! Origins on loopback are reached through the operator's exception and in no other way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

#[path = "../common/mod.rs"]
mod common;

mod actions;
mod addresses;
mod approvals;
mod attacks;
mod browsing;
mod deciding;
mod domains;
mod environment;
mod every_route;
mod guard;
mod hostile;
mod judging;
mod logs;
mod openapi;
mod pages;
mod planted;
mod quarantine;
mod reaching;
mod rendering;
mod requests;
mod roles;
mod running;
mod saying;
mod searching;
mod sessions;
mod shapes;
mod variables;
mod wallet;
