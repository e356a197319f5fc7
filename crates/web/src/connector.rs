//! Opens connections to addresses that the guard admitted, and to nothing else.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::sleep;

use blastshield_policy::{Host, PublicAddr};

use crate::error::{FetchError, SetupError};
use crate::proxy::UpstreamProxy;
use crate::tls;

/// How long one address may be tried alone before the next joins.
const HEAD_START: Duration = Duration::from_millis(250);
/// Addresses tried per host.
const MAX_TRIES: usize = 6;

/// A stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open connection to one of the admitted addresses.
pub struct Connection {
    /// What to speak through.
    pub stream: Box<dyn Duplex>,
    /// Whether HTTP/2 was agreed on.
    pub http2: bool,
}

/// Dials [`PublicAddr`]s, directly or through the operator's proxy, and secures what it dialled.
#[derive(Debug, Clone)]
pub struct Connector {
    tls: Arc<ClientConfig>,
    proxy: Option<UpstreamProxy>,
}

impl Connector {
    /// With Mozilla's roots and the extra ones, given as PEM (may be empty).
    ///
    /// # Errors
    /// When the extra roots are no certificates.
    pub fn new(extra_roots_pem: &[u8], proxy: Option<UpstreamProxy>) -> Result<Self, SetupError> {
        Ok(Self {
            tls: tls::client_config(extra_roots_pem)?,
            proxy,
        })
    }

    /// Connects to the host at one of its addresses; over TLS, the certificate must be the host's.
    ///
    /// # Errors
    /// When no address takes the connection, or it cannot be secured.
    pub async fn connect(
        &self,
        host: &Host,
        secure: bool,
        addresses: &[PublicAddr],
    ) -> Result<Connection, FetchError> {
        let stream = self.dial(addresses).await?;
        if !secure {
            return Ok(Connection {
                stream: Box::new(stream),
                http2: false,
            });
        }
        let (stream, http2) = tls::secure(&self.tls, host, stream).await?;
        Ok(Connection {
            stream: Box::new(stream),
            http2,
        })
    }

    /// A bare connection to the first address that takes one. Attempts overlap, so that a dead one costs little.
    ///
    /// # Errors
    /// When none does.
    pub async fn dial(&self, addresses: &[PublicAddr]) -> Result<TcpStream, FetchError> {
        if let [only] = addresses {
            return self.open(*only).await;
        }
        let mut waiting = alternating(addresses).into_iter();
        let mut running = FuturesUnordered::new();
        let mut last = FetchError::Connect;
        loop {
            if let Some(address) = waiting.next() {
                running.push(self.open(address));
            } else if running.is_empty() {
                return Err(last);
            }
            tokio::select! {
                Some(outcome) = running.next() => match outcome {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                },
                () = sleep(HEAD_START), if waiting.len() > 0 => {}
            }
        }
    }

    async fn open(&self, address: PublicAddr) -> Result<TcpStream, FetchError> {
        if let Some(proxy) = &self.proxy {
            return proxy.tunnel(address.socket_addr()).await;
        }
        let stream = TcpStream::connect(address.socket_addr())
            .await
            .map_err(|_| FetchError::Connect)?;
        stream.set_nodelay(true).map_err(|_| FetchError::Connect)?;
        Ok(stream)
    }
}

/// The first few addresses, families alternating.
fn alternating(addresses: &[PublicAddr]) -> Vec<PublicAddr> {
    let (six, four): (Vec<PublicAddr>, Vec<PublicAddr>) =
        addresses.iter().partition(|a| a.socket_addr().is_ipv6());
    let (mut six, mut four) = (six.into_iter(), four.into_iter());
    let mut ordered = Vec::with_capacity(MAX_TRIES);
    while ordered.len() < MAX_TRIES {
        let before = ordered.len();
        ordered.extend(six.next());
        ordered.extend(four.next());
        if ordered.len() == before {
            break;
        }
    }
    ordered.truncate(MAX_TRIES);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_policy::AddressGuard;

    fn admitted(ips: &[&str]) -> Vec<PublicAddr> {
        let ips: Vec<_> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
        AddressGuard::default()
            .admit(&Host::parse("a.test").unwrap(), &ips, 443)
            .unwrap()
    }

    #[test]
    fn families_alternate_and_tries_are_bounded() {
        let order = alternating(&admitted(&[
            "1.1.1.1",
            "1.1.1.2",
            "1.1.1.3",
            "2606:4700::1",
        ]));
        let shown: Vec<String> = order
            .iter()
            .map(|a| a.socket_addr().ip().to_string())
            .collect();
        assert_eq!(shown, ["2606:4700::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"]);
        let many: Vec<String> = (1..50).map(|n| format!("1.1.1.{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(alternating(&admitted(&many)).len(), MAX_TRIES);
    }
}
