//! What all escapes share: they stand in running text, count only in company, and are resolved in place.

use crate::explore::Finds;
use crate::passage::{self, Edit};
use crate::views::ViewKind;

/// Bytes between two escapes beyond which they do not belong together.
const MAX_GAP: usize = 64;

/// Resolves the sorted `escapes` that stand in groups for which `counts` holds, each with the passage around it.
pub(super) fn resolve(
    text: &str,
    mut escapes: Vec<Edit>,
    kind: ViewKind,
    finds: &mut Finds<'_>,
    counts: impl Fn(&[Edit]) -> bool,
) {
    let groups = escapes.chunk_by(|a, b| b.range.start - a.range.end <= MAX_GAP);
    let kept: Vec<bool> = groups
        .flat_map(|group| std::iter::repeat_n(counts(group), group.len()))
        .collect();
    let mut kept = kept.into_iter();
    escapes.retain(|_| kept.next() == Some(true));
    if escapes.is_empty() {
        return;
    }
    finds.worked(text.len());
    let (derived, cut) = passage::rewrite(text, &escapes, finds.room());
    finds.add(kind, derived);
    if cut {
        finds.cut();
    }
}
