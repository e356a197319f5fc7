//! Words, names and references: what people and programs write, as against what machines draw at random.

/// As many vowels as language has.
pub(crate) fn vowels(value: &str) -> bool {
    let count = value
        .bytes()
        .filter(|b| matches!(b | 32, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
        .count();
    count * 100 > value.len() * 28
}

/// Made of words and version numbers, as identifiers, file names and packages are.
pub(crate) fn wordy(value: &str) -> bool {
    let mut words = 0;
    let mut wild = 0;
    let mut wild_length = 0;
    for piece in value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|p| !p.is_empty())
    {
        if word(piece) {
            words += 1;
        } else {
            wild += 1;
            wild_length += piece.len();
        }
    }
    words > 0 && wild == 0 || words >= 2 && words > wild && wild_length <= 8
}

/// A word, a number, or words written together.
fn word(piece: &str) -> bool {
    let letters = piece.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        return piece.len() <= 4;
    }
    if !piece.is_ascii() {
        return false;
    }
    let digits = piece.len() - letters;
    let bare = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits > 0 && (bare.len() != letters || digits > 3) {
        return false;
    }
    let mut humps = 0;
    let mut last_upper = true;
    for b in bare.bytes() {
        let upper = b.is_ascii_uppercase();
        if upper && !last_upper {
            humps += 1;
        }
        last_upper = upper;
    }
    let (vowel, all) = bare.bytes().fold((0, 0), |(vowel, all), b| {
        let is = matches!(b | 32, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
        (vowel + usize::from(is), all + 1)
    });
    all <= 3 || (humps * 4 <= all && vowel * 5 >= all)
}

/// Points at a value instead of being one: a path, a call, a member, a host, an address.
pub(crate) fn reference(value: &str, quoted: bool) -> bool {
    if value.contains("://")
        || value.starts_with("./")
        || value.starts_with("~/")
        || value.starts_with("../")
    {
        return true;
    }
    if value.starts_with('/') && value.matches('/').count() >= 2 && wordy(value) {
        return true;
    }
    if !quoted && value.contains(['(', '[', '{']) {
        return true;
    }
    if value.contains("::") || value.contains("->") || value.contains("=>") {
        return true;
    }
    if value.contains('.') {
        let pieces: Vec<&str> = value.split('.').collect();
        let plain = |piece: &&str| {
            !piece.is_empty()
                && piece.len() <= 32
                && piece
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
                && (word(piece)
                    || numbered(piece)
                    || piece.split(['_', '-']).all(word)
                    || piece.bytes().all(|b| b.is_ascii_digit())
                    || piece.len() <= 6)
        };
        if pieces.iter().all(plain) {
            return true;
        }
    }
    if slug(value) {
        return true;
    }
    // A member of something, or a file.
    [
        "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "md5:", "data:", "arn:",
    ]
    .iter()
    .any(|start| value.starts_with(start))
}

/// The name of a thing in some cloud: `prod-eu-west-1`, `app2-qa-1208358310`. Words of lower-case letters, each perhaps
/// with a figure or two, and numbers.
fn slug(value: &str) -> bool {
    let piece = |piece: &str| {
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        let figures = piece.len() - letters.len();
        let small = letters.bytes().all(|b| b.is_ascii_lowercase());
        small && !piece.is_empty() && (letters.is_empty() || figures <= 2 && letters.len() <= 12)
    };
    let numbers = value
        .split('-')
        .filter(|part| part.bytes().all(|b| b.is_ascii_digit()));
    value.split('-').count() >= 3 && value.split('-').all(piece) && numbers.count() <= 1
}

/// Words with a number between: `Key128Bit`, `X25519`.
fn numbered(piece: &str) -> bool {
    let parts: Vec<&str> = piece
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    piece.starts_with(|c: char| c.is_ascii_alphabetic())
        && parts.len() <= 2
        && parts.iter().all(|part| word(part))
}
