//! WebSocket frames, taken apart so that messages can be looked into before they go on.

use thiserror::Error;

/// Bytes of one message, of however many frames.
pub(crate) const MAX_MESSAGE: usize = 1 << 20;

/// Frames that nobody should send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum FrameError {
    #[error("a frame is malformed")]
    Malformed,
    #[error("a message is too long")]
    TooLong,
}

/// One frame.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    last: bool,
    opcode: u8,
    payload: Vec<u8>,
    /// All of it, on the wire.
    length: usize,
}

/// Frames that may go on once their message has been looked into.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The frames as they came.
    pub(crate) raw: Vec<u8>,
    /// What they say.
    pub(crate) message: Vec<u8>,
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Clients mask what they send, servers do not.
    masked: bool,
    batch: Batch,
    /// A message has begun and not ended.
    open: bool,
}

impl Frames {
    pub(crate) fn new(masked: bool) -> Self {
        Self {
            masked,
            batch: Batch::default(),
            open: false,
        }
    }

    /// Takes the first frame from `bytes`: how many bytes it had, and what may be looked into now. Nothing while more
    /// must come.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
    ) -> Result<Option<(usize, Option<Batch>)>, FrameError> {
        let Some(frame) = parse(bytes, self.masked)? else {
            return Ok(None);
        };
        let raw = bytes.get(..frame.length).ok_or(FrameError::Malformed)?;
        if frame.opcode >= 8 {
            let batch = Batch {
                raw: raw.to_vec(),
                message: frame.payload,
            };
            return Ok(Some((frame.length, Some(batch))));
        }
        let begins = frame.opcode != 0;
        if begins == self.open {
            return Err(FrameError::Malformed);
        }
        if self.batch.message.len() + frame.payload.len() > MAX_MESSAGE {
            return Err(FrameError::TooLong);
        }
        self.batch.raw.extend_from_slice(raw);
        self.batch.message.extend_from_slice(&frame.payload);
        self.open = !frame.last;
        let done = frame.last.then(|| std::mem::take(&mut self.batch));
        Ok(Some((frame.length, done)))
    }
}

fn parse(bytes: &[u8], masked: bool) -> Result<Option<Frame>, FrameError> {
    let [first, second, rest @ ..] = bytes else {
        return Ok(None);
    };
    let (last, opcode) = (first & 0x80 != 0, first & 0x0f);
    let known = matches!(opcode, 0..=2 | 8..=10);
    // Reserved bits mean an extension, and none was agreed on.
    if first & 0x70 != 0 || !known || (second & 0x80 != 0) != masked {
        return Err(FrameError::Malformed);
    }
    let (wide, short) = match second & 0x7f {
        126 => (2, 0),
        127 => (8, 0),
        short => (0, usize::from(short)),
    };
    let Some((digits, rest)) = rest.split_at_checked(wide) else {
        return Ok(None);
    };
    let long = digits
        .iter()
        .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let length = if wide == 0 {
        short
    } else {
        usize::try_from(long).map_err(|_| FrameError::TooLong)?
    };
    if length > MAX_MESSAGE {
        return Err(FrameError::TooLong);
    }
    if opcode >= 8 && (!last || length > 125) {
        return Err(FrameError::Malformed);
    }
    let Some((mask, rest)) = rest.split_at_checked(if masked { 4 } else { 0 }) else {
        return Ok(None);
    };
    let Some(payload) = rest.get(..length) else {
        return Ok(None);
    };
    let mut payload = payload.to_vec();
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    Ok(Some(Frame {
        last,
        opcode,
        payload,
        length: 2 + wide + mask.len() + length,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(first: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
        let bit = if mask.is_some() { 0x80 } else { 0 };
        let mut out = vec![first];
        match payload.len() {
            short @ 0..=125 => out.push(bit | u8::try_from(short).unwrap()),
            long => {
                out.push(bit | 126);
                out.extend(u16::try_from(long).unwrap().to_be_bytes());
            }
        }
        out.extend(
            mask.unwrap_or_default()
                .iter()
                .take(if mask.is_some() { 4 } else { 0 }),
        );
        let mask = mask.unwrap_or_default();
        out.extend(
            payload
                .iter()
                .zip(mask.iter().cycle())
                .map(|(byte, mask)| byte ^ mask),
        );
        out
    }

    #[test]
    fn messages_are_put_together_and_frames_kept_as_they_came() {
        let mask = Some([1, 2, 3, 4]);
        let all = [
            frame(0x01, b"hel", mask),
            frame(0x89, b"ping", mask),
            frame(0x80, b"lo", mask),
        ]
        .concat();
        let mut frames = Frames::new(true);
        for cut in 0..9 {
            assert_eq!(frames.take(&all[..cut]), Ok(None));
        }
        assert_eq!(frames.take(&all), Ok(Some((9, None))));
        let (used, ping) = frames.take(&all[9..]).unwrap().unwrap();
        assert_eq!(ping.unwrap().message, b"ping");
        let (_, batch) = frames.take(&all[9 + used..]).unwrap().unwrap();
        let batch = batch.unwrap();
        assert_eq!(batch.message, b"hello");
        assert_eq!(
            batch.raw,
            [frame(0x01, b"hel", mask), frame(0x80, b"lo", mask)].concat()
        );
    }

    #[test]
    fn odd_frames_are_refused() {
        let server = |bytes: &[u8]| Frames::new(false).take(bytes);
        assert_eq!(
            server(&frame(0x81, b"x", Some([0; 4]))),
            Err(FrameError::Malformed)
        );
        assert_eq!(server(&frame(0xc1, b"x", None)), Err(FrameError::Malformed));
        assert_eq!(server(&frame(0x83, b"x", None)), Err(FrameError::Malformed));
        assert_eq!(server(&frame(0x09, b"x", None)), Err(FrameError::Malformed));
        assert_eq!(server(&frame(0x80, b"x", None)), Err(FrameError::Malformed));
        assert_eq!(
            server(&[0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]),
            Err(FrameError::TooLong)
        );
    }
}
