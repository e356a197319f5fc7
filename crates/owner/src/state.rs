//! What may become of a request, without any I/O: pending, then once and for all approved, denied or expired.
//!
//! A pending request is decided by the first reply that is in time, names what was shown and repeats what has to be
//! repeated. From its expiry on it can only expire. No state but pending has a way out.

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody has decided.
    Pending,
    /// The owner said yes.
    Approved,
    /// The owner said no.
    Denied,
    /// Nobody said anything in time, which means no.
    Expired,
}

impl State {
    /// The word in the store and on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }

    /// Reads the word; what is unknown counts as no.
    pub(crate) fn parse(word: &str) -> Self {
        [Self::Pending, Self::Approved, Self::Expired]
            .into_iter()
            .find(|state| state.as_str() == word)
            .unwrap_or(Self::Denied)
    }
}

/// Hours that a host may be allowed for.
pub const MAX_HOURS: u16 = 24 * 30;

/// How far a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// This request.
    Once,
    /// This request, and further ones of the same action to the same host for so many hours.
    Hours(u16),
    /// This request, and further ones of the same action to the same host until it is taken back.
    Always,
}

impl Scope {
    /// `once`, `24h`, `always`.
    #[must_use]
    pub fn to_word(self) -> String {
        match self {
            Self::Once => "once".to_owned(),
            Self::Hours(hours) => format!("{hours}h"),
            Self::Always => "always".to_owned(),
        }
    }

    /// Reads the word, in any case.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "once" => Some(Self::Once),
            "always" => Some(Self::Always),
            word => {
                let digits = word.strip_suffix('h')?;
                let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let hours = digits
                    .parse()
                    .ok()
                    .filter(|hours| (1..=MAX_HOURS).contains(hours));
                hours.filter(|_| plain).map(Self::Hours)
            }
        }
    }

    /// Until when a host is allowed by a yes given now.
    #[must_use]
    pub fn until_ms(self, now_ms: i64) -> Option<i64> {
        match self {
            Self::Once => None,
            Self::Hours(hours) => Some(now_ms.saturating_add(i64::from(hours) * 3_600_000)),
            Self::Always => Some(i64::MAX),
        }
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Yes, this far.
    Approve(Scope),
    /// No.
    Deny,
}

/// The owner's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Yes or no.
    pub verdict: Verdict,
    /// The first digits, at least sixteen, of the hash of what the owner saw. Nothing where only the name was typed.
    pub shown: Option<&'a str>,
    /// What the owner repeated.
    pub confirm: Option<&'a str>,
}

/// What decides whether a reply counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Where the request stands.
    pub state: State,
    /// From when on the answer is no, in milliseconds.
    pub expires_ms: i64,
    /// Hash of what was shown, in hexadecimal.
    pub shown: &'a str,
    /// What has to be repeated for a yes.
    pub confirm: Option<&'a str>,
    /// Whether a yes may reach beyond this request.
    pub may_widen: bool,
}

/// Why a reply changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such request.
    #[error("there is no request with this id")]
    Unknown,
    /// It was decided before.
    #[error("the request is already {}", .0.as_str())]
    Already(State),
    /// Its time is up.
    #[error("the request's time is up; the answer was no")]
    Late,
    /// The reply is about something else than what was shown.
    #[error("the reply does not match what was shown")]
    Changed,
    /// What has to be repeated is missing or different.
    #[error("the amount has to be repeated exactly")]
    Confirm,
    /// The yes would reach beyond what this request can grant.
    #[error("this request can only be approved once")]
    Scope,
}

/// Digits of a hash that name what was shown.
pub const SHORT_HASH: usize = 16;

/// The state that a reply leads to.
///
/// # Errors
/// Why it leads to none.
pub fn judge(facts: &Facts<'_>, reply: &Reply<'_>, now_ms: i64) -> Result<State, Refusal> {
    if facts.state != State::Pending {
        return Err(Refusal::Already(facts.state));
    }
    if is_due(facts, now_ms) {
        return Err(Refusal::Late);
    }
    let names_it = |hash: &str| hash.len() >= SHORT_HASH && facts.shown.starts_with(hash);
    if !reply.shown.is_none_or(names_it) {
        return Err(Refusal::Changed);
    }
    let Verdict::Approve(scope) = reply.verdict else {
        return Ok(State::Denied);
    };
    if facts.confirm.is_some() && reply.confirm != facts.confirm {
        return Err(Refusal::Confirm);
    }
    match scope {
        Scope::Once => Ok(State::Approved),
        Scope::Hours(1..=MAX_HOURS) | Scope::Always if facts.may_widen => Ok(State::Approved),
        Scope::Hours(_) | Scope::Always => Err(Refusal::Scope),
    }
}

/// Whether a request has to expire now.
#[must_use]
pub fn is_due(facts: &Facts<'_>, now_ms: i64) -> bool {
    facts.state == State::Pending && facts.expires_ms <= now_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHOWN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn facts(state: State, expires_ms: i64) -> Facts<'static> {
        Facts {
            state,
            expires_ms,
            shown: SHOWN,
            confirm: Some("2000"),
            may_widen: false,
        }
    }

    #[test]
    fn scopes_are_read_back() {
        for scope in [
            Scope::Once,
            Scope::Hours(1),
            Scope::Hours(MAX_HOURS),
            Scope::Always,
        ] {
            assert_eq!(Scope::parse(&scope.to_word().to_uppercase()), Some(scope));
        }
        for bad in ["", "h", "0h", "+1h", "721h", "99999h", "1", "forever"] {
            assert_eq!(Scope::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_yes_must_name_what_was_shown_and_repeat_the_amount() {
        let pending = facts(State::Pending, 10);
        let reply = |verdict, shown, confirm| {
            let reply = Reply {
                verdict,
                shown,
                confirm,
            };
            judge(&pending, &reply, 5)
        };
        let yes = Verdict::Approve(Scope::Once);
        assert_eq!(reply(yes, None, Some("2000")), Ok(State::Approved));
        assert_eq!(
            reply(yes, SHOWN.get(..16), Some("2000")),
            Ok(State::Approved)
        );
        assert_eq!(
            reply(yes, SHOWN.get(..8), Some("2000")),
            Err(Refusal::Changed)
        );
        assert_eq!(reply(yes, Some(""), Some("2000")), Err(Refusal::Changed));
        assert_eq!(
            reply(yes, SHOWN.get(1..), Some("2000")),
            Err(Refusal::Changed)
        );
        assert_eq!(reply(yes, None, None), Err(Refusal::Confirm));
        assert_eq!(reply(yes, None, Some("02000")), Err(Refusal::Confirm));
        assert_eq!(reply(Verdict::Deny, None, None), Ok(State::Denied));
        let wide = Verdict::Approve(Scope::Always);
        assert_eq!(reply(wide, None, Some("2000")), Err(Refusal::Scope));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Reply(bool, bool, bool),
        Sweep,
        Jump(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            any::<(bool, bool, bool)>()
                .prop_map(|(yes, fits, repeats)| Step::Reply(yes, fits, repeats)),
            Just(Step::Sweep),
            (-50_i64..50).prop_map(Step::Jump),
        ]
    }

    proptest! {
        #[test]
        fn one_decision_wins_and_none_after_the_time_is_up(
            expires in 0_i64..100, steps in proptest::collection::vec(step(), 0..60),
        ) {
            let (mut state, mut now, mut changes) = (State::Pending, 0, 0);
            for step in steps {
                let before = state;
                match step {
                    Step::Jump(by) => now += by,
                    Step::Sweep => if is_due(&facts(state, expires), now) { state = State::Expired },
                    Step::Reply(yes, fits, repeats) => {
                        let verdict = if yes { Verdict::Approve(Scope::Once) } else { Verdict::Deny };
                        let reply = Reply {
                            verdict,
                            shown: Some(if fits { SHOWN } else { "ffffffffffffffff" }),
                            confirm: repeats.then_some("2000"),
                        };
                        if let Ok(next) = judge(&facts(state, expires), &reply, now) {
                            prop_assert!(fits && now < expires);
                            prop_assert_eq!(next == State::Approved, yes);
                            prop_assert!(!yes || repeats);
                            state = next;
                        }
                    }
                }
                if state != before {
                    prop_assert_eq!(before, State::Pending);
                    changes += 1;
                }
            }
            prop_assert!(changes <= 1);
        }
    }
}
