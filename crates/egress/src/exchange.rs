//! One request and its answer, where both can be looked into: plain HTTP, and TLS that the owner had opened.

use crate::held::Share;
use crate::http::{
    self, Framing, Headers, RequestHead, ResponseHead, Upgrade, keeps_alive, of_request, onward,
};
use crate::journal::Entry;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wire::{Body, Wire};
use blastshield_policy::Host;
use blastshield_web::Duplex;

/// Answers before the final one.
const MAX_INTERIM: usize = 8;
const ENCODINGS: &[&str] = &["gzip", "x-gzip", "deflate", "br", "zstd", "identity"];

/// Where a request goes.
pub(crate) struct Route {
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Over TLS.
    pub(crate) secure: bool,
    /// The `Host` header.
    pub(crate) named: String,
    pub(crate) path: String,
}

impl Route {
    pub(crate) fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.named, self.path)
    }
}

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Next,
    Close,
}

impl Inner {
    /// Carries one request there and its answer back.
    ///
    /// # Errors
    /// Why it went no further. When something was sent already, the connection must end.
    pub(crate) async fn carry<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        head: &RequestHead,
        route: &Route,
        entry: &mut Entry,
    ) -> Result<After, Refusal> {
        let limits = &self.limits;
        let framing = of_request(head)?;
        if let Framing::Chunked { coded: true } = framing {
            return Err(Refusal::NotOffered(
                "transfer codings other than chunked are not taken",
            ));
        }
        let upgrade = http::upgrade(&head.headers);
        let mut share = self.inspector.held.share();
        let body = self.request_body(client, head, framing, &mut share).await?;
        let mut headers = onward(&head.headers);
        self.inspector
            .outbound(
                &route.url(),
                &route.host,
                &headers,
                &body,
                limits.request_bytes,
            )
            .await?;
        let mut origin = self.origin(route, entry).await?;
        limit_encodings(&mut headers);
        let request = self.request(head, route, &headers, &body, framing, upgrade);
        origin.send(&request, limits.idle).await?;
        entry.up += request.len() as u64;
        drop((body, share));
        let answer = self.answer_head(&mut origin, upgrade).await?;
        if answer.status == 101 {
            let mut out = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n".to_vec();
            let mut kept = onward(&answer.headers);
            kept.retain(|name| !name.eq_ignore_ascii_case("sec-websocket-extensions"));
            kept.write(&mut out);
            out.extend_from_slice(b"\r\n");
            client.send(&out, limits.idle).await?;
            self.messages(client, &mut origin, entry).await?;
            return Ok(After::Close);
        }
        let after = if keeps_alive(&head.headers, head.old) {
            After::Next
        } else {
            After::Close
        };
        self.pass_back(client, &mut origin, head, &answer, route, entry, after)
            .await
    }

    async fn request_body<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        head: &RequestHead,
        framing: Framing,
        share: &mut Share,
    ) -> Result<Vec<u8>, Refusal> {
        let most = self.limits.request_bytes;
        if matches!(framing, Framing::Length(length) if length > most as u64) {
            return Err(Refusal::TooLarge("request"));
        }
        let mut source = Body::of(framing, false);
        let expects = head
            .headers
            .one("expect")
            .is_some_and(|e| e.eq_ignore_ascii_case("100-continue"));
        if expects && !matches!(source, Body::Done) {
            client
                .send(b"HTTP/1.1 100 Continue\r\n\r\n", self.limits.idle)
                .await?;
            client.sent = false;
        }
        let mut body = Vec::new();
        while let Some(piece) = source.next(client, self.limits.keep_alive).await? {
            if body.len() + piece.len() > most {
                return Err(Refusal::TooLarge("request"));
            }
            share.grow(piece.len())?;
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// A fresh connection to the origin: no request can leave something behind for the next.
    async fn origin(
        &self,
        route: &Route,
        entry: &mut Entry,
    ) -> Result<Wire<Box<dyn Duplex>>, Refusal> {
        let dialled = self
            .dialer
            .dial(&route.host, route.port, &self.limits)
            .await?;
        entry.address = Some(dialled.address);
        entry.by_exception = dialled.by_exception;
        let stream: Box<dyn Duplex> = if route.secure {
            Box::new(self.secure(&route.host, dialled.stream).await?)
        } else {
            Box::new(dialled.stream)
        };
        Ok(Wire::new(stream))
    }

    fn request(
        &self,
        head: &RequestHead,
        route: &Route,
        headers: &Headers,
        body: &[u8],
        framing: Framing,
        upgrade: Upgrade,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(512 + body.len());
        out.extend_from_slice(head.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(route.path.as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        out.extend_from_slice(route.named.as_bytes());
        out.extend_from_slice(b"\r\n");
        let mut headers = headers.clone();
        if upgrade == Upgrade::WebSocket {
            // Without extensions every frame can be read.
            headers.retain(|name| !name.eq_ignore_ascii_case("sec-websocket-extensions"));
            out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
        } else {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        headers.write(&mut out);
        let has_body =
            !matches!(framing, Framing::Empty) || matches!(&*head.method, "POST" | "PUT" | "PATCH");
        if has_body {
            out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(body);
        out
    }

    /// The head of the final answer; those before it are dropped.
    async fn answer_head(
        &self,
        origin: &mut Wire<Box<dyn Duplex>>,
        upgrade: Upgrade,
    ) -> Result<ResponseHead, Refusal> {
        for _ in 0..MAX_INTERIM {
            let arrived = origin.head(self.limits.idle, self.limits.head).await;
            let bytes = arrived.map_err(|refusal| match refusal {
                Refusal::Head(error) => Refusal::Answer(error),
                Refusal::Timeout(_) => {
                    Refusal::Timeout("the host's answer took too long to arrive")
                }
                other => other,
            })?;
            let head =
                ResponseHead::parse(&bytes.ok_or(Refusal::Gone)?).map_err(Refusal::Answer)?;
            match head.status {
                101 if upgrade == Upgrade::WebSocket => return Ok(head),
                101 => return Err(Refusal::Answer(http::HeadError::Status)),
                100..200 => {}
                _ => return Ok(head),
            }
        }
        Err(Refusal::Answer(http::HeadError::TooMany))
    }
}

/// Asks for nothing that cannot be undone here.
fn limit_encodings(headers: &mut Headers) {
    if !headers.has("accept-encoding") {
        return;
    }
    let kept: Vec<String> = headers
        .tokens("accept-encoding")
        .filter(|token| {
            let name = token.split(';').next().unwrap_or_default().trim();
            ENCODINGS.contains(&name)
        })
        .collect();
    let kept = if kept.is_empty() {
        "identity".to_owned()
    } else {
        kept.join(", ")
    };
    headers.retain(|name| !name.eq_ignore_ascii_case("accept-encoding"));
    headers.push("Accept-Encoding", kept.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_encodings_are_asked_for() {
        let of = |value: &str| {
            let mut headers = Headers::default();
            headers.push("Accept-Encoding", value.as_bytes());
            limit_encodings(&mut headers);
            headers.one("accept-encoding").map(str::to_owned)
        };
        assert_eq!(
            of("gzip, sdch, br;q=0.5").as_deref(),
            Some("gzip, br;q=0.5")
        );
        assert_eq!(of("dcb").as_deref(), Some("identity"));
    }
}
