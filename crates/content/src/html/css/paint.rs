//! Colours, and whether one can be told from another.

use super::value::{Part, share};

/// What something is painted with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Paint {
    /// Red, green, blue (0–255) and alpha (0–1).
    Rgba(f32, f32, f32, f32),
    /// A picture, a gradient, or a colour that this crate does not work out.
    Unknown,
    /// The colour of the surroundings.
    Inherit,
}

impl Paint {
    pub(crate) const BLACK: Self = Self::Rgba(0.0, 0.0, 0.0, 1.0);
    pub(crate) const WHITE: Self = Self::Rgba(255.0, 255.0, 255.0, 1.0);
    pub(crate) const CLEAR: Self = Self::Rgba(0.0, 0.0, 0.0, 0.0);

    /// The colour that one part of a value names.
    pub(crate) fn read(part: &Part) -> Option<Self> {
        match part {
            Part::Word(word) => match word.as_str() {
                "transparent" => Some(Self::CLEAR),
                "inherit" | "currentcolor" | "unset" | "revert" => Some(Self::Inherit),
                "initial" | "canvastext" | "windowtext" => Some(Self::BLACK),
                "canvas" => Some(Self::WHITE),
                word => cssparser::color::parse_named_color(word)
                    .ok()
                    .map(|(r, g, b)| Self::Rgba(f32::from(r), f32::from(g), f32::from(b), 1.0)),
            },
            Part::Hash(hash) => cssparser::color::parse_hash_color(hash.as_bytes())
                .ok()
                .map(|(r, g, b, a)| Self::Rgba(f32::from(r), f32::from(g), f32::from(b), a)),
            Part::Call(name, arguments) => Self::function(name, arguments),
            _ => None,
        }
    }

    /// The colour of a `color` or `bgcolor` attribute.
    pub(crate) fn attribute(text: &str) -> Option<Self> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        Self::read(&match lower.strip_prefix('#') {
            Some(hash) => Part::Hash(hash.to_owned()),
            None => Part::Word(lower.clone()),
        })
        .or_else(|| Self::read(&Part::Hash(lower)))
    }

    fn function(name: &str, arguments: &[Part]) -> Option<Self> {
        let arguments: Vec<&Part> = arguments
            .iter()
            .filter(|part| **part != Part::Comma)
            .collect();
        let alpha = match arguments.get(3) {
            Some(part) => share(part)?,
            None => 1.0,
        };
        match name {
            "rgb" | "rgba" => {
                let channel = |at: usize| {
                    arguments.get(at).and_then(|part| match part {
                        Part::Number(value) => Some(value.clamp(0.0, 255.0)),
                        Part::Percent(value) => Some((value * 2.55).clamp(0.0, 255.0)),
                        _ => None,
                    })
                };
                Some(Self::Rgba(channel(0)?, channel(1)?, channel(2)?, alpha))
            }
            "hsl" | "hsla" => {
                let hue = match arguments.first()? {
                    Part::Number(value) => *value,
                    Part::Call(name, turn) if name == "deg" => share(turn.first()?)?,
                    _ => return None,
                };
                let portion = |at: usize| {
                    arguments.get(at).and_then(|part| match part {
                        Part::Number(value) | Part::Percent(value) => {
                            Some((value / 100.0).clamp(0.0, 1.0))
                        }
                        _ => None,
                    })
                };
                let (r, g, b) = from_hsl(hue, portion(1)?, portion(2)?);
                Some(Self::Rgba(r, g, b, alpha))
            }
            _ => match arguments.iter().rev().take(1).find_map(|part| share(part)) {
                // Other colour spaces: only a last value of zero after four says that nothing is painted.
                Some(0.0) if arguments.len() >= 4 => Some(Self::CLEAR),
                _ => Some(Self::Unknown),
            },
        }
    }

    /// This colour as seen over an opaque ground.
    pub(crate) fn over(self, ground: Self) -> Self {
        match (self, ground) {
            (Self::Inherit, _) => ground,
            (Self::Rgba(_, _, _, a), _) if a >= 0.99 => self,
            (Self::Rgba(_, _, _, a), _) if a <= 0.0 => ground,
            (Self::Rgba(r, g, b, a), Self::Rgba(x, y, z, _)) => {
                let mix = |top: f32, low: f32| top * a + low * (1.0 - a);
                Self::Rgba(mix(r, x), mix(g, y), mix(b, z), 1.0)
            }
            _ => Self::Unknown,
        }
    }
}

fn from_hsl(hue: f32, saturation: f32, lightness: f32) -> (f32, f32, f32) {
    let a = saturation * lightness.min(1.0 - lightness);
    let channel = |n: f32| {
        let k = (n + hue / 30.0).rem_euclid(12.0);
        255.0 * (lightness - a * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))
    };
    (channel(0.0), channel(8.0), channel(4.0))
}

fn luminance(r: f32, g: f32, b: f32) -> f32 {
    let linear = |value: f32| {
        let value = value / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Whether nobody could read text of this colour on this ground.
pub(crate) fn same_colour(text: Paint, ground: Paint) -> bool {
    if let Paint::Rgba(_, _, _, a) = text
        && a <= 0.06
    {
        return true;
    }
    let (Paint::Rgba(r, g, b, _), Paint::Rgba(x, y, z, _)) = (text.over(ground), ground) else {
        return false;
    };
    let near = (r - x).abs().max((g - y).abs()).max((b - z).abs());
    if near > 48.0 {
        return false;
    }
    let (bright, dark) = (luminance(r, g, b), luminance(x, y, z));
    (bright.max(dark) + 0.05) / (bright.min(dark) + 0.05) < 1.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Paint {
        Paint::attribute(text).unwrap()
    }

    #[test]
    fn near_colours_are_the_same_and_pale_ones_are_not() {
        assert!(same_colour(hex("#fefefe"), Paint::WHITE));
        assert!(same_colour(hex("#010101"), Paint::BLACK));
        assert!(!same_colour(hex("#999"), Paint::WHITE));
        assert!(!same_colour(hex("red"), Paint::WHITE));
        assert!(!same_colour(Paint::WHITE, Paint::Unknown));
        assert!(same_colour(Paint::Rgba(0.0, 0.0, 0.0, 0.01), Paint::WHITE));
    }
}
