//! What belongs to one connection and is not passed on.

use super::Headers;

/// Headers of one hop, those that only proxies set, and those by which a client could pretend to be somebody else.
const OF_THE_HOP: &[&str] = &[
    "connection",
    "expect",
    "forwarded",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-real-ip",
];

/// What a client wants to turn the connection into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// Nothing, or something that is not offered; then the request is an ordinary one.
    No,
    /// WebSocket.
    WebSocket,
}

/// The headers that go on to the other side. `Host` and `Content-Length` are left out: whoever writes the message says
/// them anew.
#[must_use]
pub fn onward(headers: &Headers) -> Headers {
    let named: Vec<String> = headers
        .tokens("connection")
        .chain(headers.tokens("proxy-connection"))
        .collect();
    let mut kept = headers.clone();
    kept.retain(|name| {
        let is = |other: &&str| other.eq_ignore_ascii_case(name);
        let framing = ["host", "content-length"].iter().any(is);
        !framing
            && !OF_THE_HOP.iter().any(is)
            && !named.iter().any(|other| other.eq_ignore_ascii_case(name))
    });
    kept
}

/// Whether the connection goes on after this message.
#[must_use]
pub fn keeps_alive(headers: &Headers, old: bool) -> bool {
    let says = |word: &str| {
        headers
            .tokens("connection")
            .chain(headers.tokens("proxy-connection"))
            .any(|token| token == word)
    };
    !says("close") && (!old || says("keep-alive"))
}

/// What a request asks to be turned into.
#[must_use]
pub fn upgrade(headers: &Headers) -> Upgrade {
    let asked = headers.tokens("connection").any(|token| token == "upgrade");
    let protocol = headers.one("upgrade").unwrap_or_default();
    if asked
        && protocol.eq_ignore_ascii_case("websocket")
        && headers.one("sec-websocket-key").is_some()
    {
        Upgrade::WebSocket
    } else {
        Upgrade::No
    }
}

#[cfg(test)]
mod tests {
    use super::super::RequestHead;
    use super::*;

    fn headers(text: &str) -> Headers {
        RequestHead::parse(format!("GET / HTTP/1.1\r\n{text}\r\n").as_bytes())
            .unwrap()
            .headers
    }

    #[test]
    fn the_hop_keeps_its_own() {
        let all = headers(
            "Host: a\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n\
             HTTP2-Settings: x\r\nProxy-Authorization: Basic eA==\r\nX-Forwarded-For: 127.0.0.1\r\nAccept: */*\r\n",
        );
        let kept = onward(&all);
        let names: Vec<&str> = kept.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Accept"]);
        assert_eq!(upgrade(&all), Upgrade::No);
    }

    #[test]
    fn connections_end_when_somebody_says_so() {
        assert!(keeps_alive(&headers(""), false));
        assert!(!keeps_alive(&headers(""), true));
        assert!(keeps_alive(&headers("Connection: Keep-Alive\r\n"), true));
        assert!(!keeps_alive(&headers("Connection: x, Close\r\n"), false));
        assert!(!keeps_alive(&headers("Proxy-Connection: close\r\n"), false));
    }

    #[test]
    fn only_websocket_is_an_upgrade() {
        let ws = headers("Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: a\r\n");
        assert_eq!(upgrade(&ws), Upgrade::WebSocket);
        assert_eq!(
            upgrade(&headers("Upgrade: websocket\r\nSec-WebSocket-Key: a\r\n")),
            Upgrade::No
        );
    }
}
