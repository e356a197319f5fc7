//! One request and its answer, where both can be looked into: plain HTTP, and TLS that the owner had opened.

use crate::held::Share;
use crate::http::{self, Framing, Headers, RequestHead, Upgrade, keeps_alive, of_request, onward};
use crate::journal::Entry;
use crate::origin::{Origin, Outgoing};
use crate::passing::Answered;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wire::{Body, Wire};
use blastshield_policy::Host;
use blastshield_web::Duplex;

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
    /// Carries one request there and its answer back. A connection to the origin that is good for the next request is
    /// kept in `kept`.
    ///
    /// # Errors
    /// Why it went no further. When something was sent already, the connection must end.
    pub(crate) async fn carry<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        kept: &mut Option<Origin>,
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
        let after = if keeps_alive(&head.headers, head.old) {
            After::Next
        } else {
            After::Close
        };
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
        limit_encodings(&mut headers);
        let said = Said {
            head,
            route,
            framing,
            upgrade,
            after,
        };
        let bytes = said.request(headers, &body);
        drop(body);
        let request = Outgoing {
            head,
            route,
            bytes: &bytes,
            upgrade,
        };
        let (mut origin, answer) = self.asked(client, kept.take(), &request, entry).await?;
        drop((bytes, share));
        if answer.status == 101 {
            let mut out = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n".to_vec();
            let mut kept = onward(&answer.headers);
            kept.retain(|name| !name.eq_ignore_ascii_case("sec-websocket-extensions"));
            kept.write(&mut out);
            out.extend_from_slice(b"\r\n");
            client.send(&out, limits.idle).await?;
            self.messages(client, &mut origin.wire, entry).await?;
            return Ok(After::Close);
        }
        let answered = Answered {
            head,
            answer: &answer,
            route,
            after,
        };
        let (after, ends_well) = self
            .pass_back(client, &mut origin.wire, &answered, entry)
            .await?;
        if ends_well && after == After::Next && keeps_alive(&answer.headers, answer.old) {
            *kept = origin.rested();
        }
        Ok(after)
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
}

/// A request as it is written anew.
struct Said<'r> {
    head: &'r RequestHead,
    route: &'r Route,
    framing: Framing,
    upgrade: Upgrade,
    after: After,
}

impl Said<'_> {
    fn request(&self, mut headers: Headers, body: &[u8]) -> Vec<u8> {
        let method = &*self.head.method;
        let mut out = Vec::with_capacity(512 + body.len());
        out.extend_from_slice(method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.route.path.as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        out.extend_from_slice(self.route.named.as_bytes());
        out.extend_from_slice(b"\r\n");
        if self.upgrade == Upgrade::WebSocket {
            // Without extensions every frame can be read.
            headers.retain(|name| !name.eq_ignore_ascii_case("sec-websocket-extensions"));
            out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
        } else if self.after == After::Close {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        headers.write(&mut out);
        let has_body =
            !matches!(self.framing, Framing::Empty) || matches!(method, "POST" | "PUT" | "PATCH");
        if has_body {
            out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(body);
        out
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
