//! The only way out: a forward proxy that lets agents reach what the owner allows, and asks the owner about the rest.
//!
//! A request is read strictly ([`http`]), judged by lists and the owner ([`decide`]), and goes to an address that was
//! checked after it was resolved. Tunnels must speak TLS with the host that they were opened for; what can be looked
//! into passes the leak filter on its way out and the injection stage on its way back.

pub mod agents;
mod ca;
mod connection;
pub mod decide;
mod decode;
mod descriptors;
mod desk;
mod dial;
mod exchange;
mod held;
mod hello;
pub mod http;
mod inspect;
mod intercept;
mod journal;
mod lockdown;
mod messages;
mod metrics;
mod options;
mod origin;
mod passing;
mod refusal;
mod server;
mod tunnel;
mod websocket;
mod wire;
mod wording;

pub use agents::{Agent, Agents};
pub use ca::{Ca, CaError};
pub use decide::{AgentPolicy, Mode, Policy, Rule, Unlisted, Verdict};
pub use descriptors::raise_descriptor_limit;
pub use dial::Dialer;
pub use hello::{Hello, HelloError, MAX_HELLO};
pub use journal::Scanners;
pub use lockdown::{Lockdown, LockdownError};
pub use metrics::Metrics;
pub use options::{Limits, TlsRules};
pub use refusal::Refusal;
pub use server::{Egress, Parts, SetupError};
