//! The lead of a text: its first sentences, never words of our own.

use crate::Mode;

const MAX_CHARS: usize = 400;
const MAX_SENTENCES: usize = 3;
/// A line shorter than this is a heading, a date or a name.
const LEAD: usize = 50;

/// The first one to three sentences of the first paragraph that reads like one.
pub(crate) fn summarise(content: &str, mode: Mode) -> String {
    let mut fallback = "";
    let mut fenced = false;
    for line in content.lines().take(400) {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let structural = mode == Mode::Markdown && line.starts_with(['#', '|', '>', '-', '!']);
        if fenced || line.is_empty() || structural {
            continue;
        }
        if fallback.is_empty() {
            fallback = line;
        }
        if line.chars().take(LEAD).count() >= LEAD
            || (line.chars().count() >= 20 && ends_sentence(line))
        {
            return sentences(&plain(line, mode));
        }
    }
    sentences(&plain(fallback, mode))
}

fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', '。', '！', '？', '۔', '؟', '।'])
}

/// Takes whole sentences while they fit.
fn sentences(text: &str) -> String {
    let mut end = 0;
    let mut count = 0;
    let mut chars = text.char_indices().enumerate().peekable();
    let mut before = ' ';
    while let Some((number, (at, c))) = chars.next() {
        if number >= MAX_CHARS {
            break;
        }
        let after = chars.peek().map(|(_, (_, c))| *c);
        let full = match c {
            '。' | '！' | '？' | '।' | '۔' => true,
            // An initial or an abbreviation of one letter does not end a sentence.
            '.' | '!' | '?' | '؟' => {
                after.is_none_or(char::is_whitespace) && !(c == '.' && before.is_uppercase())
            }
            _ => false,
        };
        if full {
            end = at + c.len_utf8();
            count += 1;
            if count == MAX_SENTENCES {
                break;
            }
        }
        before = c;
    }
    if end > 0 {
        return text.get(..end).unwrap_or_default().to_owned();
    }
    if text.chars().nth(MAX_CHARS).is_none() {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MAX_CHARS - 1).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head);
    format!("{cut}…")
}

/// A line of markdown without its marks.
fn plain(line: &str, mode: Mode) -> String {
    if mode == Mode::Text {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(char::is_ascii_punctuation) => out.extend(rest.next()),
            '*' | '`' | '[' => {}
            ']' => {
                if rest.peek() == Some(&'(') {
                    for inner in rest.by_ref() {
                        if inner == ')' {
                            break;
                        }
                    }
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_sentences_of_the_first_paragraph() {
        let content = "# Title\n\n3 May\n\nThe [tram](https://x.test/a) opens on *Monday* at noon. It costs 3.50 euros. A third. A fourth.";
        assert_eq!(
            summarise(content, Mode::Markdown),
            "The tram opens on Monday at noon. It costs 3.50 euros. A third."
        );
    }

    #[test]
    fn long_text_without_a_stop_is_cut_at_a_word() {
        let summary = summarise(&"word ".repeat(300), Mode::Text);
        assert!(summary.chars().count() <= MAX_CHARS);
        assert!(summary.ends_with("word…"));
    }

    #[test]
    fn short_texts_are_their_own_summary() {
        assert_eq!(summarise("Hello", Mode::Text), "Hello");
        assert_eq!(summarise("", Mode::Text), "");
    }
}
