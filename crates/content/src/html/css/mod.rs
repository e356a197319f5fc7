//! As much of CSS as decides whether a text can be seen.

mod ancestors;
mod declaration;
mod meaning;
mod paint;
mod selector;
mod sheet;
mod style;
mod value;

pub(crate) use ancestors::Ancestors;
pub(crate) use declaration::{Declared, parse_inline, parse_one};
pub(crate) use paint::{Paint, same_colour};
pub(crate) use sheet::{Sheet, media_applies};
pub(crate) use style::{Blend, Decl, FontSize, Style};
