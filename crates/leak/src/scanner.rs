//! The scanner: rules, lists, registered values and canaries behind one function.

use crate::engine::{self, Engine};
use crate::known::{self, Known, Owner};
use crate::pass::{Hit, Pass};
use crate::{Canary, Class, Finding, Leak, Scope, Seen, redact};
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Why a scanner could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Values or canaries were registered, and there is no key to keep them by.
    #[error("registered values need a random key of 32 bytes")]
    NoKey,
}

/// Finds what must not leave. Cheap to clone, and cheap to extend by one value.
#[derive(Clone)]
pub struct Scanner {
    engine: Arc<Engine>,
    known: Arc<Known>,
    canaries: Arc<Vec<Canary>>,
    keyed: bool,
    left_out: usize,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("known", &self.known)
            .field("canaries", &self.canaries.len())
            .finish_non_exhaustive()
    }
}

static SHIPPED: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    let owned = |list: &[&str]| {
        list.iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    Arc::new(Engine::new(
        &owned(engine::PATHS),
        &owned(engine::TERMS),
        &[],
    ))
});

/// Puts a scanner together. Lists that are not given are the shipped ones.
#[derive(Default)]
pub struct Builder {
    paths: Option<Vec<String>>,
    terms: Option<Vec<String>>,
    ids: Vec<String>,
    key: Option<[u8; 32]>,
    registered: Vec<(String, String)>,
    canaries: Vec<Canary>,
}

fn strings<S: AsRef<str>>(list: impl IntoIterator<Item = S>) -> Vec<String> {
    list.into_iter()
        .map(|item| item.as_ref().trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

impl Builder {
    /// Paths that are nobody's business, instead of the shipped ones.
    #[must_use]
    pub fn internal_paths<S: AsRef<str>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.paths = Some(strings(paths));
        self
    }

    /// Words that are nobody's business, instead of the shipped ones.
    #[must_use]
    pub fn internal_terms<S: AsRef<str>>(mut self, terms: impl IntoIterator<Item = S>) -> Self {
        self.terms = Some(strings(terms));
        self
    }

    /// The owner's ids: found by value, also where a bare number would not count.
    #[must_use]
    pub fn owner_ids<S: AsRef<str>>(mut self, ids: impl IntoIterator<Item = S>) -> Self {
        self.ids = strings(ids);
        self
    }

    /// Random bytes by which registered values are kept. They live as long as the process.
    #[must_use]
    pub fn key(mut self, key: [u8; 32]) -> Self {
        self.key = Some(key);
        self
    }

    /// A value that must not leave, in whatever spelling. Only fingerprints of it are kept. Values of fewer than eight
    /// bytes, or of one repeated character, are left out: they would be found everywhere.
    #[must_use]
    pub fn register(mut self, name: &str, value: &str) -> Self {
        self.registered.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A planted marker.
    #[must_use]
    pub fn canary(mut self, canary: Canary) -> Self {
        self.canaries.push(canary);
        self
    }

    /// The scanner.
    pub fn build(self) -> Result<Scanner, BuildError> {
        let wanted = !self.registered.is_empty() || !self.canaries.is_empty();
        if wanted && self.key.is_none() {
            return Err(BuildError::NoKey);
        }
        let short: Vec<String> = self
            .ids
            .iter()
            .filter(|id| id.len() < known::SHORTEST)
            .cloned()
            .collect();
        let engine = if self.paths.is_none() && self.terms.is_none() && short.is_empty() {
            Arc::clone(&SHIPPED)
        } else {
            let shipped = |list: &[&str]| strings(list);
            let paths = self.paths.unwrap_or_else(|| shipped(engine::PATHS));
            let terms = self.terms.unwrap_or_else(|| shipped(engine::TERMS));
            Arc::new(Engine::new(&paths, &terms, &short))
        };
        // Ids are no secrets: without a key they are kept by a fixed one.
        let mut known = Known::new(self.key.unwrap_or([0x5A; 32]));
        let mut left_out = 0;
        for id in self.ids.iter().filter(|id| id.len() >= known::SHORTEST) {
            let owner = Owner {
                rule: "owner-id",
                class: Class::Personal,
                name: "owner".into(),
            };
            left_out += usize::from(!known.add(owner, id));
        }
        for (name, value) in &self.registered {
            left_out += usize::from(!known.add(secret(name), value));
        }
        for canary in &self.canaries {
            plant(&mut known, canary);
        }
        Ok(Scanner {
            engine,
            known: Arc::new(known),
            canaries: Arc::new(self.canaries),
            keyed: self.key.is_some(),
            left_out,
        })
    }
}

fn secret(name: &str) -> Owner {
    Owner {
        rule: "registered-secret",
        class: Class::Registered,
        name: name.into(),
    }
}

fn plant(known: &mut Known, canary: &Canary) {
    let owner = Owner {
        rule: "canary",
        class: Class::Canary,
        name: Arc::clone(canary.location()),
    };
    known.add(owner, canary.random());
}

impl Scanner {
    /// The shipped rules and lists, with nothing registered.
    #[must_use]
    pub fn shipped() -> Self {
        Self {
            engine: Arc::clone(&SHIPPED),
            known: Arc::new(Known::new([0x5A; 32])),
            canaries: Arc::default(),
            keyed: false,
            left_out: 0,
        }
    }

    /// Starts a scanner with lists and values of one's own.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// This scanner and one more canary.
    pub fn with_canary(&self, canary: Canary) -> Result<Self, BuildError> {
        let mut scanner = self.extended()?;
        plant(Arc::make_mut(&mut scanner.known), &canary);
        Arc::make_mut(&mut scanner.canaries).push(canary);
        Ok(scanner)
    }

    /// This scanner and one more registered value.
    pub fn with_registered(&self, name: &str, value: &str) -> Result<Self, BuildError> {
        let mut scanner = self.extended()?;
        scanner.left_out +=
            usize::from(!Arc::make_mut(&mut scanner.known).add(secret(name), value));
        Ok(scanner)
    }

    fn extended(&self) -> Result<Self, BuildError> {
        if self.keyed {
            Ok(self.clone())
        } else {
            Err(BuildError::NoKey)
        }
    }

    /// How many registered values were too short or too plain to be looked for.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// What a report for people should name: [`Scope::REPORT`].
    #[must_use]
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        self.scan_with(text, Scope::default())
    }

    /// What is in scope, in order of place and apart; where two overlap, the surer one stays.
    #[must_use]
    pub fn scan_with(&self, text: &str, scope: Scope) -> Vec<Finding> {
        apart(text, self.hits(text, scope))
    }

    fn hits(&self, text: &str, scope: Scope) -> Vec<Hit> {
        let mut hits = Pass::new(&self.engine, &self.known, scope, text.len()).look(text, 0);
        if memchr::memmem::find(text.as_bytes(), PUBLIC_KEY).is_some() {
            hits.retain(|hit| !published(text, &hit.finding));
        }
        for hit in &mut hits {
            hit.finding.start = text.floor_char_boundary(hit.finding.start);
            hit.finding.end = text.ceil_char_boundary(hit.finding.end);
        }
        hits
    }

    /// The text with everything that [`Scanner::scan`] names replaced by `[REDACTED]`.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_with(text, Scope::default())
    }

    /// The text with everything in scope replaced by `[REDACTED]`, the edges of overlapping findings included.
    #[must_use]
    pub fn redact_with<'t>(&self, text: &'t str, scope: Scope) -> Cow<'t, str> {
        let mut spans: Vec<Finding> = self
            .hits(text, scope)
            .into_iter()
            .map(|hit| hit.finding)
            .collect();
        spans.sort_by_key(|finding| (finding.start, finding.end));
        let mut merged: Vec<Finding> = Vec::with_capacity(spans.len());
        for finding in spans {
            match merged.last_mut() {
                Some(last) if finding.start <= last.end => last.end = last.end.max(finding.end),
                _ => merged.push(finding),
            }
        }
        redact::replace(text, &merged)
    }

    /// The canaries among findings.
    #[must_use]
    pub fn leaks(&self, findings: &[Finding]) -> Vec<Leak> {
        let planted = |finding: &&Finding| finding.class == Class::Canary;
        findings
            .iter()
            .filter(planted)
            .filter_map(|finding| {
                let location = finding.name.as_ref()?;
                self.canaries
                    .iter()
                    .find(|canary| canary.location() == location)
            })
            .map(Canary::leak)
            .collect()
    }

    /// Every find, the overlapping ones too.
    #[cfg(test)]
    pub(crate) fn hits_for_tests(&self, text: &str) -> Vec<(&'static str, std::ops::Range<usize>)> {
        let hits = self.hits(text, Scope::ALL).into_iter();
        hits.map(|hit| (hit.finding.rule, hit.finding.span()))
            .collect()
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }
}

const PUBLIC_KEY: &[u8] = b"BEGIN PGP PUBLIC KEY BLOCK";

/// A public key names its owner on purpose.
fn published(text: &str, finding: &Finding) -> bool {
    const BLOCK: usize = 8 << 10;
    if finding.class != Class::Personal || finding.seen != Seen::Encoded {
        return false;
    }
    let from = finding.start.saturating_sub(BLOCK);
    let before = text.as_bytes().get(from..finding.start).unwrap_or_default();
    let begin = memchr::memmem::rfind(before, PUBLIC_KEY);
    let end = memchr::memmem::rfind(before, b"END PGP PUBLIC KEY BLOCK");
    begin.is_some() && begin > end
}

/// Findings in order and apart: the surest first, then the longest, then the plainest.
fn apart(text: &str, mut hits: Vec<Hit>) -> Vec<Finding> {
    hits.sort_by_key(|hit| {
        let Finding {
            start, end, seen, ..
        } = hit.finding;
        (
            std::cmp::Reverse(hit.rank),
            std::cmp::Reverse(end - start),
            seen,
            start,
        )
    });
    let mut taken = std::collections::BTreeMap::<usize, Finding>::new();
    for Hit { mut finding, .. } in hits {
        let before = taken.range(..finding.end).next_back();
        if before.is_some_and(|(_, other)| other.end > finding.start) {
            continue;
        }
        if finding.seen == Seen::Plain && in_url(text.as_bytes(), finding.start) {
            finding.seen = Seen::Url;
        }
        taken.insert(finding.start, finding);
    }
    taken.into_values().collect()
}

fn in_url(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(512)..at).unwrap_or_default();
    let word = before
        .iter()
        .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'<' | b'>' | b'`'));
    let word = word.map_or(before, |place| before.get(place..).unwrap_or_default());
    memchr::memmem::find(word, b"://").is_some()
}
