//! Outside text made fit to stand in a message to the owner: one line in which nothing hides, steers, reorders or
//! passes for a word of ours.

use crate::RequestId;
use blastshield_text::fold;
use std::fmt::Write as _;
use url::Url;

/// Marks in a row that a letter may carry; more pile up over the lines around.
const MAX_MARKS: usize = 2;
/// Words that mean something when they are sent back.
const COMMANDS: &[&str] = &[
    "approve", "approved", "approves", "deny", "denied", "denies",
];
/// Lines of ours that a value may not repeat.
const LABELS: &[&str] = &[
    "action", "reason", "details", "reply", "decision", "security", "with",
];

/// The text as one safe line. Linear in its length; may be longer than the text by a constant factor.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut after_command = false;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        let bare = folded(word);
        let is_command = COMMANDS.contains(&bare.as_str());
        let is_order = COMMANDS
            .iter()
            .filter_map(|command| bare.strip_prefix(command))
            .any(|rest| RequestId::parse(rest).is_some());
        if after_command && RequestId::parse(&bare).is_some() {
            line.push_str("[id removed]");
        } else if is_order {
            line.push_str("[order removed]");
        } else if is_command || (word.contains(':') && LABELS.contains(&bare.as_str())) {
            let _ = write!(line, "[{}]", visible(word));
        } else {
            if let Some(host) = disguised_host(word) {
                let _ = write!(line, "[host: {host}] ");
            }
            line.push_str(&visible(word));
        }
        // Signs between an order and its id do not part them.
        after_command = is_command || (after_command && bare.is_empty());
    }
    if line.chars().any(runs_right_to_left) {
        // What runs from right to left does so among itself only.
        return format!("\u{2068}{line}\u{2069}");
    }
    line
}

/// At most `limit` characters; what was cut is marked with the length of the whole.
#[must_use]
pub fn cut(line: String, limit: usize) -> String {
    let count = line.chars().count();
    if count <= limit {
        return line;
    }
    let mark = format!("…[cut: {count} characters in all]");
    let isolated = line.starts_with('\u{2068}');
    let mut short: String = line
        .chars()
        .take(limit.saturating_sub(mark.chars().count() + 1))
        .collect();
    if isolated {
        short.push('\u{2069}');
    }
    short + &mark
}

/// A host as it is dialled and, if that differs, as it is read.
#[must_use]
pub fn host(ascii: &str) -> String {
    let read = url::quirks::domain_to_unicode(ascii);
    if read.is_empty() || read == ascii {
        return visible(ascii);
    }
    format!("{} ({})", visible(ascii), one_line(&read))
}

/// An address without what stands before its host, which may pass for one, or for a mail address that is nobody's
/// business and would take the host along.
pub(crate) fn without_user(word: &str) -> String {
    let Some((before, mut url)) = address(word).filter(|_| word.contains('@')) else {
        return word.to_owned();
    };
    if url.username().is_empty() && url.password().is_none() {
        return word.to_owned();
    }
    let host = url.host_str().map(visible).unwrap_or_default();
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return word.to_owned();
    }
    let end: String = word
        .chars()
        .rev()
        .take_while(|c| c.is_whitespace())
        .collect();
    format!("{before}[host: {host}] {url}{end}")
}

/// The host of an address that looks like another: foreign letters, or something before an `@`.
fn disguised_host(word: &str) -> Option<String> {
    let (_, url) = address(word)?;
    let host = url.host_str()?;
    let disguised = !word.is_ascii()
        || host.split('.').any(|label| label.starts_with("xn--"))
        || !url.username().is_empty()
        || url.password().is_some()
        || word.contains('\\');
    disguised.then(|| visible(host))
}

/// The address in a word, after what stands before it.
fn address(word: &str) -> Option<(&str, Url)> {
    let start = word.find("://")?;
    let scheme = word.get(..start)?;
    let from = scheme
        .char_indices()
        .rev()
        .find(|(_, c)| !c.is_ascii_alphanumeric())
        .map_or(0, |(at, c)| at + c.len_utf8());
    let (before, address) = word.split_at_checked(from)?;
    Some((before, Url::parse(address).ok()?))
}

/// Letters and digits of a word as they read; nothing of a word too long to be one of ours.
fn folded(word: &str) -> String {
    if word.len() > 128 {
        return String::new();
    }
    fold(word).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Characters that hide, steer or pass for others, written out.
fn visible(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut marks = 0;
    for c in word.chars() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if c == '`' {
            shown.push('\'');
        } else if is_unfit(c) || marks > MAX_MARKS {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_unfit(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || (c.is_numeric() && !c.is_ascii())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
            | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

const fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{900}'..='\u{903}'
        | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}' | '\u{a66f}'..='\u{a672}'
        | '\u{fe20}'..='\u{fe2f}')
}

const fn runs_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}
