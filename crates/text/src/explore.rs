//! Finds views within views, breadth first, so that a deeply nested text cannot starve its shallow neighbours.

use crate::fold::Folded;
use crate::limits::{Budget, Limits};
use crate::passage::Derived;
use crate::signals::Watch;
use crate::span::{Layer, Span, SpanMap};
use crate::views::{View, ViewKind, Views};
use crate::words::Scan;
use crate::{cipher, encoded, hidden, words};
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Fewest invisible characters that can carry a message.
const MIN_CARRIERS: usize = 4;

/// All views of `input` within `limits`.
pub(crate) fn explore(input: &str, limits: &Limits) -> Views {
    let mut watch = Watch::default();
    let mut explorer = Explorer {
        budget: Budget::new(limits, input.len()),
        queue: VecDeque::new(),
        seen: HashSet::new(),
        views: Vec::new(),
    };
    let plain = explorer.look(input, ViewKind::Plain, 0, None, &mut watch);
    while let Some(Pending {
        kind,
        depth,
        text,
        layer,
    }) = explorer.queue.pop_front()
    {
        let view = explorer.look(&text, kind, depth, Some(&layer), &mut Watch::default());
        // Compatibility forms can fold to more bytes than they were.
        if explorer
            .budget
            .take_bytes(view.text.len().saturating_sub(text.len()))
        {
            explorer.views.push(view);
        }
    }
    let Explorer { budget, views, .. } = explorer;
    Views {
        plain,
        others: views,
        signals: watch.finish(input),
        truncated: budget.truncated(),
        work: budget.work,
    }
}

struct Explorer {
    budget: Budget,
    queue: VecDeque<Pending>,
    seen: HashSet<u64>,
    views: Vec<View>,
}

/// A paid-for text still to be folded and searched.
struct Pending {
    kind: ViewKind,
    depth: u8,
    text: String,
    layer: Arc<Layer>,
}

impl Explorer {
    /// Folds one text, queues what is found in it, and returns its view.
    fn look(
        &mut self,
        text: &str,
        kind: ViewKind,
        depth: u8,
        below: Option<&Arc<Layer>>,
        watch: &mut Watch,
    ) -> View {
        let folded = Folded::of(text, below, watch);
        self.budget.work += text.len() + folded.text.len();
        let scan = Scan::of(&folded.text, folded.layer.map());
        let mut finds = Finds {
            explorer: self,
            depth: depth.saturating_add(1),
            below: None,
        };
        finds.below = below.cloned();
        if watch.carriers >= MIN_CARRIERS {
            hidden::find(text, &mut finds);
        }
        finds.below = Some(Arc::clone(&folded.layer));
        words::rewrite(&folded.text, &scan, &mut finds);
        if kind != ViewKind::Reversed {
            cipher::reversed(&folded.text, &scan, &mut finds);
        }
        if kind != ViewKind::Shifted {
            cipher::shifted(&folded.text, &scan, &mut finds);
        }
        encoded::in_numbers(&folded.text, &scan, &mut finds);
        finds.below = folded.clean_layer;
        encoded::in_runs(&folded.clean, &mut finds);
        encoded::in_escapes(&folded.clean, &mut finds);
        View {
            kind,
            depth,
            text: folded.text,
            layer: folded.layer,
        }
    }
}

/// Takes in what the finders find in one text, as far as the budget goes.
pub(crate) struct Finds<'e> {
    explorer: &'e mut Explorer,
    depth: u8,
    below: Option<Arc<Layer>>,
}

impl Finds<'_> {
    /// The largest text that may still be added.
    pub(crate) fn room(&self) -> usize {
        self.explorer.budget.bytes_left()
    }

    /// A limit kept a finder from decoding something.
    pub(crate) fn cut(&mut self) {
        self.explorer.budget.mark_truncated();
    }

    /// Accounts for `bytes` looked at beyond one pass over the text.
    pub(crate) fn worked(&mut self, bytes: usize) {
        self.explorer.budget.work += bytes;
    }

    /// Adds a text that is to be folded and searched in turn.
    pub(crate) fn add(&mut self, kind: ViewKind, derived: Derived) {
        if let Some((text, layer)) = self.admit(derived) {
            self.explorer.queue.push_back(Pending {
                kind,
                depth: self.depth,
                text,
                layer,
            });
        }
    }

    /// The same for a text made of bytes that were themselves decoded.
    pub(crate) fn add_through(&mut self, kind: ViewKind, bytes: SpanMap, derived: Derived) {
        let below = self.below.clone();
        self.below = Some(Layer::on(below.as_ref(), bytes));
        self.add(kind, derived);
        self.below = below;
    }

    /// Adds a text that is folded and searched already.
    pub(crate) fn add_folded(&mut self, kind: ViewKind, derived: Derived) {
        if let Some((text, layer)) = self.admit(derived) {
            self.explorer.views.push(View {
                kind,
                depth: self.depth,
                text,
                layer,
            });
        }
    }

    fn admit(&mut self, Derived { text, map }: Derived) -> Option<(String, Arc<Layer>)> {
        if text.is_empty() {
            return None;
        }
        let layer = Layer::on(self.below.as_ref(), map);
        let seen = fingerprint(&text, layer.origin(0..text.len()));
        if self.explorer.seen.contains(&seen) {
            return None;
        }
        if !self.explorer.budget.deeper(self.depth - 1) {
            self.cut();
            return None;
        }
        if !self.explorer.budget.take_view(text.len()) {
            return None;
        }
        self.explorer.seen.insert(seen);
        Some((text, layer))
    }
}

/// The same text from the same place is one find, in whatever order its layers were taken off.
fn fingerprint(text: &str, origin: Span) -> u64 {
    let mut hasher = DefaultHasher::new();
    (text, origin).hash(&mut hasher);
    hasher.finish()
}
