//! The HTTP API: routes, roles, wire types. It only assembles; what is safe is decided in the crates below it.

mod addresses;
mod clock;
mod error;
mod fetching;
mod front;
mod guard;
mod ids;
mod json;
mod judging;
mod kinds;
pub mod logs;
mod probe;
mod recording;
mod rendering;
mod retrieve;
mod routes;
mod server;
mod state;
mod tokens;
pub mod wire;
mod work;

pub use error::{ErrorBody, ErrorDetail};
pub use guard::GuardError;
pub use ids::NoRandomness;
pub use routes::openapi;
pub use server::{Gateway, Local};
pub use state::{StartError, hop_policy};
pub use tokens::TokenError;
