//! What holds for every input, checked in one place for property tests and fuzzing.

use crate::{Limits, Views, fold};

/// Panics if the views of `input` break a promise of this crate.
pub fn check_invariants(input: &str) {
    for limits in [
        Limits::default(),
        Limits {
            max_depth: 2,
            max_decoded: 300,
            decoded_ratio: 1,
            max_views: 3,
        },
    ] {
        check(input, &limits);
    }
}

fn check(input: &str, limits: &Limits) {
    let views = Views::with_limits(input, limits);
    assert_eq!(
        views.plain().text(),
        fold(input),
        "the plain view is the fold"
    );
    assert!(
        views
            .iter()
            .skip(1)
            .map(|view| view.text().len())
            .sum::<usize>()
            <= limits.max_decoded,
        "decoded bytes stay within the cap"
    );
    assert!(
        views.iter().count() <= limits.max_views + 1,
        "views stay within the cap"
    );
    for signal in views.signals() {
        assert!(
            signal.count > 0 && input.get(signal.first.start..signal.first.end).is_some(),
            "a signal has a place: {signal:?}"
        );
    }
    for view in views.iter() {
        assert!(
            view.depth() <= limits.max_depth,
            "depth stays within the cap"
        );
        check_origins(input, view);
    }
    let mut last = 0;
    for (at, c) in views.plain().text().char_indices() {
        let span = views.plain().origin(at..at + c.len_utf8());
        assert!(span.start >= last, "the plain view is in order at {at}");
        last = span.start;
    }
}

fn check_origins(input: &str, view: &crate::View) {
    let len = view.text().len();
    let whole = view.origin(0..len);
    let step = (len / 128).max(1);
    for start in (0..len + 4).step_by(step) {
        for width in [0, 1, 7, len] {
            let span = view.origin(start..start + width);
            let slice = input.get(span.start..span.end);
            assert!(
                slice.is_some(),
                "{:?} {start}+{width} maps to {span:?}, which is no slice of the input",
                view.kind()
            );
            let inside = span.is_empty() || (whole.start <= span.start && span.end <= whole.end);
            assert!(
                inside,
                "{:?} {start}+{width} maps to {span:?} outside {whole:?}",
                view.kind()
            );
        }
    }
    #[expect(clippy::reversed_empty_ranges, reason = "any range must be taken")]
    let backwards = view.origin(5..2);
    assert!(
        backwards.start <= backwards.end && backwards.end <= input.len(),
        "a backwards range is clamped"
    );
}
