//! HTTP/1.1 messages as a proxy must read them: one meaning or none. Pure.
//!
//! Whatever two parsers might read differently (two lengths, folded or bare line ends, odd chunk sizes) is refused, and
//! what is accepted is written anew from its parts, so that no byte of a head is passed on as it came.

mod chunked;
mod error;
mod framing;
mod head;
mod headers;
mod hop;
mod target;

pub use chunked::Chunked;
pub use error::{ChunkError, HeadError};
pub use framing::{Framing, of_request, of_response};
pub use head::{HeadScan, RequestHead, ResponseHead};
pub use headers::Headers;
pub use hop::{Upgrade, keeps_alive, onward, upgrade};
pub use target::{Authority, Scheme, Target};

/// Bytes of a head.
pub const MAX_HEAD: usize = 64 << 10;
/// Bytes of a first line.
pub const MAX_LINE: usize = 8 << 10;
/// Bytes of one header.
pub const MAX_HEADER: usize = 8190;
/// Headers of a message.
pub const MAX_HEADERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces of which strange messages are made.
    const PIECES: &[&[u8]] = &[
        b"GET ",
        b"CONNECT ",
        b"http://a.test/",
        b"a.test:443",
        b" HTTP/1.1",
        b"HTTP/1.0 200 OK",
        b"\r\n",
        b"\r",
        b"\n",
        b" ",
        b"\t",
        b":",
        b"Host: a.test",
        b"Content-Length: 5",
        b"Transfer-Encoding: chunked",
        b"\0",
        b"\xff",
        b"5;x",
        b"0",
        b"hello",
    ];

    fn message() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
            1 => prop::collection::vec(any::<u8>(), 0..8),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_readers(bytes in message()) {
            let _ = RequestHead::parse(&bytes).map(|head| of_request(&head));
            let _ = ResponseHead::parse(&bytes).map(|head| of_response(&head, "GET"));
            if let Ok(Some(place)) = HeadScan::default().advance(&bytes) {
                prop_assert!(place.end <= bytes.len() && bytes[place].ends_with(b"\r\n\r\n"));
            }
            let mut out = Vec::new();
            let used = Chunked::request().decode(&bytes, &mut out, 64);
            prop_assert!(used.unwrap_or(0) <= bytes.len() && out.len() <= 64);
        }

        /// Written anew, a head that was accepted means the same.
        #[test]
        fn what_is_accepted_has_one_meaning(bytes in message(), name in "[A-Za-z][A-Za-z-]{0,8}", value in "[ -~]{0,12}") {
            let head = [b"GET http://a.test/ HTTP/1.1\r\n".as_slice(), name.as_bytes(), b": ", value.as_bytes(), b"\r\n", &bytes, b"\r\n\r\n"].concat();
            if let Ok(read) = RequestHead::parse(&head) {
                let mut again = format!("{} {} HTTP/1.1\r\n", read.method, read.target).into_bytes();
                read.headers.write(&mut again);
                again.extend_from_slice(b"\r\n");
                let second = RequestHead::parse(&again).unwrap();
                prop_assert_eq!(of_request(&second), of_request(&read));
                prop_assert_eq!(second, read);
            }
        }
    }
}
