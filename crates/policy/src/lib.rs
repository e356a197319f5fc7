//! Which hosts and addresses may be reached: domains, URLs, address ranges.
//!
//! The way of one hop: [`check_url`] turns text into a [`Target`], the caller resolves the target's host once, and
//! [`HopPolicy::admit`] turns the answers into [`PublicAddr`]s, the only thing a connector should accept.
//!
//! ```
//! use blastshield_policy::{HopPolicy, Refusal, check_url, explain};
//!
//! let policy = HopPolicy::default();
//! let target = check_url("https://Example.COM./a", &policy)?;
//! assert_eq!(target.url.as_str(), "https://example.com/a");
//! assert_eq!(policy.admit(&target, &["93.184.215.14".parse().unwrap()])?.len(), 1);
//! assert_eq!(explain("https://2130706433/", &policy, &[]).unwrap_err().code(), "address_not_public");
//! # Ok::<(), Refusal>(())
//! ```

mod address;
mod domains;
mod guard;
mod hop;
mod host;
mod names;
mod refusal;
mod rules;

pub use address::{AddressClass, classify, special_blocks};
pub use domains::{BadEntries, DomainList, DomainPolicy, Standing};
pub use guard::{AddressGuard, PublicAddr};
pub use hop::{Explained, HopPolicy, Target, check_redirect, check_url, explain, join};
pub use host::{Host, HostError};
pub use ipnet::IpNet;
pub use names::is_local_name;
pub use refusal::Refusal;
pub use rules::{BadPort, MAX_URL_BYTES, Ports, UrlRules};
