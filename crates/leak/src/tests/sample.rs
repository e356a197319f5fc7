//! Keys made at run time from the templates of the tables, so that no file holds one.

use crate::check;
use crate::rules::{RULES, Rule};
use sha2::{Digest, Sha256};

/// A small generator with a fixed seed: the same samples on every machine.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: &str) -> Self {
        Self(seed.bytes().fold(0x9E37_79B9_7F4A_7C15, |sum, b| {
            (sum ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)
        }))
    }

    pub(super) fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn of(&mut self, letters: &str, count: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..count)
            .map(|_| letters[self.next(letters.len())])
            .collect()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next(256) as u8).collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const BECH32: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|three| {
            let bits = (0..3).fold(0_u32, |bits, at| {
                bits << 8 | u32::from(*three.get(at).unwrap_or(&0))
            });
            (0..4).map(move |at| {
                if at > three.len() {
                    '='
                } else {
                    char::from(ALPHABET[(bits >> (18 - 6 * at) & 63) as usize])
                }
            })
        })
        .collect()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn base58check(payload: &[u8]) -> String {
    let sum = Sha256::digest(Sha256::digest(payload));
    base58(&[payload, &sum[..4]].concat())
}

fn base58(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut digits: Vec<u32> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    digits.extend(bytes.iter().take_while(|b| **b == 0).map(|_| 0));
    digits
        .iter()
        .rev()
        .map(|digit| char::from(ALPHABET[*digit as usize]))
        .collect()
}

/// A human part and random data under a valid checksum, found by trying the last six characters' linear sum.
fn bech32(human: &str, data: &str) -> String {
    let values = |text: &str| {
        text.bytes()
            .map(|b| BECH32.find(char::from(b)).unwrap() as u32)
            .collect::<Vec<_>>()
    };
    let mut sum = 1_u32;
    let mut feed = |value: u32| {
        let top = sum >> 25;
        sum = (sum & 0x01FF_FFFF) << 5 ^ value;
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
    human.bytes().for_each(|b| feed(u32::from(b >> 5)));
    feed(0);
    human.bytes().for_each(|b| feed(u32::from(b & 31)));
    values(data).into_iter().for_each(&mut feed);
    (0..6).for_each(|_| feed(0));
    let sum = sum ^ 1;
    let tail: String = (0..6)
        .map(|at| BECH32.as_bytes()[(sum >> (5 * (5 - at)) & 31) as usize])
        .map(char::from)
        .collect();
    let whole = format!("{human}1{data}{tail}");
    assert!(check::bech32(whole.as_bytes()));
    whole
}

/// A template filled in.
pub(super) fn fill(template: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let close = open + rest[open..].find('}').unwrap();
        let (kind, count) = rest[open + 1..close]
            .split_once(':')
            .unwrap_or((&rest[open + 1..close], "0"));
        let count: usize = count.parse().unwrap();
        let made = match kind {
            "alnum" => dice.of(&[UPPER, LOWER, DIGITS].concat(), count),
            "hex" => dice.of("0123456789abcdef", count),
            "upper" => dice.of(&[UPPER, DIGITS].concat(), count),
            "lower" => dice.of(&[LOWER, DIGITS].concat(), count),
            "digits" => format!("{}{}", dice.of("123456789", 1), dice.of(DIGITS, count - 1)),
            "b64" => dice.of(&[UPPER, LOWER, DIGITS, "+/"].concat(), count),
            "b64url" => dice.of(&[UPPER, LOWER, DIGITS, "-_"].concat(), count),
            "bech32" => dice.of(&BECH32.to_ascii_uppercase(), count),
            "digits64" => base64(format!("1{}", dice.of(DIGITS, 17)).as_bytes())[2..].to_owned(),
            "uuid" => [8, 4, 4, 4, 12]
                .map(|part| dice.of("0123456789abcdef", part))
                .join("-"),
            "basic" => base64(format!("admin:{}", dice.of(LOWER, 9)).as_bytes()),
            "wif" => base58check(&[&[0x80][..], &dice.bytes(32), &[1]].concat()),
            "xprv" => base58check(&[&[0x04, 0x88, 0xAD, 0xE4][..], &dice.bytes(74)].concat()),
            "solana" => base58(&[&[0x7F][..], &dice.bytes(63)].concat()),
            "nsec" => bech32("nsec", &dice.of(BECH32, 52)),
            "lnurl" => bech32("lnurl", &dice.of(BECH32, 60)),
            "invoice" => bech32("lnbc20m", &dice.of(BECH32, 200)),
            other => panic!("no such template: {other}"),
        };
        out.push_str(&made);
        rest = &rest[close + 1..];
    }
    out + rest
}

/// An example of a rule.
pub(super) fn example(rule: &Rule) -> String {
    fill(&rule.example, &mut Dice::new(&rule.id))
}

/// Every rule's example, and examples of what has no table: a name and a text that must be found.
pub(super) fn all() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = RULES
        .iter()
        .map(|rule| (rule.id.clone(), example(rule)))
        .collect();
    let dashes = "-----";
    let mut dice = Dice::new("built in");
    let mut add =
        |name: &str, template: &str| all.push((name.to_owned(), fill(template, &mut dice)));
    let head = base64(br#"{"alg":"HS256","typ":"JWT"}"#);
    let body = base64(br#"{"sub":"1234567890","name":"x"}"#).replace('=', "");
    add(
        "jwt",
        &format!("{}.{body}.{{alnum:43}}", head.replace('=', "")),
    );
    add(
        "private-key",
        &format!(
            "{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{{b64:64}}\n{{b64:64}}\n{dashes}END RSA PRIVATE KEY{dashes}"
        ),
    );
    add(
        "seed-phrase",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
    );
    add(
        "url-password",
        "postgres://app:{alnum:14}@db.internal:5432/main",
    );
    add("named-secret", "service_token = \"{alnum:28}\"");
    add("email", "jane.doe@mail.example.org");
    add("phone", "+49 30 1234567");
    add("payment-card", "4111 1111 1111 1111");
    add("iban", "DE89 3704 0044 0532 0130 00");
    add("us-ssn", "078-05-1123");
    add("internal-path", "/data/.openclaw/keys");
    add("internal-term", "SOUL.md");
    all
}
