//! What a single character looks like to a reader who takes look-alikes for what they imitate.
//!
//! Coarser than the fold of `text`, which reads look-alikes by word: here every character stands for itself, whatever its
//! neighbours are, so that the answer is the same in whatever pieces a text arrives.

use std::sync::LazyLock;

/// Nothing is seen: invisible characters and accents.
pub(crate) const NOTHING: u8 = 0;
/// White space, line breaks included.
pub(crate) const SPACE: u8 = b' ';
/// Dashes, dots, underscores and emphasis, which part the letters of a name without ending it.
pub(crate) const JOINT: u8 = b'-';
/// A character that looks like none that matter here.
pub(crate) const OTHER: u8 = 1;

/// What `c` looks like: a small letter or digit of ASCII (`i` reads as `l`, digits as the letters they pass for), a sign of
/// ASCII, or one of the classes above.
#[inline]
pub(crate) fn look(c: char) -> u8 {
    match u8::try_from(u32::from(c)) {
        Ok(byte) if byte.is_ascii() => ascii(byte),
        _ => foreign(c),
    }
}

/// How many signs a doubled or tripled bracket stands for.
#[inline]
pub(crate) fn weight(c: char) -> usize {
    match c {
        '«' | '»' | '《' | '》' | '⟪' | '⟫' | '≪' | '≫' | '⪡' | '⪢' | '⟦' | '⟧' | '〚' | '〛' => {
            2
        }
        '⋘' | '⋙' | '⫷' | '⫸' => 3,
        _ => 1,
    }
}

#[inline]
pub(crate) const fn ascii(byte: u8) -> u8 {
    match byte {
        b'I' | b'i' | b'L' | b'l' | b'1' => b'l',
        b'0' => b'o',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        b'A'..=b'Z' => byte | 0x20,
        b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b' ' => SPACE,
        0..=0x1f | 0x7f => NOTHING,
        b'_' | b'-' | b'.' | b'*' | b'`' | b'~' | b'\'' | b'"' | b'^' => JOINT,
        _ => byte,
    }
}

fn foreign(c: char) -> u8 {
    let code = u32::from(c);
    for (block, table) in BLOCKS.iter().zip(TABLES.iter()) {
        if code >= block.0 && code <= block.1 {
            let index = usize::try_from(code - block.0).unwrap_or(usize::MAX);
            return table.get(index).copied().unwrap_or(OTHER);
        }
    }
    if matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
    {
        return NOTHING;
    }
    OTHER
}

/// Where look-alikes live, the busiest block first.
const BLOCKS: [(u32, u32); 11] = [
    (0x80, 0x2fff),
    (0x3000, 0x31ff),
    (0xfe00, 0xffff),
    (0xa4d0, 0xa4ff),
    (0xa640, 0xa69f),
    (0xa700, 0xa7ff),
    (0xab30, 0xabbf),
    (0xfb00, 0xfb1e),
    (0x10400, 0x1044f),
    (0x1d400, 0x1d7ff),
    (0x1f100, 0x1f1ff),
];

static TABLES: LazyLock<[Vec<u8>; BLOCKS.len()]> = LazyLock::new(|| {
    BLOCKS.map(|(first, last)| {
        (first..=last)
            .map(|code| char::from_u32(code).map_or(OTHER, resolve))
            .collect()
    })
});

/// The long way, taken once per character.
fn resolve(c: char) -> u8 {
    if let Some(sign) = sign(c) {
        return sign;
    }
    if c.is_whitespace() {
        return SPACE;
    }
    if let Some(letter) = capital(c) {
        return ascii(letter);
    }
    // Between Latin letters the fold reads a look-alike as the letter it passes for.
    let folded = blastshield_text::fold(&format!("word{c}word"));
    let Some(inner) = folded
        .strip_prefix("word")
        .and_then(|rest| rest.strip_suffix("word"))
    else {
        return OTHER;
    };
    match inner.as_bytes() {
        [] => NOTHING,
        [byte] if byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() => ascii(*byte),
        _ => OTHER,
    }
}

/// Capitals that look like Latin ones although their small letters do not.
fn capital(c: char) -> Option<u8> {
    Some(match c {
        'В' | 'Β' => b'b',
        'Н' | 'Η' => b'h',
        'М' | 'Μ' => b'm',
        'Ν' => b'n',
        'Р' | 'Ρ' => b'p',
        'Т' | 'Τ' => b't',
        'У' | 'Υ' => b'y',
        'Х' | 'Χ' => b'x',
        'Ζ' => b'z',
        'К' | 'Κ' => b'k',
        'Ԁ' => b'd',
        'Ս' => b'u',
        'Ꮮ' | 'Ꙇ' | 'Լ' => b'l',
        _ => return None,
    })
}

/// Brackets, bars and other signs that pass for those of ASCII.
fn sign(c: char) -> Option<u8> {
    Some(match c {
        '‹' | '〈' | '⟨' | '\u{2329}' | '＜' | '﹤' | '❮' | '❰' | '❬' | '˂' | 'ᐸ' | '⧼' | '⦑'
        | '≺' | '⋖' | '◁' | '◂' | '◃' | '«' | '《' | '⟪' | '≪' | '⪡' | '⋘' | '⫷' | 'ᚲ' | '⮜'
        | '︿' | '︽' => b'<',
        '›' | '〉' | '⟩' | '\u{232a}' | '＞' | '﹥' | '❯' | '❱' | '❭' | '˃' | 'ᐳ' | '⧽' | '⦒'
        | '≻' | '⋗' | '▷' | '▸' | '▹' | '»' | '》' | '⟫' | '≫' | '⪢' | '⋙' | '⫸' | '⮞' | '﹀'
        | '︾' => b'>',
        '｜' | '¦' | '│' | '┃' | '∣' | 'ǀ' | '❘' | '❙' | '❚' | '⎮' | '⏐' | '׀' | '￨' | '⼁'
        | '║' | '‖' | '∥' | '︱' | '︳' | '⎪' | '▏' | '▕' => b'|',
        '［' | '【' | '〔' | '〚' | '⟦' | '⁅' | '❲' | '﹝' | '⦋' | '〖' | '⌈' | '⌊' => {
            b'['
        }
        '］' | '】' | '〕' | '〛' | '⟧' | '⁆' | '❳' | '﹞' | '⦌' | '〗' | '⌉' | '⌋' => {
            b']'
        }
        '｛' | '﹛' | '❴' => b'{',
        '｝' | '﹜' | '❵' => b'}',
        '／' | '⁄' | '∕' | '⧸' | '╱' | '⟋' => b'/',
        '：' | '﹕' | '꞉' | '˸' | '∶' | '︰' | '׃' | 'ː' | '︓' => b':',
        '＝' | '═' | '﹦' | '⹀' => b'=',
        '＃' | '﹟' => b'#',
        '＿' | '▁' | '‗' | '﹍' | '﹎' | '﹏' | '–' | '—' | '‐' | '‑' | '‒' | '―' | '−' | '﹣'
        | '－' | '·' | '•' | '∙' | '‧' | '⋅' | '․' | '．' | '。' | '・' | '─' | '━' | '﹘'
        | '＊' | '∗' | '’' | '‘' | '“' | '”' | '～' | 'ˍ' => JOINT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        text.chars()
            .map(|c| char::from(look(c)))
            .filter(|c| *c != '\0')
            .collect()
    }

    #[test]
    fn look_alikes_read_as_what_they_imitate() {
        for (written, meant) in [
            ("ＥＮＤ＿ＴＯＯＬ", "end-tool"),
            ("ЕΝD_ТООL", "end-tool"),
            ("еnd_tооl", "end-tool"),
            ("𝐄𝐍𝐃_𝗧𝗢𝗢𝗟", "end-tool"),
            ("ⒺⓃⒹ ᴛᴏᴏʟ", "end tool"),
            ("e\u{200b}n\u{301}d\u{e0041}", "end"),
            ("3ND_T00L", "end-tool"),
            ("＜｜《", "<|<"),
        ] {
            assert_eq!(read(written), meant, "{written}");
        }
    }

    #[test]
    fn other_scripts_are_something_else() {
        assert_eq!(look('字'), OTHER);
        assert_eq!(look('ж'), OTHER);
        assert_eq!(look('😀'), OTHER);
    }
}
