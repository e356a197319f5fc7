//! One look at one text: literals, runs, numbers, registered values, and the texts within it.

use crate::engine::{Engine, LONGEST_RUN, Trigger};
use crate::known::Known;
use crate::rules::{Miss, RULES};
use crate::view::{self, View};
use crate::{Class, Finding, Scope, Seen, assign, forms, split};
use std::ops::Range;
use std::sync::Arc;

/// A finding and how sure it is.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) rank: u8,
    pub(crate) finding: Finding,
}

/// Ranks: who wins where two findings overlap.
pub(crate) mod rank {
    pub(crate) const TERM: u8 = 1;
    pub(crate) const ADDRESS: u8 = 2;
    pub(crate) const PERSON: u8 = 3;
    pub(crate) const NAMED: u8 = 4;
    pub(crate) const SUMMED: u8 = 5;
    pub(crate) const URL: u8 = 6;
    pub(crate) const FORM: u8 = 7;
    pub(crate) const KEY: u8 = 8;
    pub(crate) const REGISTERED: u8 = 9;
    pub(crate) const CANARY: u8 = 10;
}

/// Texts within texts within texts, and no further.
const DEPTH: u8 = 3;

/// Behind a head that has the form of a key and is none, the same head is looked at again only so much later,
/// or an eighth of its length.
const CROWD: usize = 20;
/// Behind a head whose pieces were joined, pieces are joined again only so much later.
const JOINED: usize = 32;

/// What a look needs to know.
pub(crate) struct Pass<'s> {
    pub(crate) engine: &'s Engine,
    pub(crate) known: &'s Known,
    pub(crate) scope: Scope,
    /// Bytes that may still be decoded.
    budget: usize,
}

impl<'s> Pass<'s> {
    pub(crate) fn new(engine: &'s Engine, known: &'s Known, scope: Scope, length: usize) -> Self {
        Self {
            engine,
            known,
            scope,
            budget: length.saturating_mul(4).saturating_add(64 << 10),
        }
    }

    /// Everything in a text, in no order.
    pub(crate) fn look(&mut self, text: &str, depth: u8) -> Vec<Hit> {
        let mut hits = Hits {
            scope: self.scope,
            list: Vec::new(),
        };
        let mut views = Vec::new();
        self.literals(text, &mut hits, &mut views);
        crate::runs::look(text, self, &mut hits, &mut views);
        self.registered(text, &mut hits);
        let Hits { mut list, .. } = hits;
        if depth < DEPTH {
            for view in views {
                self.within(&view, depth, &mut list);
            }
        }
        list
    }

    fn within(&mut self, view: &View, depth: u8, hits: &mut Vec<Hit>) {
        let Some(rest) = self.budget.checked_sub(view.text.len()) else {
            return;
        };
        self.budget = rest;
        for mut hit in self.look(&view.text, depth + 1) {
            if view.binary && hit.finding.class == Class::Personal {
                continue;
            }
            let place = view.origin(&hit.finding.span());
            hit.finding.start = place.start;
            hit.finding.end = place.end;
            if hit.finding.seen != Seen::Encoded {
                hit.finding.seen = view.seen;
            }
            // What was put together may take in its neighbours; what stands there as it is goes first.
            if view.seen == Seen::Split {
                hit.rank = hit.rank.saturating_sub(1);
            }
            hits.push(hit);
        }
    }

    fn registered(&self, text: &str, hits: &mut Hits) {
        if !self.scope.has(Scope::REGISTERED) && !self.scope.has(Scope::CANARIES) {
            return;
        }
        self.known
            .find(text.as_bytes(), &mut text.len(), |sighting| {
                let (scope, rank) = match sighting.owner.class {
                    Class::Canary => (Scope::CANARIES, rank::CANARY),
                    _ => (Scope::REGISTERED, rank::REGISTERED),
                };
                let name = Some(Arc::clone(&sighting.owner.name));
                hits.push_named(
                    scope,
                    sighting.owner.rule,
                    sighting.owner.class,
                    rank,
                    sighting.place,
                    sighting.seen,
                    name,
                );
            });
    }

    fn literals(&self, text: &str, hits: &mut Hits, views: &mut Vec<View>) {
        let bytes = text.as_bytes();
        let mut named = assign::Looked::default();
        let mut state = Forms::default();
        let mut turned = 0;
        let mut keys = forms::KeyBlocks::default();
        self.engine.literals.find(bytes, |number, at| {
            let Some(trigger) = self.engine.triggers.get(number) else {
                return;
            };
            match trigger {
                Trigger::Assign => {
                    if let Some(place) = assign::look(text, at, &mut named) {
                        hits.push(
                            Scope::CREDENTIALS,
                            "named-secret",
                            Class::Credential,
                            rank::NAMED,
                            place,
                        );
                    }
                }
                Trigger::Rule(number) => self.rule(*number, text, at, hits, views, &mut state),
                Trigger::Email => {
                    if let Some(place) = forms::email(bytes, at.start) {
                        hits.push(
                            Scope::PERSONAL,
                            "email",
                            Class::Personal,
                            rank::PERSON,
                            place,
                        );
                    }
                }
                Trigger::Url => {
                    if let Some(place) = forms::url_password(text, at.start) {
                        hits.push(
                            Scope::CREDENTIALS,
                            "url-password",
                            Class::Credential,
                            rank::URL,
                            place,
                        );
                    }
                }
                Trigger::Key => {
                    if let Some(place) = keys.look(bytes, at.start) {
                        hits.push(
                            Scope::CREDENTIALS,
                            "private-key",
                            Class::Credential,
                            rank::KEY,
                            place,
                        );
                    }
                }
                Trigger::Jwt => {
                    if let Some(place) = forms::jwt(bytes, at.start) {
                        hits.push(
                            Scope::CREDENTIALS,
                            "jwt",
                            Class::Credential,
                            rank::FORM,
                            place,
                        );
                    }
                }
                Trigger::Path => {
                    let rest = bytes.get(at.end..).unwrap_or_default();
                    let more = rest
                        .iter()
                        .take(256)
                        .take_while(|b| b.is_ascii_alphanumeric() || b"_./-".contains(b))
                        .count();
                    hits.push(
                        Scope::INTERNAL,
                        "internal-path",
                        Class::Internal,
                        rank::TERM,
                        at.start..at.end + more,
                    );
                }
                Trigger::Term(rule) => {
                    let word = |place: Option<usize>| {
                        place
                            .and_then(|place| bytes.get(place))
                            .is_some_and(u8::is_ascii_alphanumeric)
                    };
                    if !word(at.start.checked_sub(1)) && !word(Some(at.end)) {
                        let (scope, class) = if *rule == "owner-id" {
                            (Scope::REGISTERED, Class::Personal)
                        } else {
                            (Scope::INTERNAL, Class::Internal)
                        };
                        hits.push(scope, rule, class, rank::TERM, at);
                    }
                }
                Trigger::Back | Trigger::Shift => {
                    let back = matches!(trigger, Trigger::Back);
                    if at.start >= turned
                        && let Some(run) = split::token(bytes, at, back)
                    {
                        turned = run.end;
                        views.push(view::turned(bytes, run, back));
                    }
                }
            }
        });
    }

    /// A rule of form at a literal; if it does not hold, perhaps because the token was cut in pieces.
    fn rule(
        &self,
        number: u16,
        text: &str,
        at: Range<usize>,
        hits: &mut Hits,
        views: &mut Vec<View>,
        state: &mut Forms,
    ) {
        let Some(rule) = RULES.get(usize::from(number)) else {
            return;
        };
        // Inside what this rule has just found there is nothing more for it to find.
        let again = state.rule == number && at.start < state.end;
        if again || !self.scope.has(Scope::CREDENTIALS) {
            return;
        }
        let bytes = text.as_bytes();
        let missed = match rule.confirm(bytes, at.clone()) {
            Ok(place) => {
                (state.rule, state.end) = (number, place.end);
                let credential = Class::Credential;
                hits.push(Scope::CREDENTIALS, &rule.id, credential, rank::FORM, place);
                return;
            }
            Err(missed) => missed,
        };
        if let Miss::Proof(length) = missed {
            // Heads that crowd into what has the form are parts of it.
            (state.rule, state.end) = (number, at.start + CROWD.max(length / 8));
        }
        if at.start >= state.pieces && state.tried != at && rule.splittable() {
            if let Some(view) = split::pieces(bytes, at.clone()) {
                state.pieces = at.start + JOINED;
                views.push(view);
            }
            state.tried = at;
        }
    }

    /// Rules that begin at a run of this length.
    pub(crate) fn run_rules(&self, bytes: &[u8], run: Range<usize>, hits: &mut Hits) {
        if run.len() > LONGEST_RUN || !self.scope.has(Scope::CREDENTIALS) {
            return;
        }
        for number in self.engine.runs.get(run.len()).into_iter().flatten() {
            let Some(rule) = RULES.get(usize::from(*number)) else {
                continue;
            };
            if let Ok(place) = rule.confirm(bytes, run.clone()) {
                hits.push(
                    Scope::CREDENTIALS,
                    &rule.id,
                    Class::Credential,
                    rank::FORM,
                    place,
                );
            }
        }
    }
}

/// What the rules of form have done so far.
#[derive(Default)]
struct Forms {
    rule: u16,
    end: usize,
    /// No joining of pieces before this place.
    pieces: usize,
    /// The last literal behind which pieces were looked for, which several rules may share.
    tried: Range<usize>,
}

/// Where findings gather; what is out of scope is not kept.
pub(crate) struct Hits {
    scope: Scope,
    list: Vec<Hit>,
}

impl Hits {
    pub(crate) fn push(
        &mut self,
        scope: Scope,
        rule: &'static str,
        class: Class,
        rank: u8,
        place: Range<usize>,
    ) {
        self.push_named(scope, rule, class, rank, place, Seen::Plain, None);
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one place where a finding is put together"
    )]
    fn push_named(
        &mut self,
        scope: Scope,
        rule: &'static str,
        class: Class,
        rank: u8,
        place: Range<usize>,
        seen: Seen,
        name: Option<Arc<str>>,
    ) {
        if self.scope.has(scope) && place.start < place.end {
            let finding = Finding {
                rule,
                class,
                start: place.start,
                end: place.end,
                seen,
                name,
            };
            self.list.push(Hit { rank, finding });
        }
    }
}
