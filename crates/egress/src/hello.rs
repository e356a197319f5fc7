//! What a TLS client says first: the name it wants, and whether it hides another. Pure.

use thiserror::Error;

/// Bytes that are looked at for a whole `ClientHello`, however many records it comes in.
pub const MAX_HELLO: usize = 32 << 10;
const MAX_MESSAGE: usize = 24 << 10;
const MAX_RECORD: usize = 16 << 10;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
/// Encrypted `ClientHello`, its predecessor that encrypted the name alone, and the drafts between.
const HIDDEN: [u16; 4] = [0xfe0d, 0xffce, 0xfe0a, 0xfe08];

/// The first message of a TLS client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The server's name in it.
    pub name: Option<Box<str>>,
    /// Whether another one may be encrypted in it.
    pub hides: bool,
}

/// These bytes begin no TLS session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HelloError {
    /// Not a handshake.
    #[error("this is not TLS")]
    NotTls,
    /// A handshake that cannot be read.
    #[error("the TLS greeting is malformed")]
    Malformed,
    /// More than is looked at.
    #[error("the TLS greeting is too long")]
    TooLong,
}

impl Hello {
    /// Reads what has arrived so far: nothing while more must come.
    ///
    /// # Errors
    /// As soon as it can no longer become a greeting.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, HelloError> {
        let mut message = Vec::new();
        let mut rest = Cursor(bytes);
        loop {
            match rest.0 {
                [] => return Ok(None),
                [HANDSHAKE] | [HANDSHAKE, 3] => return Ok(None),
                [HANDSHAKE, 3, 0..=4, ..] => {}
                _ if message.is_empty() => return Err(HelloError::NotTls),
                _ => return Err(HelloError::Malformed),
            }
            let (Some(_), Some(length)) = (rest.take(3), rest.number(2)) else {
                return Ok(None);
            };
            if length == 0 || length > MAX_RECORD {
                return Err(HelloError::Malformed);
            }
            let part = rest.take(length.min(rest.0.len())).unwrap_or_default();
            message.extend_from_slice(part);
            if let Some(hello) = whole(&message)? {
                return Self::of(hello).map(Some);
            }
            if bytes.len() > MAX_HELLO {
                return Err(HelloError::TooLong);
            }
            if part.len() < length {
                return Ok(None);
            }
        }
    }

    fn of(body: &[u8]) -> Result<Self, HelloError> {
        Self::parse(body).ok_or(HelloError::Malformed)
    }

    fn parse(body: &[u8]) -> Option<Self> {
        let mut body = Cursor(body);
        body.take(2 + 32)?;
        body.vector(1)?;
        body.vector(2)?;
        body.vector(1)?;
        let mut hello = Self {
            name: None,
            hides: false,
        };
        if body.0.is_empty() {
            return Some(hello);
        }
        let mut extensions = Cursor(body.vector(2)?);
        if !body.0.is_empty() {
            return None;
        }
        let mut named = false;
        while !extensions.0.is_empty() {
            let kind = u16::try_from(extensions.number(2)?).ok()?;
            let data = extensions.vector(2)?;
            hello.hides |= HIDDEN.contains(&kind);
            if kind == SERVER_NAME {
                if named {
                    return None;
                }
                named = true;
                hello.name = server_name(data)?;
            }
        }
        Some(hello)
    }
}

/// The message without its header, once it is complete.
fn whole(message: &[u8]) -> Result<Option<&[u8]>, HelloError> {
    match message.first() {
        None => return Ok(None),
        Some(&CLIENT_HELLO) => {}
        Some(_) => return Err(HelloError::Malformed),
    }
    let mut rest = Cursor(message);
    let (Some(_), Some(length)) = (rest.take(1), rest.number(3)) else {
        return Ok(None);
    };
    if length > MAX_MESSAGE {
        return Err(HelloError::TooLong);
    }
    Ok(rest.take(length))
}

/// The one host name of the extension. Outside: malformed; inside: there is none.
fn server_name(data: &[u8]) -> Option<Option<Box<str>>> {
    let mut list = Cursor(data);
    let mut names = Cursor(list.vector(2)?);
    let kind = names.number(1)?;
    let name = names.vector(2)?;
    if kind != 0 || !names.0.is_empty() || !list.0.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(name)
        .ok()
        .filter(|name| name.is_ascii())?;
    Some(Some(text.into()))
}

struct Cursor<'b>(&'b [u8]);

impl<'b> Cursor<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        let taken = self.take(bytes)?;
        Some(
            taken
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        )
    }

    /// What follows a length of so many bytes.
    fn vector(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A greeting with these extensions, in records of so many bytes.
    pub(crate) fn greeting(extensions: &[(u16, Vec<u8>)], record: usize) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 0x01, 1, 0]);
        let mut all = Vec::new();
        for (kind, data) in extensions {
            all.extend(kind.to_be_bytes());
            all.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            all.extend(data);
        }
        body.extend(u16::try_from(all.len()).unwrap().to_be_bytes());
        body.extend(all);
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let message = [&[CLIENT_HELLO], &length[1..], &body].concat();
        let mut out = Vec::new();
        for part in message.chunks(record) {
            out.extend([HANDSHAKE, 3, 1]);
            out.extend(u16::try_from(part.len()).unwrap().to_be_bytes());
            out.extend(part);
        }
        out
    }

    pub(crate) fn named(name: &str) -> (u16, Vec<u8>) {
        let length = u16::try_from(name.len()).unwrap();
        let list = (length + 3).to_be_bytes();
        (
            SERVER_NAME,
            [&list[..], &[0], &length.to_be_bytes(), name.as_bytes()].concat(),
        )
    }

    #[test]
    fn the_name_is_found_in_however_many_records() {
        for record in [1, 7, 60, 5000] {
            let bytes = greeting(&[(43, vec![2, 3, 4]), named("a.test")], record);
            for cut in 0..bytes.len() {
                assert_eq!(Hello::read(&bytes[..cut]), Ok(None), "{record} {cut}");
            }
            let hello = Hello::read(&bytes).unwrap().unwrap();
            assert_eq!(
                (hello.name.as_deref(), hello.hides),
                (Some("a.test"), false)
            );
        }
    }

    #[test]
    fn what_is_hidden_or_missing_is_told() {
        let read = |extensions: &[_]| Hello::read(&greeting(extensions, 999)).unwrap().unwrap();
        assert_eq!(
            read(&[]),
            Hello {
                name: None,
                hides: false
            }
        );
        assert!(read(&[named("a.test"), (0xfe0d, vec![0; 9])]).hides);
        assert!(read(&[(0xffce, vec![])]).hides);
    }

    #[test]
    fn what_is_no_greeting_is_refused() {
        assert_eq!(Hello::read(b"GET / HTTP/1.1"), Err(HelloError::NotTls));
        assert_eq!(Hello::read(b"SSH-2.0"), Err(HelloError::NotTls));
        assert_eq!(
            Hello::read(&[22, 3, 1, 0, 4, 2, 0, 0, 0]),
            Err(HelloError::Malformed)
        );
        assert_eq!(Hello::read(&[22, 3, 1, 0, 0]), Err(HelloError::Malformed));
        assert_eq!(
            Hello::read(&[22, 3, 1, 0, 4, 1, 1, 0, 0]),
            Err(HelloError::TooLong)
        );
        let twice = greeting(&[named("a.test"), named("b.test")], 999);
        assert_eq!(Hello::read(&twice), Err(HelloError::Malformed));
        let tiny = greeting(&[(21, vec![0; 20_000])], 1);
        assert_eq!(Hello::read(&tiny), Err(HelloError::TooLong));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(0u8.., 0..200), cut in 0usize..90) {
            let _ = Hello::read(&bytes);
            let mut hello = greeting(&[named("a.test")], 40);
            if let Some(byte) = hello.get_mut(cut) {
                *byte ^= bytes.first().copied().unwrap_or(1);
            }
            let _ = Hello::read(&hello);
        }
    }
}
