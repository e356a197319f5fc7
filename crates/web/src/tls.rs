//! TLS as a client: Mozilla's roots, the operator's extra ones, HTTP/2 offered before HTTP/1.1.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use blastshield_policy::Host;

use crate::error::{FetchError, SetupError};

/// What the peer may choose to speak.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

pub(crate) fn client_config(extra_roots_pem: &[u8]) -> Result<Arc<ClientConfig>, SetupError> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let mut extra = 0;
    for certificate in CertificateDer::pem_slice_iter(extra_roots_pem) {
        let certificate = certificate.map_err(|_| SetupError::Certificates)?;
        roots
            .add(certificate)
            .map_err(|_| SetupError::Certificates)?;
        extra += 1;
    }
    if extra == 0 && !extra_roots_pem.trim_ascii().is_empty() {
        return Err(SetupError::Certificates);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| SetupError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A resumed session would tell the host that we are the one who came before.
    config.resumption = Resumption::disabled();
    config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

/// Secures a stream to a host; whether the peer chose HTTP/2.
pub(crate) async fn secure<S>(
    config: &Arc<ClientConfig>,
    host: &Host,
    stream: S,
) -> Result<(TlsStream<S>, bool), FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.to_string()).map_err(|_| FetchError::Tls)?,
        Host::Ip(ip) => ServerName::from(*ip),
    };
    let stream = TlsConnector::from(Arc::clone(config))
        .connect(name, stream)
        .await
        .map_err(|error| {
            match error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<rustls::Error>())
            {
                Some(rustls::Error::InvalidCertificate(_)) => FetchError::Certificate,
                _ => FetchError::Tls,
            }
        })?;
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok((stream, http2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_roots_must_be_certificates() {
        assert!(client_config(b" \n").is_ok());
        for bad in [
            &b"hello"[..],
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            assert_eq!(client_config(bad).err(), Some(SetupError::Certificates));
        }
    }
}
