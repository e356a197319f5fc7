//! An answer on its way back: looked into whole, event by event, or passed on as it comes.

use crate::exchange::{After, Route};
use crate::http::{self, Framing, RequestHead, ResponseHead, of_response, onward};
use crate::inspect::{Look, look, looks_like_text};
use crate::journal::Entry;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wire::{Body, Wire};
use blastshield_web::Duplex;
use tokio::time::timeout;
use url::Url;

/// Bytes of one event of an event stream.
const MAX_EVENT: usize = 256 << 10;
/// Events are read together with what came before them.
const EVENT_CONTEXT: usize = 4 << 10;

/// The head of an answer, and what it answers.
pub(crate) struct Answered<'a> {
    pub(crate) head: &'a RequestHead,
    pub(crate) answer: &'a ResponseHead,
    pub(crate) route: &'a Route,
    /// What the client wants to follow.
    pub(crate) after: After,
}

impl Inner {
    /// Passes an answer back: what follows, and whether it ended where it said it would.
    ///
    /// # Errors
    /// Why it did not pass, or not all of it.
    pub(crate) async fn pass_back<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        origin: &mut Wire<Box<dyn Duplex>>,
        answered: &Answered<'_>,
        entry: &mut Entry,
    ) -> Result<(After, bool), Refusal> {
        let Answered {
            head,
            answer,
            route,
            after,
        } = *answered;
        let limits = &self.limits;
        let framing = of_response(answer, &head.method).map_err(Refusal::Answer)?;
        if matches!(
            framing,
            Framing::Chunked { coded: true } | Framing::UntilClose { coded: true }
        ) {
            return Err(Refusal::Uninspectable(
                "the answer's transfer coding is not known here",
            ));
        }
        if matches!(framing, Framing::Length(length) if length > limits.response_bytes as u64) {
            return Err(Refusal::TooLarge("answer"));
        }
        let mut source = Body::of(framing, true);
        let mut look = look(answer);
        let mut share = self.inspector.held.share();
        let mut body = Vec::new();
        if look == Look::Sniff {
            while body.len() < 1024 {
                match source.next(origin, limits.idle).await.map_err(of_origin)? {
                    Some(piece) => body.extend_from_slice(&piece),
                    None => break,
                }
            }
            if looks_like_text(&body) {
                look = Look::Whole;
            }
        }
        if look == Look::Whole {
            share.grow(body.len())?;
            while let Some(piece) = source.next(origin, limits.idle).await.map_err(of_origin)? {
                if body.len() + piece.len() > limits.response_bytes {
                    return Err(Refusal::TooLarge("answer"));
                }
                share.grow(piece.len())?;
                body.extend_from_slice(&piece);
            }
            let url = Url::parse(&route.url()).ok();
            self.inspector
                .inbound(&answer.headers, url, &body, limits.response_bytes)
                .await?;
        }
        let chunked = !head.old
            && look != Look::Whole
            && !matches!(framing, Framing::Empty | Framing::Length(_));
        let framed = match framing {
            Framing::Empty if look != Look::Whole || body.is_empty() => Framed::AsSaid,
            Framing::Length(length) => Framed::Length(length),
            _ if look == Look::Whole => Framed::Length(body.len() as u64),
            _ if chunked => Framed::Chunked,
            _ => Framed::UntilClose,
        };
        let after = if matches!(framed, Framed::UntilClose) {
            After::Close
        } else {
            after
        };
        let out = response(answer, &framed, after);
        client.send(&out, limits.idle).await?;
        let mut flow = Flow {
            client,
            chunked: matches!(framed, Framed::Chunked),
            sent: 0,
            limit: limits.response_bytes,
            idle: limits.idle,
        };
        let streamed = async {
            if look == Look::Events {
                self.events(&mut source, origin, &mut flow).await?;
            } else {
                flow.pass(&body).await?;
                while let Some(piece) = source.next(origin, limits.idle).await.map_err(of_origin)? {
                    flow.pass(&piece).await?;
                }
            }
            flow.finish().await
        };
        let outcome = timeout(limits.total, streamed).await;
        entry.down += flow.sent as u64;
        outcome.map_err(|_| Refusal::Timeout("the answer took too long"))??;
        Ok((after, !matches!(framing, Framing::UntilClose { .. })))
    }

    /// An event stream: each event goes on once it was looked into together with what came before it.
    async fn events<S: Duplex>(
        &self,
        source: &mut Body,
        origin: &mut Wire<Box<dyn Duplex>>,
        flow: &mut Flow<'_, S>,
    ) -> Result<(), Refusal> {
        let (mut waiting, mut before) = (Vec::new(), String::new());
        loop {
            let piece = source
                .next(origin, self.limits.idle)
                .await
                .map_err(of_origin)?;
            let ended = piece.is_none();
            waiting.extend_from_slice(&piece.unwrap_or_default());
            let ready = if ended {
                waiting.len()
            } else {
                event_end(&waiting)
            };
            if ready > 0 {
                let event: Vec<u8> = waiting.drain(..ready).collect();
                let text = format!("{before}{}", said(&event));
                self.inspector.inbound_piece(text.clone()).await?;
                flow.pass(&event).await?;
                let cut = text.len().saturating_sub(EVENT_CONTEXT);
                let cut = (cut..=text.len())
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(0);
                before = text.get(cut..).unwrap_or_default().to_owned();
            }
            if ended {
                return Ok(());
            }
            if waiting.len() > MAX_EVENT {
                return Err(Refusal::Uninspectable("an event of the answer is too long"));
            }
        }
    }
}

/// How a response is delimited on its way back.
enum Framed {
    AsSaid,
    Length(u64),
    Chunked,
    UntilClose,
}

fn response(answer: &ResponseHead, framed: &Framed, after: After) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {} ", answer.status).into_bytes();
    out.extend_from_slice(&answer.reason);
    out.extend_from_slice(b"\r\n");
    onward(&answer.headers).write(&mut out);
    let said = answer.headers.one("content-length").map(str::to_owned);
    let line = match (framed, said) {
        (Framed::AsSaid, Some(length)) => format!("Content-Length: {length}\r\n"),
        (Framed::AsSaid | Framed::UntilClose, _) => String::new(),
        (Framed::Length(length), _) => format!("Content-Length: {length}\r\n"),
        (Framed::Chunked, _) => "Transfer-Encoding: chunked\r\n".to_owned(),
    };
    out.extend_from_slice(line.as_bytes());
    let connection = if after == After::Next {
        "keep-alive"
    } else {
        "close"
    };
    out.extend_from_slice(format!("Connection: {connection}\r\n\r\n").as_bytes());
    out
}

/// A body on its way to the client.
struct Flow<'c, S> {
    client: &'c mut Wire<S>,
    chunked: bool,
    sent: usize,
    limit: usize,
    idle: std::time::Duration,
}

impl<S: Duplex> Flow<'_, S> {
    async fn pass(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        if piece.is_empty() {
            return Ok(());
        }
        self.sent += piece.len();
        if self.sent > self.limit {
            return Err(Refusal::TooLarge("answer"));
        }
        if self.chunked {
            let mut out = format!("{:x}\r\n", piece.len()).into_bytes();
            out.extend_from_slice(piece);
            out.extend_from_slice(b"\r\n");
            return self.client.send(&out, self.idle).await;
        }
        self.client.send(piece, self.idle).await
    }

    async fn finish(&mut self) -> Result<(), Refusal> {
        if self.chunked {
            self.client.send(b"0\r\n\r\n", self.idle).await?;
        }
        Ok(())
    }
}

/// A malformed body of an answer is the origin's fault, not the client's.
fn of_origin(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Chunk(_) => Refusal::Answer(http::HeadError::Encoding),
        other => other,
    }
}

/// Where the last complete event ends.
fn event_end(bytes: &[u8]) -> usize {
    let ends = [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"];
    let last = |end: &[u8]| {
        let at = bytes.windows(end.len()).rposition(|window| window == end);
        at.map_or(0, |at| at + end.len())
    };
    ends.into_iter().map(last).max().unwrap_or(0)
}

/// What the `data:` lines of events say, joined: a sentence may be spread over many of them.
fn said(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(
            line.strip_prefix("data:")
                .unwrap_or(line)
                .trim_start_matches(' '),
        );
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_end_at_empty_lines() {
        assert_eq!(event_end(b"data: a\n\ndata: b"), 9);
        assert_eq!(event_end(b"data: a\r\n\r\n"), 11);
        assert_eq!(event_end(b"data: a\n"), 0);
        assert_eq!(
            said(b"event: x\ndata: ignore\ndata:all\n\n"),
            "event: x\nignore\nall\n\n"
        );
    }
}
