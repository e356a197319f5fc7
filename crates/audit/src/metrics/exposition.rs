//! The Prometheus text format, version 0.0.4.
//!
//! Written by hand: the values are atomics and sliding windows of our own with a bounded number of labels, so a library
//! would add its registry and its locks and leave all of that to be done.

use std::fmt::{Display, Write as _};

/// The content type to serve it with.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of metrics in the making.
#[derive(Default)]
pub(crate) struct Page(String);

impl Page {
    /// Begins a metric; its samples follow.
    pub(crate) fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"", if index == 0 { '{' } else { ',' });
            for c in text.chars() {
                match c {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    c => self.0.push(c),
                }
            }
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A metric with one sample.
    pub(crate) fn single(&mut self, name: &'static str, kind: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}
