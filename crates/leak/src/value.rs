//! Is this the value of a secret? Placeholders, variables, paths, words and identifiers are not.

use crate::check::entropy;
use crate::words::{reference, vowels, wordy};

/// What the name before a value promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Promise {
    /// A `key`: of anything.
    Key,
    /// An `api key`, a `token`, a `secret`.
    Token,
    /// A `password`: chosen by a person, so that it may be short.
    Password,
}

/// Counts of what a value is made of.
#[derive(Default)]
struct Shape {
    lower: usize,
    upper: usize,
    digits: usize,
    other: usize,
    /// Neighbours of different kinds.
    changes: usize,
}

impl Shape {
    fn of(value: &str) -> Self {
        let mut shape = Self::default();
        let mut last = 0;
        for c in value.chars() {
            let kind = match c {
                '0'..='9' => 1,
                c if c.is_lowercase() => 2,
                c if c.is_uppercase() => 3,
                _ => 4,
            };
            match kind {
                1 => shape.digits += 1,
                2 => shape.lower += 1,
                3 => shape.upper += 1,
                _ => shape.other += 1,
            }
            if last != 0 && last != kind {
                shape.changes += 1;
            }
            last = kind;
        }
        shape
    }

    fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Words that stand where a secret would stand.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "your",
    "xxxx",
    "dummy",
    "insert",
    "replace",
    "todo",
    "fixme",
    "undefined",
    "null",
    "none",
    "true",
    "false",
    "sample",
    "foobar",
    "test1234",
    "password",
    "somefake",
    "fake",
    "not_a_",
    "notreal",
    "my-secret",
    "my_secret",
    "mysecret",
    "process.env",
    "os.environ",
    "getenv",
    "secret_key",
    "secret-key",
    "api_key",
    "api-key",
    "apikey",
    "access_token",
    "(hidden)",
    "masked",
    "put_your",
    "****",
    "....",
    "…",
    "------",
    "_here",
    "-here",
    "qwerty",
    "lorem",
];

/// Whether a value stands for another one: a variable, a template, a blank to be filled in.
pub(crate) fn placeholder(value: &str) -> bool {
    let starts = ["$", "%", "<", "{", "[", "(", "@", "#{", "!", "*", "&"];
    if starts.iter().any(|start| value.starts_with(start))
        && !value.ends_with(|c: char| c.is_ascii_alphanumeric())
    {
        return true;
    }
    if value.starts_with("${") || value.starts_with("$(") || value.starts_with('<') {
        return true;
    }
    if value.starts_with('$')
        && value
            .chars()
            .skip(1)
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    {
        return true;
    }
    if ["{{", "}}", "${", "%(", "<%", "$(", "%s"]
        .iter()
        .any(|mark| value.contains(mark))
    {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    if PLACEHOLDERS.iter().any(|word| lower.contains(word)) {
        return true;
    }
    repeats(&lower)
}

/// One or two characters over and over, or a plain row of them.
fn repeats(value: &str) -> bool {
    let mut seen = [false; 256];
    value.bytes().for_each(|b| {
        if let Some(place) = seen.get_mut(usize::from(b)) {
            *place = true;
        }
    });
    let distinct = seen.iter().filter(|s| **s).count();
    distinct < 4 && value.len() >= 8 || distinct < 3
}

/// A quick no for words, numbers and names.
pub(crate) fn plausible(value: &str) -> bool {
    let (mut digits, mut upper, mut other) = (false, 0, 0);
    for b in value.bytes().take(64) {
        digits |= b.is_ascii_digit();
        upper += usize::from(b.is_ascii_uppercase());
        other += usize::from(!b.is_ascii_alphanumeric() && b != b'_' && b != b'.');
    }
    value.len() >= 6 && (digits || upper >= 2 || other > 0 || value.len() >= 20)
}

/// Whether a value under such a name is a secret.
pub(crate) fn secret(value: &str, promise: Promise, quoted: bool) -> bool {
    if value.len() < 6 || value.len() > 4096 {
        return false;
    }
    let shape = Shape::of(value);
    if shape.letters() == 0 {
        return promise == Promise::Password
            && shape.digits >= 6
            && shape.other == 0
            && value.len() <= 12
            && quoted;
    }
    if reference(value, quoted) || uuid(value) && promise == Promise::Key {
        return false;
    }
    if uuid(value) {
        return true;
    }
    // No hash and no key has such a length.
    if hex(value) && value.len() > 64 && !matches!(value.len(), 80 | 96 | 128 | 160 | 256) {
        return false;
    }
    let bits = entropy(value.as_bytes());
    let fits = match promise {
        Promise::Password => password(value, &shape, bits),
        Promise::Token => value.len() >= 12 && random(value, &shape, bits, 2.95),
        Promise::Key => value.len() >= 16 && !hex(value) && random(value, &shape, bits, 3.4),
    };
    fits && !placeholder(value)
}

/// Whether a text without a name is as random as a key.
pub(crate) fn looks_random(value: &str) -> bool {
    value.len() >= 16
        && !placeholder(value)
        && random(value, &Shape::of(value), entropy(value.as_bytes()), 3.2)
}

/// A password on a command line or in a URL.
pub(crate) fn looks_chosen(value: &str) -> bool {
    const COMMON: &[&str] = &[
        "pass",
        "passwd",
        "password",
        "secret",
        "pwd",
        "user",
        "username",
        "token",
        "root",
        "admin",
        "test",
        "guest",
        "xxx",
        "foo",
        "bar",
        "mypass",
        "key",
        "pw",
        "apikey",
        "userpass",
        "mypassword",
        "string",
        "value",
        "hello",
    ];
    let lower = value.to_ascii_lowercase();
    let varies = value
        .bytes()
        .collect::<std::collections::BTreeSet<_>>()
        .len()
        > 2;
    value.len() >= 4 && varies && !placeholder(value) && !COMMON.contains(&lower.as_str())
}

fn password(value: &str, shape: &Shape, bits: f32) -> bool {
    let mixed = shape.digits > 0 && shape.letters() > 0;
    if value.len() < 8 {
        return mixed && !wordy(value) && (shape.other > 0 || shape.digits >= 2 || shape.upper > 0);
    }
    if mixed {
        return bits >= 2.5
            && (!wordy(value) || shape.other > 0 && shape.changes >= 4 && !value.contains('.'));
    }
    shape.other > 1 && shape.upper > 0 && shape.lower > 0 && bits >= 3.0 && !wordy(value)
        || tangled(shape, value.len())
}

/// Letters and digits without order.
fn random(value: &str, shape: &Shape, bits: f32, least: f32) -> bool {
    if bits < least {
        return false;
    }
    if wordy(value) {
        return false;
    }
    if shape.digits >= 2 && shape.letters() >= 1 {
        return shape.changes >= 3;
    }
    if shape.digits == 1 && shape.letters() > 8 && value.len() < 24 {
        return tangled(shape, value.len())
            || shape.upper == 0 && value.len() >= 20 && shape.other == 0 && !vowels(value);
    }
    if value.len() >= 24 && bits >= 4.2 && shape.changes * 4 >= value.len() {
        return true;
    }
    value.len() >= 20
        && (tangled(shape, value.len())
            || shape.digits <= 1 && shape.upper == 0 && shape.other == 0 && !vowels(value))
}

/// Case changes as no writer makes them.
fn tangled(shape: &Shape, length: usize) -> bool {
    shape.upper >= 3 && shape.lower >= 3 && shape.changes * 3 >= length
}

fn hex(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_hexdigit())
}

pub(crate) fn uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(place, b)| match place {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_are_secrets() {
        for value in [
            "2m73kdjdtu5vihm9y",
            "pp4sf7zu65bhpqg3uwk5pvp0",
            "l3nu1na4s6u6mi",
            "Zf3D0LXCM3EIMbgJpUNnkRtOfOueHznB",
        ] {
            assert!(secret(value, Promise::Token, true), "{value}");
        }
        assert!(secret("Tr0ub4dor&3", Promise::Password, true));
        assert!(secret(
            "12345678-ABCD-ABCD-ABCD-1234567890AB",
            Promise::Token,
            true
        ));
    }

    #[test]
    fn references_and_blanks_are_not() {
        for value in [
            "${API_TOKEN}",
            "$API_TOKEN",
            "{{ token }}",
            "<your token here>",
            "xxxxxxxxxxxxxxxxxxxx",
            "process.env.TOKEN",
            "settings.auth.token",
            "PdfEncryptionKeySize.Key128Bit",
            "get_token()",
            "/run/secrets/token",
            "jjwt-jackson-0.11.2",
            "changeme123",
            "asdfasdfasdfasdfasdfasdf",
            "AuthenticationManager",
            "application/json",
            "sha256-abc",
            "prod-eu-west-1",
            "app2-qa-1208358310",
        ] {
            assert!(!secret(value, Promise::Token, false), "{value}");
            assert!(!secret(value, Promise::Key, false), "{value}");
        }
        assert!(!secret(
            "0736f5ef-7e88-499a-80cc-90c85d2a5180",
            Promise::Key,
            true
        ));
    }
}
