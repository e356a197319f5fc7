//! Hostile text made safe to look at: nothing in it can steer a terminal or hide.

/// One line of plain, visible text: controls, line breaks and invisible characters are shown as marks.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    match c {
        '\n' => '⏎',
        '\t' => ' ',
        '\r' => '␍',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('·'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' => '·',
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}'
        | '\u{feff}' => '·',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '·',
        '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => '·',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_cannot_be_steered() {
        assert_eq!(line("a\u{1b}[2Jb\r\nc\u{9b}d"), "a␛[2Jb␍⏎c·d");
    }

    #[test]
    fn nothing_stays_hidden() {
        assert_eq!(line("i\u{200b}g\u{e0041}n\u{202e}ore"), "i·g·n·ore");
    }
}
