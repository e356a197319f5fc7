//! What a tunnel's TLS must look like, and TLS that is opened because the owner wants to look into it.

use crate::connection::check_host;
use crate::exchange::{After, Route};
use crate::hello::{Hello, HelloError, MAX_HELLO};
use crate::http::{Authority, RequestHead, Target};
use crate::journal::Entry;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wire::{Prefixed, Wire};
use blastshield_policy::Host;
use blastshield_web::FetchError;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Mozilla's roots and the extra ones; HTTP/1.1 alone, so that what is said can be read.
pub(crate) fn client_config(extra_roots_pem: &[u8]) -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for certificate in CertificateDer::pem_slice_iter(extra_roots_pem) {
        roots.add(certificate.ok()?).ok()?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Arc::new(config))
}

impl Inner {
    /// Reads the client's first words without taking them: whether they are TLS. The name in them must be the host's.
    ///
    /// # Errors
    /// When policy does not let them through.
    pub(crate) async fn greeting(
        &self,
        client: &mut Wire<TcpStream>,
        host: &Host,
    ) -> Result<bool, Refusal> {
        let deadline = Instant::now() + self.limits.head;
        let hello = loop {
            match Hello::read(client.arrived()) {
                Ok(Some(hello)) => break hello,
                Ok(None) if client.arrived().len() > MAX_HELLO => {
                    return Err(HelloError::TooLong.into());
                }
                Ok(None) => {}
                Err(HelloError::NotTls) if self.tls.allow_plain => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            match timeout_at(deadline, client.more(4 << 10)).await {
                Ok(Ok(1..)) => {}
                Ok(Ok(0) | Err(_)) => return Err(Refusal::Gone),
                Err(_) if self.tls.allow_plain && client.arrived().is_empty() => return Ok(false),
                Err(_) => return Err(Refusal::Timeout("no TLS greeting came in time")),
            }
        };
        if hello.hides && !self.tls.allow_hidden {
            return Err(Refusal::Tls(
                "the TLS greeting hides a name (ECH), which is refused here",
            ));
        }
        match hello.name {
            // Clients name no addresses.
            None if self.tls.allow_nameless || host.ip().is_some() => Ok(true),
            None => Err(Refusal::Tls(
                "the TLS greeting names no host, which is refused here",
            )),
            Some(name) if Host::parse(&name).as_ref() == Ok(host) => Ok(true),
            Some(_) => Err(Refusal::Tls(
                "the TLS greeting names another host than the tunnel",
            )),
        }
    }

    /// A secured connection to the host.
    pub(crate) async fn secure(
        &self,
        host: &Host,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Refusal> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.to_string())
                .map_err(|_| Refusal::Unreachable(FetchError::Tls))?,
            Host::Ip(ip) => ServerName::from(*ip),
        };
        let connector = TlsConnector::from(Arc::clone(&self.origin_tls));
        let secured = timeout(self.limits.connect, connector.connect(name, stream)).await;
        secured
            .map_err(|_| Refusal::Unreachable(FetchError::Tls))?
            .map_err(|error| {
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                Refusal::Unreachable(match inner {
                    Some(rustls::Error::InvalidCertificate(_)) => FetchError::Certificate,
                    _ => FetchError::Tls,
                })
            })
    }

    /// Speaks for the host with a certificate of ours, and carries what the client asks for.
    pub(crate) async fn open_tls(
        &self,
        client: Wire<TcpStream>,
        tls: bool,
        host: &Host,
        port: u16,
        entry: &mut Entry,
    ) {
        if !tls {
            self.journal.refused(entry, &HelloError::NotTls.into());
            return;
        }
        let Some(Ok(config)) = self.ca.as_ref().map(|ca| ca.server(host)) else {
            self.journal.refused(entry, &Refusal::Internal);
            return;
        };
        let (stream, read) = client.into_parts();
        let accepting = TlsAcceptor::from(config).accept(Prefixed::new(read, stream));
        let Ok(Ok(stream)) = timeout(self.limits.head, accepting).await else {
            let refusal =
                Refusal::Tls("the client does not trust the local authority, or broke off");
            self.journal.refused(entry, &refusal);
            return;
        };
        let mut client = Wire::new(stream);
        let authority = Authority {
            host: host.clone(),
            port: Some(port),
        };
        let mut patience = self.limits.head;
        let mut kept = None;
        loop {
            client.begin();
            let head = match client.head(patience, self.limits.head).await {
                Ok(None) => return,
                Ok(Some(bytes)) => RequestHead::parse(&bytes).map_err(Refusal::Head),
                Err(refusal) => Err(refusal),
            };
            let mut one = self.journal.begin(Entry::new(entry.agent.clone(), "-"));
            one.host = Some(host.clone());
            one.port = port;
            one.rule = entry.rule;
            one.approval.clone_from(&entry.approval);
            let outcome = match head {
                Ok(head) => {
                    one.method.clone_from(&head.method);
                    match inner_route(&head, &authority) {
                        Ok(route) => {
                            self.carry(&mut client, &mut kept, &head, &route, &mut one)
                                .await
                        }
                        Err(refusal) => Err(refusal),
                    }
                }
                Err(refusal) => Err(refusal),
            };
            match outcome {
                Ok(after) => {
                    self.journal.carried(&one);
                    if after == After::Close {
                        client.end().await;
                        return;
                    }
                }
                Err(refusal) => {
                    self.note_refusal(&one, &refusal);
                    if !client.sent {
                        let _ = client.send(&refusal.answer(), self.limits.head).await;
                    }
                    client.end().await;
                    return;
                }
            }
            patience = self.limits.keep_alive;
        }
    }
}

/// Where a request inside a tunnel leads: to the tunnel's host, and nowhere else.
fn inner_route(head: &RequestHead, authority: &Authority) -> Result<Route, Refusal> {
    let Some(Target::Origin(path)) = Target::of(&head.method, &head.target) else {
        return Err(Refusal::Target("inside a tunnel a request names a path"));
    };
    if !head.headers.has("host") {
        return Err(Refusal::Target("the request names no host"));
    }
    check_host(head, authority, 443)?;
    Ok(Route {
        host: authority.host.clone(),
        port: authority.port.unwrap_or(443),
        secure: true,
        named: authority.shown(443),
        path,
    })
}
