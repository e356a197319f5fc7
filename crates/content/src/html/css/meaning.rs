//! What a property and its value mean for visibility.

use super::paint::Paint;
use super::style::{Blend, Decl, FontSize};
use super::value::{Part, VIEW, px, share};

/// Properties that can make a difference; all others are passed over unread.
pub(crate) fn relevant(name: &str) -> bool {
    matches!(
        name,
        "display"
            | "visibility"
            | "opacity"
            | "filter"
            | "font-size"
            | "font"
            | "color"
            | "background"
            | "background-color"
            | "background-image"
            | "width"
            | "height"
            | "max-width"
            | "max-height"
            | "overflow"
            | "overflow-x"
            | "overflow-y"
            | "position"
            | "left"
            | "top"
            | "right"
            | "bottom"
            | "inset"
            | "inset-inline-start"
            | "text-indent"
            | "margin"
            | "margin-left"
            | "margin-top"
            | "margin-inline-start"
            | "transform"
            | "-webkit-transform"
            | "translate"
            | "scale"
            | "zoom"
            | "clip"
            | "clip-path"
            | "-webkit-clip-path"
            | "mask"
            | "mask-image"
            | "-webkit-mask"
            | "-webkit-mask-image"
            | "fill"
            | "-webkit-text-fill-color"
            | "background-clip"
            | "-webkit-background-clip"
            | "backface-visibility"
            | "content-visibility"
            | "mix-blend-mode"
            | "line-height"
            | "letter-spacing"
            | "all"
            | "rotate"
            | "block-size"
            | "inline-size"
            | "max-block-size"
            | "max-inline-size"
    )
}

/// Reads one property; a shorthand gives several declarations.
pub(crate) fn interpret(name: &str, values: &[Part], out: &mut dyn FnMut(Decl)) {
    let Some(first) = values.first() else { return };
    let word = match first {
        Part::Word(word) => word.as_str(),
        _ => "",
    };
    let size = |part: &Part| match part {
        Part::Word(_) | Part::Other => f32::MAX,
        other => px(other).unwrap_or(f32::MAX),
    };
    match name {
        "display" => out(Decl::DisplayNone(word == "none")),
        "visibility" => match word {
            "hidden" | "collapse" => out(Decl::Visible(false)),
            "visible" | "initial" => out(Decl::Visible(true)),
            _ => {}
        },
        "opacity" => share(first)
            .into_iter()
            .for_each(|value| out(Decl::Opacity(value))),
        "filter" => out(Decl::FilteredOut(values.iter().any(clears))),
        "font-size" => font(first)
            .into_iter()
            .for_each(|size| out(Decl::Font(size))),
        "font" => values
            .iter()
            .find_map(measured)
            .into_iter()
            .for_each(|size| out(Decl::Font(size))),
        "color" => out(Decl::Color(Paint::read(first).unwrap_or(Paint::Unknown))),
        "fill" | "-webkit-text-fill-color" => out(Decl::Fill(if word == "none" {
            Paint::CLEAR
        } else {
            Paint::read(first).unwrap_or(Paint::Unknown)
        })),
        "background" | "background-color" | "background-image" => ground(name, values, out),
        "width" | "inline-size" => out(Decl::Width(size(first))),
        "height" | "block-size" => out(Decl::Height(size(first))),
        "max-width" | "max-inline-size" => out(Decl::MaxWidth(size(first))),
        "max-height" | "max-block-size" => out(Decl::MaxHeight(size(first))),
        "overflow" | "overflow-x" | "overflow-y" => {
            let clips = values
                .iter()
                .any(|part| matches!(part, Part::Word(word) if word == "hidden" || word == "clip"));
            if clips || name == "overflow" {
                out(Decl::Clipping(clips));
            }
        }
        "position" => {
            out(Decl::OutOfFlow(matches!(word, "absolute" | "fixed")));
            out(Decl::Positioned(matches!(word, "relative" | "sticky")));
        }
        "left" | "inset-inline-start" => offset(first, Decl::Left, out),
        "right" => offset(first, Decl::Right, out),
        "top" => offset(first, Decl::Top, out),
        "bottom" => offset(first, Decl::Bottom, out),
        "inset" => {
            let [top, right, bottom, left] = four_sides(values);
            top.into_iter()
                .for_each(|part| offset(part, Decl::Top, out));
            right
                .into_iter()
                .for_each(|part| offset(part, Decl::Right, out));
            bottom
                .into_iter()
                .for_each(|part| offset(part, Decl::Bottom, out));
            left.into_iter()
                .for_each(|part| offset(part, Decl::Left, out));
        }
        "text-indent" => px(first)
            .into_iter()
            .for_each(|value| out(Decl::Indent(value))),
        "margin" => {
            let [top, _, _, left] = four_sides(values);
            top.into_iter()
                .for_each(|part| offset(part, Decl::MarginTop, out));
            left.into_iter()
                .for_each(|part| offset(part, Decl::MarginLeft, out));
        }
        "margin-left" | "margin-inline-start" => offset(first, Decl::MarginLeft, out),
        "margin-top" => offset(first, Decl::MarginTop, out),
        "transform" | "-webkit-transform" => {
            out(Decl::Transformed(values.iter().any(moves_away)));
            out(Decl::Flipped(values.iter().any(flips)));
        }
        "rotate" => out(Decl::Flipped(
            matches!(word, "x" | "y") && values.iter().any(half_turn),
        )),
        "translate" => out(Decl::Translated(values.iter().any(far))),
        "scale" => out(Decl::Scaled(
            values
                .iter()
                .any(|part| share(part).is_some_and(|by| by.abs() < 0.05)),
        )),
        "zoom" => {
            if let Some(by) = share(first) {
                out(Decl::Scaled(by < 0.1));
            }
        }
        "clip" => out(Decl::Clip(cut_to_nothing(first))),
        "clip-path" | "-webkit-clip-path" => out(Decl::ClipPath(cut_away(first))),
        "mask" | "mask-image" | "-webkit-mask" | "-webkit-mask-image" => {
            out(Decl::Masked(values.iter().any(masks_all)));
        }
        "backface-visibility" => out(Decl::BackHidden(word == "hidden")),
        "content-visibility" => out(Decl::Skipped(word == "hidden")),
        "mix-blend-mode" => out(Decl::Blended(match word {
            "screen" | "lighten" | "color-dodge" => Blend::Lighten,
            "multiply" | "darken" | "color-burn" => Blend::Darken,
            _ => Blend::Plain,
        })),
        "background-clip" | "-webkit-background-clip" => out(Decl::TextClip(word == "text")),
        "line-height" => px(first)
            .into_iter()
            .for_each(|value| out(Decl::LineHeight(value))),
        "letter-spacing" => px(first)
            .into_iter()
            .for_each(|value| out(Decl::Spacing(value))),
        "all" => out(Decl::DisplayNone(false)),
        _ => {}
    }
}

fn offset(part: &Part, make: fn(f32) -> Decl, out: &mut dyn FnMut(Decl)) {
    match part {
        Part::Word(word) if word == "auto" || word == "initial" => out(make(0.0)),
        part => px(part).into_iter().for_each(|value| out(make(value))),
    }
}

/// Top, right, bottom, left of a shorthand.
fn four_sides(values: &[Part]) -> [Option<&Part>; 4] {
    let at = |index: usize| values.get(index);
    [
        at(0),
        at(1).or(at(0)),
        at(2).or(at(0)),
        at(3).or(at(1)).or(at(0)),
    ]
}

fn font(part: &Part) -> Option<FontSize> {
    match part {
        Part::Word(word) => Some(match word.as_str() {
            "larger" => FontSize::Times(1.2),
            "smaller" => FontSize::Times(0.83),
            "inherit" | "unset" => FontSize::Times(1.0),
            "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
            | "xxx-large" | "initial" => FontSize::Px(16.0),
            _ => return None,
        }),
        Part::Number(value) if *value != 0.0 => None,
        part => measured(part),
    }
}

fn measured(part: &Part) -> Option<FontSize> {
    match part {
        Part::Px(value) => Some(FontSize::Px(*value)),
        Part::Number(value) if *value == 0.0 => Some(FontSize::Px(0.0)),
        Part::Em(value) => Some(FontSize::Times(*value)),
        Part::Percent(value) => Some(FontSize::Times(value / 100.0)),
        _ => None,
    }
}

fn ground(name: &str, values: &[Part], out: &mut dyn FnMut(Decl)) {
    let picture = values.iter().any(|part| {
        matches!(part, Part::Url)
            || matches!(part, Part::Call(name, _) if name.contains("gradient"))
    });
    if picture {
        out(Decl::Ground(Paint::Unknown));
    } else if let Some(paint) = values.iter().find_map(Paint::read) {
        out(Decl::Ground(if paint == Paint::Inherit {
            Paint::CLEAR
        } else {
            paint
        }));
    } else if name == "background" {
        out(Decl::Ground(Paint::CLEAR));
    }
}

fn clears(part: &Part) -> bool {
    matches!(part, Part::Call(name, arguments)
        if name == "opacity" && arguments.first().and_then(share).is_some_and(|value| value <= 0.06))
}

fn far(part: &Part) -> bool {
    match part {
        Part::Percent(value) => value.abs() >= 400.0,
        part => px(part).is_some_and(|value| value.abs() >= 0.7 * VIEW),
    }
}

fn moves_away(part: &Part) -> bool {
    let Part::Call(name, arguments) = part else {
        return false;
    };
    let nothing = |part: &Part| share(part).is_some_and(|by| by.abs() < 0.05);
    match name.as_str() {
        "scale" | "scalex" | "scaley" => arguments.iter().any(nothing),
        "scale3d" => arguments
            .iter()
            .filter(|part| **part != Part::Comma)
            .take(2)
            .any(nothing),
        "translate" | "translatex" | "translatey" | "translate3d" => arguments.iter().any(far),
        "matrix" => arguments.first().is_some_and(nothing) && arguments.get(2).is_some_and(nothing),
        "rotatex" | "rotatey" => arguments
            .iter()
            .any(|part| degrees(part).is_some_and(|by| by.abs() == 90.0)),
        _ => false,
    }
}

fn degrees(part: &Part) -> Option<f32> {
    match part {
        Part::Call(name, turn) if name == "deg" => turn.first().and_then(share),
        _ => None,
    }
}

fn half_turn(part: &Part) -> bool {
    degrees(part).is_some_and(|by| (by.abs() - 180.0).abs() < 60.0)
}

fn flips(part: &Part) -> bool {
    matches!(part, Part::Call(name, arguments)
        if (name == "rotatey" || name == "rotatex") && arguments.iter().any(half_turn))
}

/// `clip: rect(…)` that leaves nothing.
fn cut_to_nothing(part: &Part) -> bool {
    let Part::Call(name, arguments) = part else {
        return false;
    };
    let sides: Vec<f32> = arguments.iter().filter_map(px).collect();
    name == "rect"
        && match sides.as_slice() {
            [top, right, bottom, left] => bottom - top <= 2.0 || right - left <= 2.0,
            _ => false,
        }
}

fn cut_away(part: &Part) -> bool {
    let Part::Call(name, arguments) = part else {
        return false;
    };
    match name.as_str() {
        "inset" => match arguments.first() {
            Some(Part::Percent(value)) => {
                let opposite = match arguments.get(2) {
                    Some(Part::Percent(other)) => *other,
                    _ => *value,
                };
                value + opposite >= 98.0
            }
            Some(part) => px(part).is_some_and(|value| value >= 2.0 * VIEW),
            None => false,
        },
        "circle" | "ellipse" => arguments
            .first()
            .and_then(px)
            .is_some_and(|radius| radius < 2.0),
        "polygon" => {
            let corners = arguments.split(|part| *part == Part::Comma);
            let mut distinct: Vec<&[Part]> = corners.collect();
            distinct.dedup();
            distinct.len() < 3
        }
        _ => false,
    }
}

fn masks_all(part: &Part) -> bool {
    let Part::Call(name, arguments) = part else {
        return false;
    };
    let paints: Vec<Paint> = arguments.iter().filter_map(Paint::read).collect();
    name.contains("gradient")
        && !paints.is_empty()
        && paints
            .iter()
            .all(|paint| matches!(paint, Paint::Rgba(_, _, _, a) if *a <= 0.06))
}
