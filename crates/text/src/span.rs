//! Where bytes came from: spans of the original, and maps from a derived text back to the text it was made from.

use std::ops::Range;
use std::sync::Arc;

/// Bytes `start..end` of the original input; always on char boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// How many bytes the span covers.
    #[must_use]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers nothing.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Maps byte ranges of a derived text to byte ranges of its source.
///
/// A piece says "from here on, every `view_step` bytes came from the next `source_step` bytes", so that a copy is 1:1,
/// base64 is 3:4, and a ligature is a step of its own. Source bytes between two pieces were dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanMap {
    pieces: Vec<Piece>,
    view_len: usize,
    source_end: usize,
    unordered: bool,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    view: usize,
    source: usize,
    view_step: u32,
    source_step: u32,
}

impl SpanMap {
    /// The next `len` bytes are the source's bytes from `source`, unchanged in number.
    pub(crate) fn copy(&mut self, source: usize, len: usize) {
        self.steps(source, len, 1, 1);
    }

    /// The next `view_len` bytes came, as one unit, from `source`.
    pub(crate) fn block(&mut self, source: Range<usize>, view_len: usize) {
        self.steps(source.start, view_len, view_len, source.len());
    }

    /// The next `view_len` bytes came from `source` on, `view_step` bytes from each `source_step` bytes.
    pub(crate) fn steps(
        &mut self,
        source: usize,
        view_len: usize,
        view_step: usize,
        source_step: usize,
    ) {
        if view_len == 0 || view_step == 0 {
            return;
        }
        let piece = Piece {
            view: self.view_len,
            source,
            view_step: u32::try_from(view_step).unwrap_or(u32::MAX),
            source_step: u32::try_from(source_step).unwrap_or(u32::MAX),
        };
        self.unordered |= source < self.source_end;
        self.view_len += view_len;
        self.source_end = source + view_len.div_ceil(view_step) * source_step;
        if !self
            .pieces
            .last()
            .is_some_and(|last| last.continues_into(&piece))
        {
            self.pieces.push(piece);
        }
    }

    /// The next `len` bytes came from nowhere; they stand at `source`.
    pub(crate) fn inserted(&mut self, source: usize, len: usize) {
        self.steps(source, len, len, 0);
    }

    /// The smallest source range that produced `range`. Any range is clamped.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let start = range.start.min(self.view_len);
        let end = range.end.clamp(start, self.view_len);
        if start == end {
            let at = self
                .piece_at(start)
                .map_or(0, |piece| piece.step_start(start));
            let at = if start == self.view_len {
                self.source_end
            } else {
                at
            };
            return Span { start: at, end: at };
        }
        if self.unordered {
            return self.hull(start, end);
        }
        Span {
            start: self
                .piece_at(start)
                .map_or(0, |piece| piece.step_start(start)),
            end: self
                .piece_at(end - 1)
                .map_or(0, |piece| piece.step_end(end - 1)),
        }
    }

    fn index_at(&self, view: usize) -> usize {
        self.pieces
            .partition_point(|piece| piece.view <= view)
            .saturating_sub(1)
    }

    fn piece_at(&self, view: usize) -> Option<&Piece> {
        self.pieces.get(self.index_at(view))
    }

    fn hull(&self, start: usize, end: usize) -> Span {
        let touched = self.index_at(start)..=self.index_at(end - 1);
        let pieces = self.pieces.get(touched).unwrap_or_default();
        let limits = pieces.iter().skip(1).map(|next| next.view).chain([end]);
        let mut hull = Span {
            start: usize::MAX,
            end: 0,
        };
        for (piece, limit) in pieces.iter().zip(limits) {
            hull.start = hull.start.min(piece.step_start(start.max(piece.view)));
            hull.end = hull.end.max(piece.step_end(limit.min(end) - 1));
        }
        hull
    }
}

impl Piece {
    fn step_start(&self, view: usize) -> usize {
        self.source + (view - self.view) / self.view_step as usize * self.source_step as usize
    }

    fn step_end(&self, view: usize) -> usize {
        self.step_start(view) + self.source_step as usize
    }

    fn continues_into(&self, next: &Piece) -> bool {
        let (view_step, source_step) = (self.view_step as usize, self.source_step as usize);
        let ahead = next.view - self.view;
        self.view_step == next.view_step
            && self.source_step == next.source_step
            && source_step != 0
            && ahead.is_multiple_of(view_step)
            && self.source + ahead / view_step * source_step == next.source
    }
}

/// A map together with the maps below it, down to the original.
#[derive(Debug)]
pub(crate) struct Layer {
    map: SpanMap,
    below: Option<Arc<Layer>>,
}

impl Layer {
    pub(crate) fn on(below: Option<&Arc<Layer>>, map: SpanMap) -> Arc<Layer> {
        Arc::new(Layer {
            map,
            below: below.cloned(),
        })
    }

    /// The span of the original that produced `range` of the text this layer describes.
    pub(crate) fn origin(&self, range: Range<usize>) -> Span {
        let mut span = self.map.span(range);
        let mut below = self.below.as_ref();
        while let Some(layer) = below {
            span = layer.map.span(span.start..span.end);
            below = layer.below.as_ref();
        }
        span
    }

    pub(crate) fn map(&self) -> &SpanMap {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    #[test]
    fn dropped_bytes_inside_a_range_belong_to_it_and_outside_do_not() {
        let mut map = SpanMap::default();
        map.copy(0, 2);
        map.copy(5, 4);
        assert_eq!(map.span(0..6), span(0, 9));
        assert_eq!(map.span(0..2), span(0, 2));
        assert_eq!(map.span(2..3), span(5, 6));
    }

    #[test]
    fn stepped_pieces_round_outwards() {
        let mut map = SpanMap::default();
        map.steps(10, 6, 3, 4);
        map.block(18..20, 1);
        assert_eq!(map.span(0..3), span(10, 14));
        assert_eq!(map.span(2..4), span(10, 18));
        assert_eq!(map.span(0..7), span(10, 20));
    }

    #[test]
    fn ranges_are_clamped() {
        let mut map = SpanMap::default();
        map.copy(3, 4);
        assert_eq!(map.span(2..900), span(5, 7));
        assert_eq!(map.span(700..900), span(7, 7));
        assert_eq!(SpanMap::default().span(1..2), span(0, 0));
    }

    #[test]
    fn unordered_pieces_give_the_hull() {
        let mut map = SpanMap::default();
        for source in (0..5).rev() {
            map.copy(source, 1);
        }
        assert_eq!(map.span(0..5), span(0, 5));
        assert_eq!(map.span(1..3), span(2, 4));
    }

    #[test]
    fn equal_steps_in_a_row_are_one_piece() {
        let mut map = SpanMap::default();
        for at in 0..100 {
            map.block(at * 2..at * 2 + 2, 1);
        }
        assert_eq!(map.pieces.len(), 1);
        assert_eq!(map.span(7..9), span(14, 18));
    }

    #[test]
    fn layers_compose() {
        let mut lower = SpanMap::default();
        lower.steps(4, 8, 1, 2);
        let mut upper = SpanMap::default();
        upper.steps(0, 6, 3, 4);
        let lower = Layer::on(None, lower);
        let upper = Layer::on(Some(&lower), upper);
        assert_eq!(upper.origin(3..4), span(12, 20));
    }
}
