//! Takes a chunked body apart as it arrives. Extensions and trailers are checked and dropped.

use super::headers::{is_plain, token};
use super::{ChunkError, Headers};

const MAX_EXTENSION: usize = 512;
const MAX_TRAILERS: usize = 8 << 10;
const MAX_DIGITS: usize = 15;
/// A size line, all of it.
const MAX_SIZE_LINE: usize = MAX_DIGITS + MAX_EXTENSION + 2;

/// The decoder's place in the body: a size line, the data of a chunk, the line end after it, trailers, and nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Size,
    Data(u64),
    DataEnd,
    Trailers,
    Done,
}

/// A decoder.
#[derive(Clone, Debug)]
pub struct Chunked {
    place: Place,
    /// What has come of a line.
    line: Vec<u8>,
    trailers: usize,
    /// Whether quotes in extensions must be closed.
    strict: bool,
}

impl Chunked {
    /// For the body of a request.
    #[must_use]
    pub fn request() -> Self {
        Self {
            place: Place::Size,
            line: Vec::new(),
            trailers: 0,
            strict: true,
        }
    }

    /// For the body of a response; servers are sloppier about extensions, which are dropped anyway.
    #[must_use]
    pub fn response() -> Self {
        Self {
            strict: false,
            ..Self::request()
        }
    }

    /// Whether the body is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.place == Place::Done
    }

    /// Takes what it can from `input` and appends at most `room` bytes of data to `out`: how many bytes were used up. It
    /// stops early only when it is done or `room` is.
    ///
    /// # Errors
    /// At the first byte that does not belong.
    pub fn decode(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<usize, ChunkError> {
        let start = out.len();
        let mut rest = input;
        while !rest.is_empty() {
            match self.place {
                Place::Done => break,
                Place::Data(left) => {
                    let room = room.saturating_sub(out.len() - start);
                    let most = usize::try_from(left).unwrap_or(usize::MAX).min(room);
                    if most == 0 {
                        break;
                    }
                    let (data, after) = rest.split_at_checked(most).unwrap_or((rest, &[]));
                    out.extend_from_slice(data);
                    rest = after;
                    let left = left - data.len() as u64;
                    self.place = if left == 0 {
                        Place::DataEnd
                    } else {
                        Place::Data(left)
                    };
                }
                Place::Size | Place::DataEnd | Place::Trailers => rest = self.take_line(rest)?,
            }
        }
        Ok(input.len() - rest.len())
    }

    /// Takes up to the end of a line, and reads the line when it is complete.
    fn take_line<'i>(&mut self, input: &'i [u8]) -> Result<&'i [u8], ChunkError> {
        let (limit, error) = match self.place {
            Place::DataEnd => (2, ChunkError::End),
            Place::Trailers => (MAX_TRAILERS, ChunkError::Trailer),
            _ => (MAX_SIZE_LINE, ChunkError::Size),
        };
        let end = input.iter().position(|b| *b == b'\n').map(|at| at + 1);
        let (part, rest) = input
            .split_at_checked(end.unwrap_or(input.len()))
            .unwrap_or((input, &[]));
        if self.line.len() + part.len() > limit {
            return Err(error);
        }
        self.line.extend_from_slice(part);
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r\n").ok_or(error)?;
            self.read_line(line)?;
        }
        Ok(rest)
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), ChunkError> {
        match self.place {
            Place::DataEnd if line.is_empty() => self.place = Place::Size,
            Place::DataEnd => return Err(ChunkError::End),
            Place::Trailers if line.is_empty() => self.place = Place::Done,
            Place::Trailers => {
                self.trailers += line.len();
                if self.trailers > MAX_TRAILERS || !may_trail(line) {
                    return Err(ChunkError::Trailer);
                }
            }
            _ => {
                self.place = match size(line, self.strict)? {
                    0 => Place::Trailers,
                    size => Place::Data(size),
                };
            }
        }
        Ok(())
    }
}

fn size(line: &[u8], strict: bool) -> Result<u64, ChunkError> {
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let (number, extension) = line.split_at_checked(digits).ok_or(ChunkError::Size)?;
    if !(1..=MAX_DIGITS).contains(&digits) {
        return Err(ChunkError::Size);
    }
    match extension {
        [] => {}
        [b';', extension @ ..] => {
            let quotes = extension.iter().filter(|b| **b == b'"').count();
            let closed = !strict || quotes.is_multiple_of(2);
            if !closed || !extension.iter().all(|b| is_plain(*b)) {
                return Err(ChunkError::Extension);
            }
        }
        _ => return Err(ChunkError::Size),
    }
    let text = std::str::from_utf8(number).map_err(|_| ChunkError::Size)?;
    u64::from_str_radix(text, 16).map_err(|_| ChunkError::Size)
}

/// Whether a line may come after the body: a header, and none that decides about the message.
fn may_trail(line: &[u8]) -> bool {
    const NEVER: &[&str] = &[
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-range",
        "content-type",
        "cookie",
        "expect",
        "host",
        "max-forwards",
        "proxy-authorization",
        "range",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let name = line.split(|b| *b == b':').next().and_then(token);
    let mut headers = Headers::default();
    name.is_some_and(|name| !NEVER.iter().any(|never| never.eq_ignore_ascii_case(name)))
        && headers.take(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &[u8]) -> Result<Option<Vec<u8>>, ChunkError> {
        let mut whole = Vec::new();
        let mut at_once = Chunked::request();
        let outcome = at_once.decode(body, &mut whole, usize::MAX);
        let mut pieces = Vec::new();
        let mut by_byte = Chunked::request();
        let stepwise = body
            .iter()
            .try_for_each(|b| by_byte.decode(&[*b], &mut pieces, usize::MAX).map(drop));
        assert_eq!(outcome.map(drop), stepwise, "{body:?}");
        outcome?;
        assert_eq!(whole, pieces);
        Ok(at_once.is_done().then_some(whole))
    }

    #[test]
    fn a_body_is_the_same_however_it_arrives() {
        assert_eq!(
            decode(b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n"),
            Ok(Some(b"hello world".to_vec()))
        );
        assert_eq!(
            decode(b"5\r\nhello\r\n000\r\nX-Sum: 1\r\n\r\n"),
            Ok(Some(b"hello".to_vec()))
        );
        assert_eq!(decode(b"5\r\nhello\r\n0\r\n"), Ok(None));
        assert_eq!(decode(b"5\r\nhel"), Ok(None));
    }

    #[test]
    fn what_is_odd_is_refused() {
        for (body, error) in [
            (&b"\r\nhello"[..], ChunkError::Size),
            (b"-5\r\nhello\r\n", ChunkError::Size),
            (b"5 \r\nhello\r\n", ChunkError::Size),
            (b"0x5\r\nhello\r\n", ChunkError::Size),
            (b"5\nhello\r\n", ChunkError::Size),
            (b"5\r\r\nhello\r\n", ChunkError::Size),
            (b"fffffffffffffffff\r\n", ChunkError::Size),
            (b"5;a=\"b\r\nhello\r\n", ChunkError::Extension),
            (b"5;\0\r\nhello\r\n", ChunkError::Extension),
            (b"5\r\nhelloX\r\n", ChunkError::End),
            (b"5\r\nhello\n0\r\n\r\n", ChunkError::End),
            (b"0\r\nContent-Length: 5\r\n\r\n", ChunkError::Trailer),
            (b"0\r\nno header\r\n\r\n", ChunkError::Trailer),
            (b"0\r\nA: b\n\r\n", ChunkError::Trailer),
        ] {
            assert_eq!(decode(body), Err(error), "{body:?}");
        }
        assert_eq!(
            decode(&[b"5;".as_slice(), &[b'a'; 600]].concat()),
            Err(ChunkError::Size)
        );
    }

    #[test]
    fn no_more_is_given_than_there_is_room_for() {
        let mut body = Chunked::request();
        let mut out = Vec::new();
        assert_eq!(body.decode(b"5\r\nhello\r\n0\r\n\r\n", &mut out, 2), Ok(5));
        assert_eq!(out, b"he");
        assert_eq!(body.decode(b"llo\r\n0\r\n\r\nGET", &mut out, 9), Ok(10));
        assert!(body.is_done() && out == b"hello");
    }
}
