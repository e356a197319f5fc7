//! Guarded retrieval: resolve once, check, dial what was checked, read within limits.
//!
//! [`Fetcher::fetch`] walks redirects by hand. Every hop passes the current [`HopPolicy`], is resolved once, and only the
//! addresses that the guard admitted are dialled: [`Connector`] takes nothing but [`PublicAddr`]s.

mod body;
mod connector;
mod encoding;
mod error;
mod exchange;
mod fetcher;
mod limits;
mod media;
mod metered;
mod proxy;
mod resolver;
mod tls;
mod together;

pub use blastshield_policy::{HopPolicy, Host, PublicAddr, Refusal, Standing, explain};
pub use connector::{Connection, Connector, Duplex};
pub use error::{DnsError, Fault, FetchError, Phase, SetupError};
pub use fetcher::{Fetched, Fetcher, FetcherOptions, Hop, PolicySource, fixed_policy};
pub use limits::FetchLimits;
pub use media::{BadMediaType, MediaTypes};
pub use metered::{Meter, Metered};
pub use proxy::UpstreamProxy;
pub use resolver::Resolver;
