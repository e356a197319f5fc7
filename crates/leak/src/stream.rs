//! A text that arrives in pieces: what can no longer become part of a finding is let go, the rest waits.

use crate::{Finding, Scanner, Scope, hold};

/// What may go out now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Text that is part of no finding, whatever comes after it.
    pub text: String,
    /// What was found; places count from the beginning of the stream. Once there is one, no text follows.
    pub findings: Vec<Finding>,
    /// More had to wait than may wait, so that nothing is let go any more.
    pub overflow: bool,
}

/// Text in, safe text out. What it lets go is always a beginning of what it was given, and ends before the first finding.
#[derive(Debug)]
pub struct Stream {
    scanner: Scanner,
    scope: Scope,
    limit: usize,
    /// Text that went out already, for context, and text that waits.
    buffer: String,
    context: usize,
    /// Bytes that left the buffer.
    gone: usize,
    /// The buffer is looked at again at this length.
    next_look: usize,
    stopped: bool,
}

/// How much may wait, unless the caller says otherwise.
const LIMIT: usize = 256 << 10;
/// Text before the waiting one that a rule may look at.
const CONTEXT: usize = 1024;
/// More than this is not looked at again for every piece.
const OFTEN: usize = 4096;

impl Stream {
    /// A stream that is watched for what `scope` says.
    #[must_use]
    pub fn new(scanner: Scanner, scope: Scope) -> Self {
        Self::with_limit(scanner, scope, LIMIT)
    }

    /// A stream of which at most `limit` bytes may wait.
    #[must_use]
    pub fn with_limit(scanner: Scanner, scope: Scope, limit: usize) -> Self {
        Self {
            scanner,
            scope,
            limit,
            buffer: String::new(),
            context: 0,
            gone: 0,
            next_look: 0,
            stopped: false,
        }
    }

    /// Takes the next piece and gives back what may go out.
    #[must_use = "the released text must be sent on"]
    pub fn push(&mut self, piece: &str) -> Released {
        if self.stopped {
            return Released::default();
        }
        self.buffer.push_str(piece);
        if self.buffer.len() < self.next_look {
            return Released::default();
        }
        let wait =
            hold::from(self.scanner.engine(), self.scanner.known(), &self.buffer).max(self.context);
        let released = self.release(wait);
        if self.stopped {
            return released;
        }
        let waiting = self.buffer.len() - self.context;
        if waiting > self.limit {
            self.stop();
            return Released {
                overflow: true,
                ..released
            };
        }
        self.next_look = if waiting > OFTEN {
            self.buffer.len() + waiting / 8
        } else {
            0
        };
        released
    }

    /// The end: what waited, up to the first finding.
    #[must_use = "the released text must be sent on"]
    pub fn finish(&mut self) -> Released {
        if self.stopped {
            return Released::default();
        }
        let released = self.release(self.buffer.len());
        self.stop();
        released
    }

    /// Whether it has ended: something was found, too much waited, or it was finished.
    #[must_use]
    pub const fn stopped(&self) -> bool {
        self.stopped
    }

    /// Lets go what stands before `wait` and before the first finding there.
    fn release(&mut self, wait: usize) -> Released {
        let mut findings = self.scanner.scan_with(&self.buffer, self.scope);
        findings.retain(|finding| finding.end > self.context && finding.start < wait);
        let until = findings
            .first()
            .map_or(wait, |finding| finding.start.clamp(self.context, wait));
        let text = self
            .buffer
            .get(self.context..until)
            .unwrap_or_default()
            .to_owned();
        if findings.is_empty() {
            self.context = until;
            self.forget();
        } else {
            for finding in &mut findings {
                finding.start = finding.start.max(self.context) + self.gone;
                finding.end += self.gone;
            }
            self.stop();
        }
        Released {
            text,
            findings,
            overflow: false,
        }
    }

    /// Drops context that no rule looks at any more; cut between words, so that no word is taken for another.
    fn forget(&mut self) {
        if self.context < 2 * CONTEXT {
            return;
        }
        let from = self.buffer.floor_char_boundary(self.context - CONTEXT);
        let rest = self.buffer.get(from..self.context).unwrap_or_default();
        let cut = from + rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(0);
        self.buffer.drain(..cut);
        self.context -= cut;
        self.gone += cut;
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.buffer = String::new();
    }
}
