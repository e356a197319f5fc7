//! Declarations, in a `style` attribute or in the block of a rule.

use cssparser::{Delimiter, Parser, Token};

use super::meaning::{interpret, relevant};
use super::style::Decl;
use super::value::{Part, parts};

/// A declaration with its importance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declared {
    pub(crate) decl: Decl,
    pub(crate) important: bool,
}

const MAX_DECLARATIONS: usize = 256;
const MAX_DEFERRED: usize = 256;

/// The declarations of a `style` attribute.
pub(crate) fn parse_inline(style: &str) -> Vec<Declared> {
    let mut out = Vec::new();
    block(&mut Parser::new(style), &mut out);
    out
}

/// One property and its value, as when custom properties have been put in.
pub(crate) fn parse_one(property: &str, value: &str) -> Vec<Decl> {
    let mut out = Vec::new();
    interpret(property, &parts(&mut Parser::new(value)), &mut |decl| {
        out.push(decl);
    });
    out
}

/// The declarations of a block, up to its end; nested rules are passed over.
pub(crate) fn block(input: &mut Parser<'_>, out: &mut Vec<Declared>) {
    while out.len() < MAX_DECLARATIONS {
        let name = match input.next() {
            Ok(Token::Ident(name)) => name.clone(),
            Ok(Token::Semicolon | Token::CurlyBracketBlock) => continue,
            Ok(_) => {
                skip(input);
                continue;
            }
            Err(_) => return,
        };
        if !matches!(input.next(), Ok(Token::Colon)) {
            skip(input);
            continue;
        }
        if name.starts_with("--") {
            let start = input.position();
            skip_to_semicolon(input);
            let text = input.slice_from(start).trim_end_matches(';').trim();
            if text.len() <= MAX_DEFERRED {
                let decl = Decl::Custom(Box::new((name.to_string(), text.to_owned())));
                out.push(Declared {
                    decl,
                    important: false,
                });
            }
            continue;
        }
        let name = name.to_ascii_lowercase();
        if !relevant(&name) {
            skip_to_semicolon(input);
            continue;
        }
        declaration(input, &name, out);
    }
}

fn skip(input: &mut Parser<'_>) {
    while let Ok(token) = input.next() {
        if matches!(token, Token::Semicolon | Token::CurlyBracketBlock) {
            return;
        }
    }
}

fn skip_to_semicolon(input: &mut Parser<'_>) {
    while let Ok(token) = input.next() {
        if matches!(token, Token::Semicolon) {
            return;
        }
    }
}

fn declaration(input: &mut Parser<'_>, name: &str, out: &mut Vec<Declared>) {
    let start = input.position();
    let mut end = start;
    let mut important = false;
    let mut values = Vec::new();
    let _ = input.parse_until_after(Delimiter::Semicolon, |inner| {
        let _ = inner.parse_until_before(Delimiter::Bang, |value| {
            values = parts(value);
            end = value.position();
            Ok::<(), cssparser::ParseError<()>>(())
        });
        while let Ok(token) = inner.next() {
            if matches!(token, Token::Ident(word) if word.eq_ignore_ascii_case("important")) {
                important = true;
            }
        }
        Ok::<(), cssparser::ParseError<()>>(())
    });
    if values.iter().any(uses_custom) {
        let text = input.slice(start..end).trim();
        if text.len() <= MAX_DEFERRED {
            out.push(Declared {
                decl: Decl::Deferred(Box::new((name.to_owned(), text.to_owned()))),
                important,
            });
        }
        return;
    }
    interpret(name, &values, &mut |decl| {
        out.push(Declared { decl, important });
    });
}

fn uses_custom(part: &Part) -> bool {
    match part {
        Part::Call(name, arguments) => name == "var" || arguments.iter().any(uses_custom),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::css::Style;

    fn gone(style: &str) -> bool {
        let mut out = Style::default();
        for declared in parse_inline(style) {
            out.apply(&declared.decl);
        }
        out.gone()
    }

    #[test]
    fn what_cannot_be_seen() {
        for style in [
            "display:none",
            "DISPLAY : NONE !important",
            "d\\69splay:n\\6fne",
            "display:/**/none",
            "opacity:.01",
            "position:absolute;left:-9999px",
            "text-indent:-9999em",
            "transform:scale(0)",
            "clip-path:inset(50%)",
            "clip:rect(0,0,0,0);position:absolute",
            "clip:rect(1px 1px 1px 1px);position:absolute",
            "width:0;height:0;overflow:hidden",
            "left:calc(-100vw - 100px);position:absolute",
            "inset:auto auto auto -9999px;position:absolute",
            "translate:-9999px",
            "filter:opacity(0)",
            "mask-image:linear-gradient(transparent,transparent)",
            "margin-left:-99999px",
            "backface-visibility:hidden;transform:rotateY(180deg)",
            "clip-path:polygon(0 0)",
            "clip-path:circle(0)",
            "position:absolute;right:200vw",
            "text-indent:100%;white-space:nowrap;overflow:hidden",
        ] {
            assert!(gone(style), "{style}");
        }
    }

    #[test]
    fn what_can_be_seen() {
        for style in [
            "display:block",
            "opacity:0.8",
            "position:absolute;left:10px",
            "transform:translateX(-50%)",
            "margin-left:-20px",
            "text-indent:2em",
            "overflow:hidden;height:200px",
            "height:0",
            "clip-path:none",
            "display:none;display:block",
            "left:-9999px",
            "max-height:none;overflow:hidden",
            "mask-image:linear-gradient(black,transparent)",
            "width:100%;overflow:hidden",
            "margin:0 auto",
        ] {
            assert!(!gone(style), "{style}");
        }
    }
}
