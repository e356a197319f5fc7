//! Checksums and structure: what tells a real key from a look-alike before entropy is asked.

use sha2::{Digest, Sha256};

/// Bits per character of a text, by its own letter frequencies.
pub(crate) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u16; 256];
    for byte in bytes.iter().take(1024) {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = bytes.len().min(1024) as f32;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f32::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

/// The check digit of payment cards.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(*digit);
            match (place % 2, digit) {
                (0, digit) => digit,
                (_, digit) if digit > 4 => digit * 2 - 9,
                (_, digit) => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether a card issuer hands out numbers of this beginning and length.
pub(crate) fn issued(digits: &[u8]) -> bool {
    let head = |count: usize| {
        digits
            .iter()
            .take(count)
            .fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit))
    };
    match digits.len() {
        13 | 19 if head(1) == 4 => true,
        14 => matches!(head(2), 36 | 38 | 39) || matches!(head(3), 300..=305),
        15 => matches!(head(2), 34 | 37) || head(1) == 1 || matches!(head(4), 2014 | 2149),
        16 => {
            head(1) == 4
                || matches!(head(2), 51..=55 | 65 | 60)
                || matches!(head(4), 2221..=2720 | 3528..=3589 | 6011 | 2200..=2204 | 5018 | 5020 | 5038 | 6304 | 6759 | 6761..=6763)
                || matches!(head(3), 644..=649)
                || head(2) == 62
        }
        17..=19 => {
            head(2) == 62 || head(4) == 6011 || matches!(head(4), 5018 | 5020 | 5038 | 6304 | 6759)
        }
        _ => false,
    }
}

/// Lengths of account numbers, by country: the ISO 13616 registry.
const IBAN: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

/// How long the account numbers of a country are.
pub(crate) fn iban_length(country: &[u8]) -> Option<usize> {
    let place = IBAN
        .binary_search_by(|(code, _)| code.as_bytes().cmp(country))
        .ok()?;
    IBAN.get(place).map(|(_, length)| *length)
}

/// The check digits of an account number without spaces.
pub(crate) fn mod97(account: &[u8]) -> bool {
    let mut rest = 0_u32;
    let (head, tail) = account.split_at(account.len().min(4));
    for byte in tail.iter().chain(head) {
        rest = match byte {
            b'0'..=b'9' => rest * 10 + u32::from(byte - b'0'),
            b'A'..=b'Z' => rest * 100 + u32::from(byte - b'A') + 10,
            _ => return false,
        } % 97;
    }
    rest == 1
}

/// The checksum of ZIP, PNG and of GitHub's tokens.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xEDB8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Whether the last six characters of a GitHub token are the checksum of those between prefix and them.
pub(crate) fn github(token: &[u8]) -> bool {
    let Some(body) = token
        .iter()
        .position(|b| *b == b'_')
        .and_then(|at| token.get(at + 1..))
    else {
        return false;
    };
    let Some((random, sum)) = body.len().checked_sub(6).map(|at| body.split_at(at)) else {
        return false;
    };
    let mut left = crc32(random);
    let mut expected = [b'0'; 6];
    for place in expected.iter_mut().rev() {
        *place = BASE62.get((left % 62) as usize).copied().unwrap_or(b'0');
        left /= 62;
    }
    sum == expected
}

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The bytes of a base58 text of at most 128 characters.
pub(crate) fn base58(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > 128 {
        return None;
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text {
        let mut carry = BASE58.iter().position(|b| b == byte)? as u32;
        for place in &mut out {
            carry += u32::from(*place) * 58;
            *place = (carry & 0xFF) as u8;
            carry >>= 8;
        }
        while carry > 0 {
            out.push((carry & 0xFF) as u8);
            carry >>= 8;
        }
    }
    out.extend(text.iter().take_while(|b| **b == b'1').map(|_| 0));
    out.reverse();
    Some(out)
}

/// The payload of a base58 text whose last four bytes are its checksum.
pub(crate) fn base58check(text: &[u8]) -> Option<Vec<u8>> {
    let bytes = base58(text)?;
    let (payload, sum) = bytes.split_at(bytes.len().checked_sub(4)?);
    let expected = Sha256::digest(Sha256::digest(payload));
    expected.starts_with(sum).then(|| payload.to_vec())
}

const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Whether a text, in one case, carries a bech32 or bech32m checksum.
pub(crate) fn bech32(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    if lower != text && text.to_ascii_uppercase() != text {
        return false;
    }
    let Some(cut) = lower.iter().rposition(|b| *b == b'1') else {
        return false;
    };
    let (human, data) = lower.split_at(cut);
    if human.is_empty() || data.len() < 7 {
        return false;
    }
    let mut sum = 1_u32;
    let mut feed = |value: u32| {
        let top = sum >> 25;
        sum = ((sum & 0x01FF_FFFF) << 5) ^ value;
        for (bit, generator) in [
            0x3B6A_57B2,
            0x2650_8E6D,
            0x1EA1_19FA,
            0x3D42_33DD,
            0x2A14_62B3,
        ]
        .into_iter()
        .enumerate()
        {
            if top >> bit & 1 == 1 {
                sum ^= generator;
            }
        }
    };
    human.iter().for_each(|b| feed(u32::from(b >> 5)));
    feed(0);
    human.iter().for_each(|b| feed(u32::from(b & 31)));
    for byte in data.iter().skip(1) {
        match BECH32.iter().position(|b| b == byte) {
            Some(value) => feed(value as u32),
            None => return false,
        }
    }
    matches!(sum, 1 | 0x2BC8_30A3)
}

/// The bytes of base64 in either alphabet, padding optional; at most `most` characters are read.
pub(crate) fn base64(text: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len().min(most) * 3 / 4 + 3);
    let (mut bits, mut held) = (0_u32, 0_u8);
    for byte in text.iter().take(most) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_have_a_check_digit_and_an_issuer() {
        let digits = |text: &str| text.bytes().map(|b| b - b'0').collect::<Vec<_>>();
        assert!(luhn(&digits("4111111111111111")) && issued(&digits("4111111111111111")));
        assert!(!luhn(&digits("4111111111111112")));
        assert!(!issued(&digits("9111111111111111")));
    }

    #[test]
    fn accounts_have_check_digits() {
        assert!(mod97(b"DE89370400440532013000"));
        assert!(!mod97(b"DE89370400440532013001"));
        assert!(IBAN.is_sorted());
        assert_eq!(iban_length(b"NO"), Some(15));
        assert_eq!(iban_length(b"ZZ"), None);
    }

    #[test]
    fn known_sums() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert!(bech32(b"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"));
        assert!(!bech32(b"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"));
        assert_eq!(
            base58check(b"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2").map(|p| p.len()),
            Some(21)
        );
        assert_eq!(base58check(b"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"), None);
        assert_eq!(base64(b"aGVsbG8", 99), Some(b"hello".to_vec()));
    }

    #[test]
    fn a_repeated_letter_has_no_entropy() {
        assert!(entropy(b"aaaaaaaa") < 0.1);
        assert!(entropy(b"abcdefgh") > 2.9);
    }
}
