//! The properties that decide whether an element is seen.

use super::paint::Paint;

/// A size of type, absolute or in relation to the parent's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FontSize {
    Px(f32),
    Times(f32),
}

/// How an element is mixed with what lies under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blend {
    Plain,
    Lighten,
    Darken,
}

macro_rules! properties {
    ($($name:ident $field:ident: $type:ty,)*) => {
        /// One declaration that was understood.
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum Decl {
            $($name($type),)*
            /// A custom property: its name and value.
            Custom(Box<(String, String)>),
            /// A property whose value depends on custom properties.
            Deferred(Box<(String, String)>),
        }

        /// What the cascade left of each property on one element.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub(crate) struct Style { $(pub(crate) $field: Option<$type>,)* }

        impl Style {
            /// Lets a declaration override what came before it.
            pub(crate) fn apply(&mut self, decl: &Decl) {
                match decl {
                    $(Decl::$name(value) => self.$field = Some(value.clone()),)*
                    Decl::Custom(_) | Decl::Deferred(_) => {}
                }
            }
        }
    };
}

properties! {
    DisplayNone display_none: bool,
    Visible visible: bool,
    Opacity opacity: f32,
    FilteredOut filtered_out: bool,
    Font font: FontSize,
    Color color: Paint,
    Fill fill: Paint,
    Ground ground: Paint,
    Width width: f32,
    Height height: f32,
    MaxWidth max_width: f32,
    MaxHeight max_height: f32,
    Clipping clipping: bool,
    OutOfFlow out_of_flow: bool,
    Positioned positioned: bool,
    Left left: f32,
    Top top: f32,
    Right right: f32,
    Bottom bottom: f32,
    Indent indent: f32,
    MarginLeft margin_left: f32,
    MarginTop margin_top: f32,
    Transformed transformed: bool,
    Flipped flipped: bool,
    Translated translated: bool,
    Scaled scaled: bool,
    BackHidden back_hidden: bool,
    Clip clip: bool,
    ClipPath clip_path: bool,
    Masked masked: bool,
    Blended blended: Blend,
    TextClip text_clip: bool,
    Skipped skipped: bool,
    LineHeight line_height: f32,
    Spacing spacing: f32,
}

/// Beyond this many pixels nothing is on the screen.
const FAR: f32 = 900.0;

impl Style {
    /// Whether the element and all in it cannot be seen, whatever its children say.
    pub(crate) fn gone(&self) -> bool {
        let yes = |flag: Option<bool>| flag == Some(true);
        yes(self.display_none)
            || self.opacity.is_some_and(|opacity| opacity <= 0.06)
            || yes(self.filtered_out)
            || yes(self.skipped)
            || yes(self.transformed)
            || yes(self.translated)
            || yes(self.scaled)
            || yes(self.clip_path)
            || yes(self.masked)
            || (yes(self.flipped) && yes(self.back_hidden))
            || (yes(self.clip) && yes(self.out_of_flow))
            || self.collapsed()
            || self.off_screen()
    }

    fn collapsed(&self) -> bool {
        let tiny = |size: Option<f32>| size.is_some_and(|size| size.abs() < 2.0);
        self.clipping == Some(true)
            && (tiny(self.height)
                || tiny(self.width)
                || tiny(self.max_height)
                || tiny(self.max_width))
    }

    fn off_screen(&self) -> bool {
        let under = |at: Option<f32>| at.is_some_and(|at| at <= -FAR);
        let beyond = |at: Option<f32>| at.is_some_and(|at| at >= 2.0 * FAR + 200.0);
        let moved = self.out_of_flow == Some(true) || self.positioned == Some(true);
        (moved && (under(self.left) || under(self.top) || under(self.right) || under(self.bottom)))
            || (self.out_of_flow == Some(true) && (beyond(self.right) || beyond(self.bottom)))
            || (self.out_of_flow == Some(true)
                && (beyond(self.left) || self.top.is_some_and(|top| top >= 50_000.0)))
            || under(self.margin_left)
            || under(self.margin_top)
            || under(self.indent)
            || self
                .indent
                .is_some_and(|indent| indent >= FAR && self.clipping == Some(true))
            || self.spacing.is_some_and(|spacing| spacing <= -8.0)
            || (self.line_height == Some(0.0) && self.clipping == Some(true))
    }
}
