//! Files of `KEY=VALUE` lines, read without running anything: no expansion, no substitution, no lines that continue.

use crate::parse::is_variable_name;
use std::collections::BTreeMap;
use std::fmt;

/// Largest file that is read.
pub const MAX_ENV_FILE_BYTES: usize = 1 << 20;
const MAX_ENTRIES: usize = 4096;

/// Variables of a file. Its `Debug` shows how many there are and nothing else.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EnvFile(BTreeMap<String, String>);

/// A file that cannot be read as variables: the line, never what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvFileError {
    /// Too many bytes.
    #[error("the file is larger than {MAX_ENV_FILE_BYTES} bytes")]
    TooLarge,
    /// Too many variables.
    #[error("the file has more than {MAX_ENTRIES} variables")]
    TooMany,
    /// Neither a variable nor a comment.
    #[error("line {0} is not KEY=VALUE")]
    NotAVariable(usize),
    /// A quotation that does not end on its line.
    #[error("the quotation on line {0} does not end there")]
    OpenQuote(usize),
    /// Something other than a comment after a quotation.
    #[error("on line {0} something follows the quotation")]
    AfterQuote(usize),
    /// The same variable again: readers differ on which one counts.
    #[error("the variable on line {0} was set before")]
    Repeated(usize),
}

impl EnvFile {
    /// Reads `KEY=VALUE` lines: `export` before, quotes around, comments after `#`.
    ///
    /// # Errors
    /// The first line that is not so.
    pub fn parse(text: &str) -> Result<Self, EnvFileError> {
        if text.len() > MAX_ENV_FILE_BYTES {
            return Err(EnvFileError::TooLarge);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut variables = BTreeMap::new();
        for (line, number) in text.lines().zip(1..) {
            let Some((name, value)) = variable(line, number)? else {
                continue;
            };
            if variables.insert(name.to_owned(), value).is_some() {
                return Err(EnvFileError::Repeated(number));
            }
            if variables.len() > MAX_ENTRIES {
                return Err(EnvFileError::TooMany);
            }
        }
        Ok(Self(variables))
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvFile({} variables)", self.0.len())
    }
}

fn variable(line: &str, number: usize) -> Result<Option<(&str, String)>, EnvFileError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line
        .strip_prefix("export")
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line);
    let (name, value) = line
        .split_once('=')
        .ok_or(EnvFileError::NotAVariable(number))?;
    // A shell takes no space before the sign; other readers do.
    let name = name.trim();
    if !is_variable_name(name) {
        return Err(EnvFileError::NotAVariable(number));
    }
    Ok(Some((name, content(value, number)?)))
}

fn content(value: &str, number: usize) -> Result<String, EnvFileError> {
    let bare = value.trim_start();
    let (content, rest) = if let Some(quoted) = bare.strip_prefix('\'') {
        let (content, rest) = quoted
            .split_once('\'')
            .ok_or(EnvFileError::OpenQuote(number))?;
        (content.to_owned(), rest)
    } else if let Some(quoted) = bare.strip_prefix('"') {
        double_quoted(quoted).ok_or(EnvFileError::OpenQuote(number))?
    } else {
        return Ok(unquoted(value).to_owned());
    };
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(content)
    } else {
        Err(EnvFileError::AfterQuote(number))
    }
}

/// Up to a `#` that stands at the start or after white space.
fn unquoted(value: &str) -> &str {
    let mut before = ' ';
    for (at, c) in value.char_indices() {
        if c == '#' && before.is_whitespace() {
            return value.get(..at).unwrap_or_default().trim();
        }
        before = c;
    }
    value.trim()
}

/// The content up to the closing quote, and what follows it.
fn double_quoted(quoted: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((content, characters.as_str())),
            '\\' => match characters.next()? {
                'n' => content.push('\n'),
                'r' => content.push('\r'),
                't' => content.push('\t'),
                c @ ('"' | '\\' | '$' | '`') => content.push(c),
                other => content.extend(['\\', other]),
            },
            c => content.push(c),
        }
    }
}
