//! A gateway in this process, and everything that it talks to, on loopback.

mod fakes;
mod gateway;
mod guarded;
mod names;
mod origin;
mod texts;

pub(crate) use fakes::*;
pub(crate) use gateway::*;
pub(crate) use guarded::*;
pub(crate) use names::*;
pub(crate) use origin::*;
pub(crate) use texts::*;
