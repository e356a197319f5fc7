//! Texts with parameters in them: paths, file names, summaries.

use super::error::{DefinitionError, value};
use super::operation::Input;
use super::params::{Param, Place, is_id};
use std::collections::BTreeMap;

const MAX_PATH: usize = 256;

/// A piece of a path, a file name or a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Param(String),
}

pub(super) fn fill(pieces: &[Piece], input: &Input, count: usize) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Param(name) if name == "count" => out.push_str(&count.to_string()),
            Piece::Param(name) => {
                out.push_str(input.texts.get(name).map_or("-", String::as_str));
            }
        }
    }
    out
}

pub(super) fn pieces(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}')?;
        if !is_id(name) || before.contains('}') {
            return None;
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Param(name.to_owned()));
        rest = tail;
    }
    if rest.contains('}') {
        return None;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Some(pieces)
}

pub(super) fn declared(
    field: &str,
    pieces: &[Piece],
    params: &BTreeMap<String, Param>,
    also: &[&str],
) -> Result<(), DefinitionError> {
    for piece in pieces {
        if let Piece::Param(name) = piece
            && !params.contains_key(name)
            && !also.contains(&name.as_str())
        {
            return Err(DefinitionError::Undeclared {
                field: field.to_owned(),
                parameter: name.clone(),
            });
        }
    }
    Ok(())
}

pub(super) fn read_path(
    field: &str,
    text: &str,
    params: &BTreeMap<String, Param>,
) -> Result<Vec<Piece>, DefinitionError> {
    let plain = |text: &str| {
        text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'~' | b'.')
        })
    };
    let expected = "a path such as /threads/{id}, without dots as segments, query or escapes";
    let wrong = || value(field, expected);
    let pieces = pieces(text).ok_or_else(wrong)?;
    let texts_fit = pieces.iter().all(|piece| match piece {
        Piece::Text(text) => plain(text),
        Piece::Param(_) => true,
    });
    let dots = text
        .split('/')
        .any(|segment| segment == "." || segment == "..");
    if !text.starts_with('/') || text.len() > MAX_PATH || text.contains("//") || !texts_fit || dots
    {
        return Err(wrong());
    }
    declared(field, &pieces, params, &[])?;
    for (name, param) in params {
        let named = pieces.contains(&Piece::Param(name.clone()));
        if named != (param.place == Place::Path) {
            let expected = format!("with every path parameter in it and no other ({name})");
            return Err(value(field, expected));
        }
    }
    Ok(pieces)
}

/// Files of answers lie in `posts/` and have the names that the definition gives them.
pub(super) fn read_file(
    field: &str,
    text: &str,
    params: &BTreeMap<String, Param>,
) -> Result<Vec<Piece>, DefinitionError> {
    let expected = "a file such as posts/thread-{id}.json, with required path parameters alone";
    let wrong = || value(field, expected);
    let pieces = pieces(text).ok_or_else(wrong)?;
    declared(field, &pieces, params, &[])?;
    let name = text.strip_prefix("posts/").ok_or_else(wrong)?;
    let plain = |text: &str| {
        text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'{' | b'}')
        })
    };
    let safe = pieces.iter().all(|piece| match piece {
        Piece::Text(_) => true,
        Piece::Param(name) => params
            .get(name)
            .is_some_and(|param| param.place == Place::Path),
    });
    let fits = plain(name)
        && !name.starts_with('.')
        && name.ends_with(".json")
        && !name.contains("..")
        && name.len() <= 120;
    if fits && safe {
        Ok(pieces)
    } else {
        Err(wrong())
    }
}
