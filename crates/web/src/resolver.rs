//! Turns a name into addresses, once per hop, within bounds. It decides nothing: the guard judges every answer.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use blastshield_policy::Host;

use crate::error::{DnsError, SetupError};

/// Distinct addresses that one name may have.
const MAX_ANSWERS: usize = 64;
/// Lookups of the operating system that run at once; each holds a thread.
const MAX_SYSTEM_LOOKUPS: usize = 32;

/// Where names are looked up.
#[derive(Clone)]
pub struct Resolver(Kind);

#[derive(Clone)]
enum Kind {
    System(Arc<Semaphore>),
    Server(Arc<TokioResolver>),
    Fixed(Arc<HashMap<Host, Vec<IpAddr>>>),
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::System(_) => "Resolver::System",
            Kind::Server(_) => "Resolver::Server",
            Kind::Fixed(_) => "Resolver::Fixed",
        })
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::system()
    }
}

impl Resolver {
    /// The operating system's.
    #[must_use]
    pub fn system() -> Self {
        Self(Kind::System(Arc::new(Semaphore::new(MAX_SYSTEM_LOOKUPS))))
    }

    /// A DNS server, asked over UDP, and TCP where an answer is too long. Nothing is cached.
    ///
    /// # Errors
    /// When the resolver cannot be set up.
    pub fn server(address: SocketAddr) -> Result<Self, SetupError> {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()]
            .into_iter()
            .map(|mut connection| {
                connection.port = address.port();
                connection
            })
            .collect();
        let server = NameServerConfig::new(address.ip(), true, connections);
        let config = ResolverConfig::from_name_servers(vec![server]);
        let mut builder =
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Never;
        options.cache_size = 0;
        options.attempts = 1;
        options.timeout = Duration::from_secs(2);
        let resolver = builder.build().map_err(|_| SetupError::Resolver)?;
        Ok(Self(Kind::Server(Arc::new(resolver))))
    }

    /// A table; names that are not in it do not exist.
    #[must_use]
    pub fn fixed(table: impl IntoIterator<Item = (Host, Vec<IpAddr>)>) -> Self {
        Self(Kind::Fixed(Arc::new(table.into_iter().collect())))
    }

    /// The distinct addresses of a host, all of them. A literal is its own answer.
    ///
    /// # Errors
    /// When there are none, too many, or none in time.
    pub async fn resolve(&self, host: &Host, within: Duration) -> Result<Vec<IpAddr>, DnsError> {
        let name = match host {
            Host::Ip(ip) => return Ok(vec![*ip]),
            Host::Name(name) => name,
        };
        let lookup = async {
            match &self.0 {
                Kind::System(turns) => by_system(Arc::clone(turns), name.to_string()).await,
                Kind::Server(resolver) => by_server(resolver, name).await,
                Kind::Fixed(table) => distinct(table.get(host).into_iter().flatten().copied()),
            }
        };
        timeout(within, lookup)
            .await
            .map_err(|_| DnsError::Timeout)?
    }
}

async fn by_system(turns: Arc<Semaphore>, name: String) -> Result<Vec<IpAddr>, DnsError> {
    let turn = turns.acquire_owned().await.map_err(|_| DnsError::Failed)?;
    // A task of its own keeps the turn until the system call ends, even if nobody waits any more.
    let lookup = tokio::spawn(async move {
        let answers = tokio::net::lookup_host((name.as_str(), 0))
            .await
            .map_err(|_| DnsError::NotFound)?;
        let answers = distinct(answers.map(|answer| answer.ip()));
        drop(turn);
        answers
    });
    lookup.await.map_err(|_| DnsError::Failed)?
}

async fn by_server(resolver: &TokioResolver, name: &str) -> Result<Vec<IpAddr>, DnsError> {
    match resolver.lookup_ip(format!("{name}.")).await {
        Ok(answers) => distinct(answers.iter()),
        Err(error) if error.is_nx_domain() || error.is_no_records_found() => {
            Err(DnsError::NotFound)
        }
        Err(_) => Err(DnsError::Failed),
    }
}

fn distinct(answers: impl Iterator<Item = IpAddr>) -> Result<Vec<IpAddr>, DnsError> {
    let mut seen = Vec::new();
    for answer in answers {
        if !seen.contains(&answer) {
            seen.push(answer);
        }
        if seen.len() > MAX_ANSWERS {
            return Err(DnsError::TooMany);
        }
    }
    if seen.is_empty() {
        Err(DnsError::NotFound)
    } else {
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_distinct_and_bounded() {
        let ip = |n: u32| IpAddr::from(n.to_be_bytes());
        assert_eq!(distinct((0..1000).map(|_| ip(7))), Ok(vec![ip(7)]));
        assert_eq!(distinct((0..1000).map(ip)), Err(DnsError::TooMany));
        assert_eq!(distinct(std::iter::empty()), Err(DnsError::NotFound));
    }

    #[tokio::test]
    async fn a_table_knows_only_its_names() {
        let host = Host::parse("a.test").unwrap();
        let resolver = Resolver::fixed([(host.clone(), vec![IpAddr::from([1, 1, 1, 1])])]);
        let second = Duration::from_secs(1);
        assert_eq!(
            resolver.resolve(&host, second).await,
            Ok(vec![IpAddr::from([1, 1, 1, 1])])
        );
        assert_eq!(
            resolver
                .resolve(&Host::parse("b.test").unwrap(), second)
                .await,
            Err(DnsError::NotFound)
        );
    }
}
