//! The HTTP API: routes, roles, wire types. It only assembles; what is safe is decided in the crates below it.

mod clock;
mod error;
mod fetching;
mod front;
mod ids;
mod json;
mod judging;
pub mod logs;
mod rendering;
mod retrieve;
mod routes;
mod server;
mod state;
mod tokens;
pub mod wire;

pub use error::{ErrorBody, ErrorDetail};
pub use ids::NoRandomness;
pub use routes::openapi;
pub use server::{Gateway, Local};
pub use state::{StartError, hop_policy};
pub use tokens::TokenError;
