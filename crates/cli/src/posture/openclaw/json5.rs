//! Reads JSON as people write it: comments, trailing commas, bare keys, single quotes. Bounded in depth, linear in time.

use serde_json::{Map, Number, Value};
use std::iter::Peekable;
use std::str::Chars;

const MAX_DEPTH: usize = 64;

/// The value of a document, or nothing when it is not one.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader {
        rest: text.trim_start_matches('\u{feff}').chars().peekable(),
    };
    let value = reader.value(0)?;
    reader.blank()?;
    reader.rest.next().is_none().then_some(value)
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.blank()?;
        match self.rest.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            '"' | '\'' => self.text().map(Value::String),
            _ => word(&self.word()),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.rest.next()?;
        let mut map = Map::new();
        loop {
            self.blank()?;
            let key = match self.rest.peek()? {
                '}' => {
                    self.rest.next();
                    return Some(Value::Object(map));
                }
                '"' | '\'' => self.text()?,
                _ => self.word(),
            };
            self.blank()?;
            if key.is_empty() || self.rest.next()? != ':' {
                return None;
            }
            map.insert(key, self.value(depth + 1)?);
            self.blank()?;
            match self.rest.peek()? {
                ',' => {
                    self.rest.next();
                }
                '}' => {}
                _ => return None,
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.rest.next()?;
        let mut list = Vec::new();
        loop {
            self.blank()?;
            if *self.rest.peek()? == ']' {
                self.rest.next();
                return Some(Value::Array(list));
            }
            list.push(self.value(depth + 1)?);
            self.blank()?;
            match self.rest.peek()? {
                ',' => {
                    self.rest.next();
                }
                ']' => {}
                _ => return None,
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.next()?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                c if c == quote => return Some(text),
                '\\' => self.escape(&mut text)?,
                '\n' => return None,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let plain = match self.rest.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            '\n' => return Some(()),
            '\r' => {
                self.rest.next_if_eq(&'\n');
                return Some(());
            }
            'x' => char::from_u32(self.hex(2)?)?,
            'u' => {
                let high = self.hex(4)?;
                if (0xd800..0xdc00).contains(&high) {
                    self.rest.next_if_eq(&'\\')?;
                    self.rest.next_if_eq(&'u')?;
                    let low = self
                        .hex(4)?
                        .checked_sub(0xdc00)
                        .filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                } else {
                    char::from_u32(high)?
                }
            }
            c => c,
        };
        text.push(plain);
        Some(())
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        (0..digits).try_fold(0, |sum, _| Some(sum * 16 + self.rest.next()?.to_digit(16)?))
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '+' | '-' | '.'))
        {
            word.push(c);
        }
        word
    }

    /// White space and comments; nothing when a comment does not end.
    fn blank(&mut self) -> Option<()> {
        loop {
            while self
                .rest
                .next_if(|c| c.is_whitespace() || *c == '\u{feff}')
                .is_some()
            {}
            if self.rest.next_if_eq(&'/').is_none() {
                return Some(());
            }
            match self.rest.next()? {
                '/' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '*' => {
                    let mut star = false;
                    loop {
                        match self.rest.next()? {
                            '/' if star => break,
                            c => star = c == '*',
                        }
                    }
                }
                _ => return None,
            }
        }
    }
}

fn word(word: &str) -> Option<Value> {
    match word {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "null" | "NaN" | "Infinity" | "+Infinity" | "-Infinity" => return Some(Value::Null),
        _ => {}
    }
    let digits = word.strip_prefix('+').unwrap_or(word);
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok().map(Value::from);
    }
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(Value::from(whole));
    }
    let number: f64 = digits
        .starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
        .then(|| digits.parse().ok())??;
    Number::from_f64(number).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn people_write_it_so() {
        let text = "\u{feff}// a comment\n{ a: 1, 'b-c': [true, null, .5, 0x1F, -2,], /* more */ \"d\": 'it\\'s \\u00e9 \\ud83d\\ude00', $e: {}, }\n";
        assert_eq!(
            parse(text),
            Some(json!({"a": 1, "b-c": [true, null, 0.5, 31, -2], "d": "it's é 😀", "$e": {}}))
        );
        assert_eq!(parse("[]//"), Some(json!([])));
    }

    #[test]
    fn what_is_not_it_is_refused() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "[1",
            "{a}",
            "{a:1 b:2}",
            "{,}",
            "[,]",
            "'x",
            "\"a\nb\"",
            "/* x",
            "1 2",
            "nonsense",
            "{a:\\ud800}",
            "'\\ud800'",
            &deep,
        ] {
            assert_eq!(parse(text), None, "{}", text.get(..20).unwrap_or(text));
        }
    }
}
