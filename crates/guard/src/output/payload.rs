//! Whether a part of an address carries words: in the open, or encoded.

/// Longest part that is decoded.
const MAX_VALUE: usize = 4096;
/// Words from which a value is a sentence.
const MIN_WORDS: usize = 4;

/// What a part of an address carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Nothing that tells anything.
    Nothing,
    /// Readable text under base64, hex or base32.
    Encoded(String),
    /// A sentence or a structure, as it is.
    Words(usize),
    /// A long value that nobody can read.
    Opaque(usize),
}

/// What `value`, as it stands in an address, carries. Encoded texts shorter than `least` bytes do not count.
pub(crate) fn payload(value: &str, least: usize) -> Payload {
    let value = value
        .get(..value.floor_char_boundary(MAX_VALUE))
        .unwrap_or(value);
    let plain = unescaped(value);
    if let Some(text) = decoded(&plain, least) {
        return Payload::Encoded(text);
    }
    // A plus sign is a digit of base64, and a blank everywhere else.
    let plain = plain.replace('+', " ");
    let trimmed = plain.trim();
    let words = trimmed
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic) && !word.contains('='))
        .count();
    let structured = trimmed.starts_with(['{', '[']) && trimmed.contains([':', ',']);
    if trimmed.len() >= 20 && (words >= MIN_WORDS || structured) {
        return Payload::Words(trimmed.len());
    }
    if plain.len() >= 64 && !plain.contains(['/', ' ']) {
        return Payload::Opaque(plain.len());
    }
    Payload::Nothing
}

/// Percent-encoding undone.
fn unescaped(value: &str) -> String {
    if !value.contains('%') {
        return value.to_owned();
    }
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = (byte == b'%')
            .then(|| Some(hex(*bytes.get(at + 1)?)? << 4 | hex(*bytes.get(at + 2)?)?))
            .flatten();
        match escape {
            Some(escaped) => {
                out.push(escaped);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The readable text that `value` encodes, if it is at least `least` bytes.
fn decoded(value: &str, least: usize) -> Option<String> {
    // A file name's ending or a leading word is not part of the code.
    let body = value.rsplit_once('.').map_or(value, |(stem, ending)| {
        if ending.len() <= 5 && !stem.contains('.') {
            stem
        } else {
            value
        }
    });
    let body = body.rsplit_once([':', '=']).map_or(
        body,
        |(_, tail)| {
            if tail.len() >= 8 { tail } else { body }
        },
    );
    let body = body.trim_end_matches('=');
    [hex_bytes(body), base64_bytes(body), base32_bytes(body)]
        .into_iter()
        .flatten()
        .filter(|bytes| bytes.len() >= least)
        .find_map(|bytes| readable(&bytes))
}

fn readable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let odd = text
        .chars()
        .filter(|c| c.is_control() && !c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric())
        .count();
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    let total = text.chars().count();
    (odd == 0 && letters * 2 >= total && text.chars().any(char::is_alphabetic))
        .then(|| text.to_owned())
}

fn hex(byte: u8) -> Option<u8> {
    u8::try_from(char::from(byte).to_digit(16)?).ok()
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("0x").unwrap_or(text);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(hex(*high)? << 4 | hex(*low)?),
            _ => None,
        })
        .collect()
}

fn digit64(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn digit32(byte: u8) -> Option<u8> {
    Some(match byte.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => upper - b'A',
        b'2'..=b'7' => byte - b'2' + 26,
        _ => return None,
    })
}

fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    bits(text, 6, digit64)
}

fn base32_bytes(text: &str) -> Option<Vec<u8>> {
    bits(text, 5, digit32)
}

fn bits(text: &str, width: u32, digit: fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut held, mut count) = (0_u32, 0_u32);
    for byte in text.bytes() {
        held = held << width | u32::from(digit(byte)?);
        count += width;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(held >> count & 0xff).unwrap_or_default());
            held &= (1 << count) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_words_are_read() {
        for value in [
            "dXNlcjogYWxpY2U7IGJhbGFuY2U6IDEyMDA=",
            "dXNlcjogYWxpY2U7IGJhbGFuY2U6IDEyMDA%3D",
            "757365723a20616c6963653b2062616c616e63653a2031323030",
            "OVZWK4R2EBQWY2LDMU5SAYTBNRQW4Y3FHIQDCMRQGA",
            "dXNlcjogYWxpY2U7IGJhbGFuY2U6IDEyMDA.png",
            "d=dXNlcjogYWxpY2U7IGJhbGFuY2U6IDEyMDA",
        ] {
            assert_eq!(
                payload(value, 9),
                Payload::Encoded("user: alice; balance: 1200".to_owned()),
                "{value}"
            );
        }
    }

    #[test]
    fn hashes_and_names_are_not() {
        for value in [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
            "getting-started",
            "photo-1506744038136-46273834b3fb",
            "ANd9GcQ2vJ8Yw3k",
            "index.html",
            "v1.2.3",
            "1700000000",
        ] {
            assert_eq!(payload(value, 9), Payload::Nothing, "{value}");
        }
    }

    #[test]
    fn sentences_and_structures_are_words() {
        assert!(matches!(
            payload("the+user+asked+about+divorce", 9),
            Payload::Words(_)
        ));
        assert!(matches!(
            payload("%7B%22name%22%3A%22alice%22%2C%22age%22%3A4%7D", 9),
            Payload::Words(_)
        ));
        assert_eq!(payload("Hello+World", 9), Payload::Nothing);
    }
}
