//! Selectors as they are written.

use cssparser::{Parser, Token};
use html5ever::{LocalName, local_name};

use super::super::ancestors::Ancestors;
use super::{Combinator, Compound, Selector, Test};

const MAX_COMPOUNDS: usize = 12;
const MAX_TESTS: usize = 16;

/// Reads a list of selectors; those that are not understood are left out.
pub(crate) fn parse_list(text: &str) -> Vec<Selector> {
    let mut input = Parser::new(text);
    let mut out = Vec::new();
    loop {
        if let Some(selector) = parse_complex(&mut input) {
            out.push(selector);
        }
        loop {
            match input.next() {
                Ok(Token::Comma) => break,
                Ok(_) => {}
                Err(_) => return out,
            }
        }
        if out.len() >= 256 {
            return out;
        }
    }
}

/// Reads up to a comma, which is left for the caller, or the end.
fn parse_complex(input: &mut Parser<'_>) -> Option<Selector> {
    let mut compounds: Vec<(Combinator, Compound)> = Vec::new();
    let mut combinator = Combinator::Descendant;
    let mut current = Compound::default();
    loop {
        let before = input.state();
        let token = input.next_including_whitespace().cloned();
        let next = match &token {
            Err(_) => None,
            Ok(Token::Comma) => {
                input.reset(&before);
                None
            }
            Ok(Token::WhiteSpace(_)) => Some(Combinator::Descendant),
            Ok(Token::Delim('>')) => Some(Combinator::Child),
            Ok(Token::Delim('+')) => Some(Combinator::Next),
            Ok(Token::Delim('~')) => Some(Combinator::Later),
            Ok(token) => {
                let test = parse_test(input, token, 0)?;
                current.0.extend(test);
                if current.0.len() > MAX_TESTS {
                    return None;
                }
                continue;
            }
        };
        if !current.0.is_empty() {
            compounds.push((combinator, std::mem::take(&mut current)));
            combinator = Combinator::Descendant;
        }
        match next {
            None => break,
            Some(Combinator::Descendant) => {}
            Some(other) => combinator = other,
        }
        if compounds.len() > MAX_COMPOUNDS {
            return None;
        }
    }
    let specificity = compounds
        .iter()
        .map(|(_, compound)| compound.specificity())
        .sum();
    let mut ways = compounds.into_iter().rev();
    let (mut way, subject) = ways.next()?;
    let mut rest = Vec::new();
    for (next_way, compound) in ways {
        rest.push((way, compound));
        way = next_way;
    }
    let counts = |compound: &Compound| {
        compound
            .0
            .iter()
            .any(|test| matches!(test, Test::Nth { .. }))
    };
    let cost = if counts(&subject) || rest.iter().any(|(_, compound)| counts(compound)) {
        64
    } else {
        1
    };
    let needs = rest
        .iter()
        .filter(|(way, _)| matches!(way, Combinator::Descendant | Combinator::Child))
        .filter_map(|(_, compound)| compound.name().map(Ancestors::slot))
        .collect();
    Some(Selector {
        subject,
        rest,
        specificity,
        cost,
        needs,
    })
}

/// `None`: not understood. An empty list: always true.
fn parse_test(input: &mut Parser<'_>, token: &Token<'_>, depth: usize) -> Option<Option<Test>> {
    Some(match token {
        Token::Delim('*') => Some(Test::AnyOf(vec![Compound::default()])),
        Token::Ident(name) => Some(Test::Tag(LocalName::from(name.to_ascii_lowercase()))),
        Token::IDHash(id) | Token::Hash(id) => Some(Test::Id(id.to_string())),
        Token::Delim('.') => match input.next_including_whitespace() {
            Ok(Token::Ident(class)) => Some(Test::Class(class.to_string())),
            _ => return None,
        },
        Token::SquareBracketBlock => Some(
            input
                .parse_nested_block(|inner| attribute(inner).ok_or_else(error))
                .ok()?,
        ),
        Token::Colon => match input.next_including_whitespace().ok()?.clone() {
            Token::Colon => {
                // A pseudo-element is not the element.
                let _ = input.next_including_whitespace();
                Some(Test::Never)
            }
            Token::Ident(name) => pseudo(&name.to_ascii_lowercase()),
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                Some(
                    input
                        .parse_nested_block(|inner| function(inner, &name, depth).ok_or_else(error))
                        .ok()?,
                )
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn error() -> cssparser::ParseError<()> {
    cssparser::ParseError::custom(())
}

fn pseudo(name: &str) -> Option<Test> {
    match name {
        "root" | "host" => Some(Test::Root),
        "first-child" => Some(Test::First),
        "last-child" => Some(Test::Last),
        "only-child" => Some(Test::Only),
        "link" | "any-link" => Some(Test::Tag(local_name!("a"))),
        "enabled" | "defined" | "read-only" => None,
        _ => Some(Test::Never),
    }
}

fn function(input: &mut Parser<'_>, name: &str, depth: usize) -> Option<Test> {
    match name {
        "not" | "is" | "where" | "matches" | "-webkit-any" | "-moz-any" if depth < 2 => {
            let mut compounds = vec![Compound::default()];
            while let Ok(token) = input.next_including_whitespace().cloned() {
                match token {
                    Token::Comma => compounds.push(Compound::default()),
                    Token::WhiteSpace(_) => {}
                    token => {
                        let test = parse_test(input, &token, depth + 1)?;
                        compounds.last_mut()?.0.extend(test);
                    }
                }
                if compounds.len() > MAX_TESTS {
                    return None;
                }
            }
            Some(if name == "not" {
                Test::NoneOf(compounds)
            } else {
                Test::AnyOf(compounds)
            })
        }
        "nth-child" => {
            let (a, b) = cssparser::parse_nth(input).ok()?;
            Some(Test::Nth { a, b })
        }
        _ => Some(Test::Never),
    }
}

fn attribute(input: &mut Parser<'_>) -> Option<Test> {
    let Ok(Token::Ident(name)) = input.next().cloned() else {
        return None;
    };
    let name = LocalName::from(name.to_ascii_lowercase());
    let op = match input.next() {
        Err(_) => {
            return Some(Test::Attr {
                name,
                op: ' ',
                value: String::new(),
            });
        }
        Ok(Token::Delim('=')) => '=',
        Ok(Token::IncludeMatch) => '~',
        Ok(Token::DashMatch) => '|',
        Ok(Token::PrefixMatch) => '^',
        Ok(Token::SuffixMatch) => '$',
        Ok(Token::SubstringMatch) => '*',
        Ok(_) => return None,
    };
    let value = match input.next() {
        Ok(Token::Ident(value) | Token::QuotedString(value)) => value.to_string(),
        _ => return None,
    };
    Some(Test::Attr { name, op, value })
}
