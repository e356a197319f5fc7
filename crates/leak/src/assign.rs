//! `name = value` in any notation: code, JSON, YAML, XML, shell, headers, query strings and plain sentences.

use crate::names::{identified, promise};
use crate::rules::RULES;
use crate::value::{self, Promise};
use std::ops::Range;

/// Words in a name that promise a secret; they are among the literals.
pub(crate) const WORDS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "key",
    "auth",
    "cred",
    "_pw",
    "-pw",
    "login",
    "clientid",
    "client_id",
    "access_id",
    "accessid",
    "access-id",
];

/// The longest name that is looked at, on each side of the word.
const NAME: usize = 64;
/// The longest value that is looked at.
const VALUE: usize = 512;
/// A longer value with several signs in it is a chain of assignments.
const CHAIN: usize = 128;

/// What earlier looks at a text have shown.
#[derive(Default)]
pub(crate) struct Looked {
    /// Where the last name ended: several words of one name cost one look.
    done: usize,
    /// In here no value without quotes ends: several names in one value cost one search.
    open: Range<usize>,
}

/// A value that is a secret by its name, if the word at `at` is in such a name.
pub(crate) fn look(text: &str, at: Range<usize>, looked: &mut Looked) -> Option<Range<usize>> {
    if at.start < looked.done {
        return None;
    }
    let bytes = text.as_bytes();
    let name = name(bytes, &at);
    looked.done = name.end;
    let (from, quoted, weak) = operator(text, &name)?;
    let end = trim(
        bytes,
        from,
        value_end(bytes, from, quoted, &mut looked.open)?,
    );
    let value = text.get(from..end)?;
    let named = text.get(name.clone())?;
    if !value::plausible(value) {
        return None;
    }
    let promise = promise(named, value)?;
    if weak && !value.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let before = name.start.checked_sub(1).and_then(|at| bytes.get(at));
    // `call(token: value)` and `,key:"…"` in packed scripts, whose keys everybody has.
    let labelled = before == Some(&b'(') && quoted.is_none();
    let packed = matches!(before, Some(b',' | b'{')) && quoted.is_some() && from - name.end == 2;
    if bytes.get(end) == Some(&b'(') && quoted.is_none() || labelled {
        return None;
    }
    if packed && value.len() == 32 && value.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let named_in_markup = promise == Promise::Password
        && markup(bytes, name.start)
        && value::looks_chosen(value)
        && value.len() >= 6;
    let numbered = (15..=20).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_digit())
        && identified(named);
    if !(named_in_markup || numbered || value::secret(value, promise, quoted.is_some())) {
        return None;
    }
    // A value that claims a form and does not have it is a mistake or an example.
    if RULES.iter().any(|rule| {
        rule.claims(value) && rule.confirm(bytes, from..from + head(rule, value)).is_err()
    }) {
        return None;
    }
    Some(from..end)
}

fn head(rule: &crate::rules::Rule, value: &str) -> usize {
    rule.starts
        .iter()
        .filter(|start| value.starts_with(start.as_str()))
        .map(String::len)
        .max()
        .unwrap_or_default()
}

/// Where the value under the name at `at` begins, if the text ends before the value does.
pub(crate) fn unfinished(text: &str, at: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = name(bytes, &at);
    let Some((from, quoted, _)) = operator(text, &name) else {
        // The sign may still come.
        return (bytes.len() < name.end + 64).then_some(name.end);
    };
    value_end(bytes, from, quoted, &mut Range::default())
        .is_some_and(|end| end >= bytes.len())
        .then_some(from.min(bytes.len()))
}

fn in_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')
}

/// The whole name around a word in it.
fn name(bytes: &[u8], at: &Range<usize>) -> Range<usize> {
    let before = bytes
        .get(at.start.saturating_sub(NAME)..at.start)
        .unwrap_or_default();
    let left = before.iter().rev().take_while(|b| in_name(**b)).count();
    let after = bytes.get(at.end..).unwrap_or_default();
    let right = after.iter().take(NAME).take_while(|b| in_name(**b)).count();
    at.start - left..at.end + right
}

/// Where the value begins, the quote that it stands in, and whether the sign between was a weak one.
fn operator(text: &str, name: &Range<usize>) -> Option<(usize, Option<u8>, bool)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut at = name.end;
    let limit = at + 24;
    let mut closed = false;
    let mut blank = false;
    while at < limit {
        match byte(at)? {
            b'"' | b'\'' | b'`' | b']' | b')' if !blank || closed => closed = true,
            b'\\' if !blank && matches!(byte(at + 1), Some(b'"' | b'\'')) => {}
            b' ' | b'\t' => blank = true,
            _ => break,
        }
        at += 1;
    }
    let spaced = blank && !closed;
    let sign_at = at;
    while at < limit + 8
        && matches!(
            byte(at),
            Some(b'=' | b':' | b'?' | b'>' | b'|' | b'+' | b'~')
        )
    {
        at += 1;
    }
    let sign = bytes.get(sign_at..at).unwrap_or_default();
    let mut weak = false;
    if sign.is_empty() {
        let rest = text.get(at..)?;
        if closed && byte(at) == Some(b',') {
            at += 1;
        } else if spaced
            && (rest.starts_with("is ") || rest.starts_with("is: ") || rest.starts_with("was "))
        {
            at += rest.find(' ')? + 1;
            weak = true;
        } else if spaced && flag(bytes, name.start) {
            // `--token value`
        } else {
            return None;
        }
    } else if !sign.iter().any(|b| matches!(b, b'=' | b':' | b'>'))
        || sign == b">" && !markup(bytes, name.start)
    {
        return None;
    }
    let mut quote = None;
    let limit = at + 24;
    while at < limit {
        match byte(at)? {
            b' ' | b'\t' | b'=' if quote.is_none() => {}
            b'\n' | b'\r' if quote.is_none() && sign == b":" => return None,
            b'\\' if matches!(byte(at + 1), Some(b'"' | b'\'')) => {}
            q @ (b'"' | b'\'' | b'`') => {
                if quote == Some(q) && byte(at + 1) != Some(q) && quote_count(bytes, at, q) < 3 {
                    return None;
                }
                quote = Some(q);
            }
            b'(' | b'[' if quote.is_none() && matches!(byte(at + 1), Some(b'"' | b'\'')) => {}
            _ => break,
        }
        at += 1;
    }
    let rest = text.get(at..)?;
    let scheme = [
        "Bearer ", "bearer ", "Token ", "token ", "Basic ", "basic ", "ApiKey ", "apikey ", "Key ",
        "key ",
    ]
    .iter()
    .find(|scheme| rest.starts_with(**scheme));
    Some((at + scheme.map_or(0, |scheme| scheme.len()), quote, weak))
}

fn quote_count(bytes: &[u8], at: usize, quote: u8) -> usize {
    let from = at.saturating_sub(2);
    bytes
        .get(from..=at)
        .unwrap_or_default()
        .iter()
        .filter(|b| **b == quote)
        .count()
}

/// An option of a command: `-p`, `--password`. The dashes belong to the name.
fn flag(bytes: &[u8], name: usize) -> bool {
    bytes.get(name) == Some(&b'-')
}

fn markup(bytes: &[u8], name: usize) -> bool {
    name.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'<')
}

/// Where a value ends. A chain of assignments is no value: each is looked at by itself.
fn value_end(
    bytes: &[u8],
    from: usize,
    quoted: Option<u8>,
    open: &mut Range<usize>,
) -> Option<usize> {
    let limit = bytes.len().min(from + VALUE);
    let stop = |b: &u8| match quoted {
        Some(quote) => *b == quote || matches!(b, b'\n' | b'\r'),
        None => {
            b.is_ascii_whitespace()
                || matches!(
                    b,
                    b'"' | b'\''
                        | b'`'
                        | b'<'
                        | b'>'
                        | b','
                        | b';'
                        | b'&'
                        | b'\\'
                        | b')'
                        | b'}'
                        | b']'
                )
        }
    };
    let known = (quoted.is_none() && open.start <= from && from < open.end).then_some(open.end);
    let search = known.unwrap_or(from);
    let rest = bytes.get(search..limit).unwrap_or_default();
    let end = search + rest.iter().position(stop).unwrap_or(rest.len());
    crate::work::looked(end - search);
    if quoted.is_none() {
        *open = from..end;
    }
    let value = bytes.get(from..end).unwrap_or_default();
    let sign = |b: &&u8| matches!(b, b'=' | b':');
    let chain = value.len() > CHAIN && value.iter().filter(sign).nth(4).is_some();
    (!chain).then_some(end)
}

/// Without what belongs to the sentence or to the notation, and on character boundaries.
fn trim(bytes: &[u8], from: usize, mut end: usize) -> usize {
    while end > from
        && matches!(
            bytes.get(end - 1),
            Some(b'\\' | b'.' | b',' | b' ' | b'!' | b'?' | b':')
        )
    {
        end -= 1;
    }
    while end > from && bytes.get(end).is_some_and(|b| b & 0xC0 == 0x80) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        WORDS
            .iter()
            .flat_map(|word| {
                lower
                    .match_indices(word)
                    .map(|(at, _)| at..at + word.len())
                    .collect::<Vec<_>>()
            })
            .find_map(|at| look(text, at, &mut Looked::default()))
            .map(|at| &text[at])
    }

    const VALUE: &str = "w78v55y4wiw83j315sns821ey23ml3q9";

    #[test]
    fn every_notation_is_read() {
        for form in [
            "zendeskToken = @",
            "zendesk_TOKEN ?= \"@\"",
            "zendesk_token: '@'",
            "{\"secret\": \"@\"}",
            "string apiToken = \"@\";",
            "System.setProperty(\"ZENDESK_TOKEN\", \"@\")",
            "{\"a\": \"X_TOKEN=@\\nB=true\"}",
            "--api-key @",
            "--password=@",
            "<password>@</password>",
            "https://x.example/?token=@&x=1",
            "X-Api-Key: @",
            "SLAPIKEY : @",
            "access_key := @",
            "the password is @.",
            "env['auth_token'] = \"@\"",
            "Authorization: Token @",
            "{\\\"token\\\": \\\"@\\\"}",
            "ACCESS_KEY=>@",
        ] {
            assert_eq!(found(&form.replace('@', VALUE)), Some(VALUE), "{form}");
        }
    }

    #[test]
    fn names_of_other_things_are_not() {
        for form in [
            "key_down_event=@",
            "kms_key_id: @",
            "publicToken = @",
            "credentialsId: '@'",
            "monkey: @",
            "author = @",
            "passing = @",
            "keyboard: @",
            "key @",
            "\"key_name\": \"@\"",
            "tokenizer: @",
            "next_page_token = @",
        ] {
            assert_eq!(found(&form.replace('@', VALUE)), None, "{form}");
        }
    }
}
