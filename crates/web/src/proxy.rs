//! An upstream HTTP proxy that the operator names. It is asked for a tunnel to the checked address, never to a name.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::error::{FetchError, SetupError};

const MAX_ANSWER: usize = 8 * 1024;

/// Where to ask for tunnels. Written `http://[user:password@]host:port`. Environment variables play no part.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamProxy {
    host: String,
    port: u16,
    credentials: Option<String>,
}

impl fmt::Debug for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            port,
            credentials,
        } = self;
        f.debug_struct("UpstreamProxy")
            .field("host", host)
            .field("port", port)
            .field("credentials", &credentials.is_some())
            .finish()
    }
}

impl FromStr for UpstreamProxy {
    type Err = SetupError;

    fn from_str(text: &str) -> Result<Self, SetupError> {
        let url = Url::parse(text).map_err(|_| SetupError::Proxy)?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if url.scheme() != "http" || !bare {
            return Err(SetupError::Proxy);
        }
        let host = url
            .host_str()
            .ok_or(SetupError::Proxy)?
            .trim_matches(['[', ']'])
            .to_owned();
        let port = url.port_or_known_default().ok_or(SetupError::Proxy)?;
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => Some(basic(user, password.unwrap_or_default())),
        };
        Ok(Self {
            host,
            port,
            credentials,
        })
    }
}

impl UpstreamProxy {
    /// A tunnel to this address.
    pub(crate) async fn tunnel(&self, to: SocketAddr) -> Result<TcpStream, FetchError> {
        let failed = |_| FetchError::Proxy;
        let mut stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let authorization = self
            .credentials
            .as_ref()
            .map(|basic| format!("Proxy-Authorization: Basic {basic}\r\n"))
            .unwrap_or_default();
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{authorization}\r\n");
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        if is_success(&read_head(&mut stream).await?) {
            Ok(stream)
        } else {
            Err(FetchError::Proxy)
        }
    }
}

/// Reads up to the empty line and not a byte further: the next byte belongs to the origin.
async fn read_head(stream: &mut TcpStream) -> Result<Vec<u8>, FetchError> {
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_ANSWER {
            return Err(FetchError::Proxy);
        }
        head.push(stream.read_u8().await.map_err(|_| FetchError::Proxy)?);
    }
    Ok(head)
}

fn is_success(head: &[u8]) -> bool {
    let mut words = head.split(|b| *b == b' ');
    let version = words.next().unwrap_or_default();
    let status = words.next().unwrap_or_default();
    version.starts_with(b"HTTP/1.") && matches!(status.trim_ascii(), [b'2', _, _])
}

fn basic(user: &str, password: &str) -> String {
    let mut plain = percent_decode(user.as_bytes());
    plain.push(b':');
    plain.extend(percent_decode(password.as_bytes()));
    base64(&plain)
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let hex = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, tail @ ..] if first == b'%' => hex(*high)
                .zip(hex(*low))
                .map(|(high, low)| (high * 16 + low, tail)),
            _ => None,
        };
        let (byte, tail) = escaped.unwrap_or((first, after));
        out.push(byte);
        rest = tail;
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            let index = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap_or(0);
            let used = usize::try_from(at).is_ok_and(|at| at <= chunk.len());
            out.push(if used {
                ALPHABET.get(index).map_or('=', |b| char::from(*b))
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_proxies_are_read() {
        for bad in [
            "",
            "proxy:3128",
            "https://proxy:3128",
            "socks5://proxy",
            "http://proxy/path",
            "http://proxy?x",
        ] {
            assert_eq!(
                bad.parse::<UpstreamProxy>(),
                Err(SetupError::Proxy),
                "{bad}"
            );
        }
        let proxy: UpstreamProxy = "http://[::1]:3128".parse().unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("::1", 3128));
    }

    #[test]
    fn credentials_are_carried_but_not_shown() {
        let proxy: UpstreamProxy = "http://Aladdin:open%20sesame@proxy:3128".parse().unwrap();
        assert_eq!(
            proxy.credentials.as_deref(),
            Some("QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        );
        let shown = format!("{proxy:?}");
        assert!(
            !shown.contains("sesame") && !shown.contains("QWxh"),
            "{shown}"
        );
    }

    #[test]
    fn base64_pads() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn only_success_opens_a_tunnel() {
        assert!(is_success(b"HTTP/1.1 200 Connection established\r\n\r\n"));
        for bad in [
            &b"HTTP/1.1 407 Auth\r\n\r\n"[..],
            b"HTTP/2 200\r\n\r\n",
            b"200 OK\r\n\r\n",
            b"\r\n\r\n",
        ] {
            assert!(!is_success(bad));
        }
    }
}
