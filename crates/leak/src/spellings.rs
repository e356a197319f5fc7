//! How a registered value may be written in a text: each spelling once, in the form in which it is looked for.

use crate::Seen;

/// Letters and digits that a spelling must have to be looked for without its other characters.
pub(crate) const SQUEEZED: usize = 12;

/// One way to write a value.
pub(crate) struct Spelling {
    pub(crate) text: Vec<u8>,
    pub(crate) seen: Seen,
    /// Letters and digits alone, in lower case: found whatever stands between them.
    pub(crate) squeezed: bool,
}

/// All spellings of a piece of a value.
pub(crate) fn of(piece: &[u8]) -> Vec<Spelling> {
    let mut all = Vec::new();
    let mut exact = |text: Vec<u8>, seen: Seen| {
        all.push(Spelling {
            text,
            seen,
            squeezed: false,
        });
    };
    // Two bytes a character, as Windows writes; the zeros at the edges depend on the order of the two.
    let wide: Vec<u8> = piece.iter().flat_map(|byte| [0, *byte]).skip(1).collect();
    exact(piece.to_vec(), Seen::Plain);
    let encoded: Vec<Vec<u8>> = [piece, &wide].into_iter().flat_map(base64).collect();
    for form in &encoded {
        exact(form.clone(), Seen::Encoded);
    }
    let hex = |bytes: &[u8]| -> Vec<u8> {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.into_bytes()
    };
    let bare = |text: &[u8]| -> Vec<u8> {
        let letters = text.iter().filter(|byte| byte.is_ascii_alphanumeric());
        letters.map(u8::to_ascii_lowercase).collect()
    };
    let turned = |text: Vec<u8>| -> Vec<u8> { text.into_iter().rev().collect() };
    let plain = bare(piece);
    let mut squeezed = vec![
        (plain.clone(), Seen::Split),
        (turned(plain.clone()), Seen::Encoded),
        (plain.iter().map(shifted).collect(), Seen::Encoded),
        (hex(piece), Seen::Encoded),
        (hex(&wide), Seen::Encoded),
    ];
    for form in base64(piece) {
        squeezed.push((bare(&form), Seen::Encoded));
        squeezed.push((turned(bare(&form)), Seen::Encoded));
    }
    let enough = |(text, _): &(Vec<u8>, Seen)| text.len() >= SQUEEZED;
    all.extend(
        squeezed
            .into_iter()
            .filter(enough)
            .map(|(text, seen)| Spelling {
                text,
                seen,
                squeezed: true,
            }),
    );
    all
}

/// A letter thirteen places on.
fn shifted(byte: &u8) -> u8 {
    match byte {
        b'a'..=b'm' => byte + 13,
        b'n'..=b'z' => byte - 13,
        byte => *byte,
    }
}

/// What base64 makes of a piece wherever it stands: the characters that depend on nothing but the piece.
fn base64(piece: &[u8]) -> Vec<Vec<u8>> {
    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut forms = Vec::new();
    for offset in 0..3_usize {
        let skip = (3 - offset) % 3;
        let whole = piece.get(skip..).unwrap_or_default();
        let mut form = Vec::new();
        for three in whole.chunks_exact(3) {
            let bits = three
                .iter()
                .fold(0_u32, |bits, b| bits << 8 | u32::from(*b));
            for shift in [18, 12, 6, 0] {
                form.push(
                    STANDARD
                        .get((bits >> shift & 63) as usize)
                        .copied()
                        .unwrap_or(b'A'),
                );
            }
        }
        if form.len() < SQUEEZED {
            continue;
        }
        let url: Vec<u8> = form
            .iter()
            .map(|b| match b {
                b'+' => b'-',
                b'/' => b'_',
                b => *b,
            })
            .collect();
        if url != form {
            forms.push(url);
        }
        forms.push(form);
    }
    forms
}
