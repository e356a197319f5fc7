//! The value of a declaration as a short list of words, numbers and functions.

use cssparser::{Parser, Token};

/// One part of a value. Lengths are in pixels, as far as a page without layout can say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Word(String),
    Number(f32),
    Percent(f32),
    Px(f32),
    /// A length in multiples of the font's size.
    Em(f32),
    Hash(String),
    /// A function with its arguments in one list, commas and slashes left out.
    Call(String, Vec<Part>),
    Url,
    Comma,
    Other,
}

/// The viewport that `vw` and `vh` mean.
pub(crate) const VIEW: f32 = 1280.0;
const MAX_PARTS: usize = 64;
const MAX_DEPTH: usize = 6;

/// Reads parts to the end of `input`.
pub(crate) fn parts(input: &mut Parser<'_>) -> Vec<Part> {
    let mut out = Vec::new();
    read(input, &mut out, 0);
    out
}

fn read(input: &mut Parser<'_>, out: &mut Vec<Part>, depth: usize) {
    while let Ok(token) = input.next() {
        if out.len() >= MAX_PARTS {
            return;
        }
        let part = match token {
            Token::Ident(word) => Part::Word(word.to_ascii_lowercase()),
            Token::Number { value, .. } => Part::Number(*value),
            Token::Percentage { unit_value, .. } => Part::Percent(unit_value * 100.0),
            Token::Dimension { value, unit, .. } => length(*value, unit),
            Token::Hash(hash) | Token::IDHash(hash) => Part::Hash(hash.to_string()),
            Token::UnquotedUrl(_) => Part::Url,
            Token::Comma => Part::Comma,
            Token::Delim(_) => {
                let Token::Delim(sign) = *token else { continue };
                if matches!(sign, '/' | '+') {
                    continue;
                }
                if sign == '-' {
                    Part::Word("-".into())
                } else {
                    Part::Other
                }
            }
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                let mut arguments = Vec::new();
                if depth < MAX_DEPTH {
                    let _ = input.parse_nested_block(|inner| {
                        read(inner, &mut arguments, depth + 1);
                        Ok::<(), cssparser::ParseError<()>>(())
                    });
                }
                call(name, arguments)
            }
            _ => Part::Other,
        };
        out.push(part);
    }
}

fn length(value: f32, unit: &str) -> Part {
    let factor = match unit.to_ascii_lowercase().as_str() {
        "px" => 1.0,
        "em" | "ex" | "ch" | "lh" => return Part::Em(value),
        "rem" | "rlh" => 16.0,
        "pt" => 4.0 / 3.0,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 37.8,
        "mm" => 3.78,
        "q" => 0.945,
        "vw" | "vh" | "vmin" | "vmax" | "svh" | "lvh" | "dvh" | "svw" | "lvw" | "dvw" | "vi"
        | "vb" => VIEW / 100.0,
        "deg" => return Part::Call("deg".into(), vec![Part::Number(value)]),
        "turn" => return Part::Call("deg".into(), vec![Part::Number(value * 360.0)]),
        "rad" => return Part::Call("deg".into(), vec![Part::Number(value.to_degrees())]),
        _ => return Part::Other,
    };
    Part::Px(value * factor)
}

/// `calc` and its like are reduced to a sum where that is all they are.
fn call(name: String, arguments: Vec<Part>) -> Part {
    match name.as_str() {
        "url" | "image" | "image-set" | "cross-fade" | "element" => Part::Url,
        "calc" | "-webkit-calc" => {
            let (mut sum, mut sign) = (0.0, 1.0);
            let mut percent = true;
            for part in &arguments {
                match part {
                    Part::Word(word) if word == "-" => {
                        sign = -1.0;
                        continue;
                    }
                    Part::Percent(value) => sum += sign * value * VIEW / 100.0,
                    other => match px(other) {
                        Some(value) => {
                            percent = false;
                            sum += sign * value;
                        }
                        None => return Part::Other,
                    },
                }
                sign = 1.0;
            }
            if percent {
                Part::Percent(sum * 100.0 / VIEW)
            } else {
                Part::Px(sum)
            }
        }
        "min" | "max" | "clamp" => {
            let mut lengths = arguments.iter().filter_map(px);
            let found = match name.as_str() {
                "min" => lengths.reduce(f32::min),
                "max" => lengths.reduce(f32::max),
                _ => lengths.nth(1),
            };
            found.map_or(Part::Other, Part::Px)
        }
        _ => Part::Call(name, arguments),
    }
}

/// A length in pixels, as if the font were of ordinary size.
pub(crate) fn px(part: &Part) -> Option<f32> {
    match part {
        Part::Px(value) => Some(*value),
        Part::Em(value) => Some(value * 16.0),
        Part::Number(value) => Some(*value),
        Part::Percent(value) => Some(value * VIEW / 100.0),
        _ => None,
    }
}

/// A plain number or a percentage as a share.
pub(crate) fn share(part: &Part) -> Option<f32> {
    match part {
        Part::Number(value) => Some(*value),
        Part::Percent(value) => Some(value / 100.0),
        _ => None,
    }
}
