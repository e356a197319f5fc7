//! What follows from the end of a security proxy: one pure function, row by row as the recovery pattern has it.
//!
//! Two accounts are weighed, the child's report and what core saw for itself, and the worse counts: a report can make
//! things worse than core saw them, never better.

use crate::report::Trigger;

/// Ends of the same kind within a day from which on a person is asked.
pub const PATTERN: u64 = 3;

/// How the process ended, as core saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Core ended it because its time was up.
    TimedOut,
    /// Nobody saw it: core itself was gone.
    Lost,
}

/// What became of the crash report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// There is one, well formed and of this session.
    Trigger(Trigger),
    /// There is none.
    Missing,
    /// There is something that is no report of this session: malformed, too large, a link, too old, or more than one.
    Unusable,
}

/// A point on which the child's account and core's differ, to the child's discredit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contradiction {
    /// A clean report, but the process ended otherwise than a clean one does.
    Exit,
    /// Fewer requests reported than the broker saw.
    Requests,
    /// Files changed that the report does not name.
    Files,
    /// Links, pipes, hidden or oversized files were left in the workspace.
    Oddities,
    /// The audit trail or an earlier report was changed, not added to.
    Trail,
    /// The broker refused requests that the definition does not allow.
    Requested,
    /// The broker saw the burn limit, the report does not speak of it.
    Burned,
    /// Relationships are not of their form any more, or somebody is no longer under review.
    Relationships,
}

impl Contradiction {
    /// In a few words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "the exit does not fit the report",
            Self::Requests => "fewer requests reported than made",
            Self::Files => "files changed that the report does not name",
            Self::Oddities => "links or odd files in the workspace",
            Self::Trail => "the audit trail was changed",
            Self::Requested => "forbidden requests",
            Self::Burned => "the burn limit was kept quiet",
            Self::Relationships => "relationships were damaged or taken out of review",
        }
    }
}

/// All that the decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation<'a> {
    /// The child's account.
    pub reported: Reported,
    /// How it ended.
    pub exit: Exit,
    /// Files of the workspace changed by either account; the trail and the report itself aside.
    pub files_written: u64,
    /// Where the accounts differ.
    pub contradictions: &'a [Contradiction],
    /// Ends of this kind within 24 hours that nobody settled, this one among them.
    pub same_kind_in_a_day: u64,
    /// Whether core knows what caused an exception.
    pub root_cause_known: bool,
    /// Whether core ended it because the owner said so.
    pub owner_stop: bool,
    /// Whether a hold is on already.
    pub held: bool,
}

/// Whether and when the service may be spawned again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Respawn {
    /// At once.
    Yes,
    /// Once the known cause is mended.
    AfterFix,
    /// Once the cause is found.
    AfterInvestigation,
    /// Once the owner cleared it.
    OnlyWhenCleared,
    /// The task is done.
    NotNeeded,
}

impl Respawn {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::AfterFix => "after_fix",
            Self::AfterInvestigation => "after_investigation",
            Self::OnlyWhenCleared => "only_when_cleared",
            Self::NotNeeded => "not_needed",
        }
    }
}

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alert {
    /// Nobody.
    None,
    /// The log.
    Log,
    /// The owner, when convenient.
    Ping,
    /// The owner, now, through every channel.
    Immediate,
}

/// As what an end counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// As the report says.
    Reported(Trigger),
    /// It went through its checklist because the owner closed all ways out: nothing is wrong with it.
    Stopped,
    /// No usable report: the worst is assumed.
    Missing,
    /// A report that core's own account belies.
    Lied,
}

impl Kind {
    /// The word by which ends are counted.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reported(trigger) => trigger.as_str(),
            Self::Stopped => "OWNER_STOP",
            Self::Missing => "MISSING_REPORT",
            Self::Lied => "CONTRADICTED_REPORT",
        }
    }

    /// Whether an attack is assumed.
    #[must_use]
    pub const fn is_adversarial(self) -> bool {
        match self {
            Self::Reported(trigger) => trigger.is_adversarial(),
            Self::Stopped => false,
            Self::Missing | Self::Lied => true,
        }
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// As what it counts.
    pub kind: Kind,
    /// Whether the service may be spawned again.
    pub respawn: Respawn,
    /// Whether the same task may be tried again by core itself. Never after a burn limit.
    pub retry_task: bool,
    /// Whether the workspace is moved aside.
    pub quarantine: bool,
    /// Who is told.
    pub alert: Alert,
    /// The hold that begins with it.
    pub hold: Option<Hold>,
}

impl Decision {
    /// Whether an attack is assumed.
    #[must_use]
    pub const fn is_adversarial(&self) -> bool {
        self.kind.is_adversarial()
    }
}

/// Why a service waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// An attack: only the owner ends it.
    Adversarial,
    /// The same trouble three times in a day: only the owner ends it.
    Pattern,
    /// A known cause to be mended: core or the owner ends it.
    Fix,
    /// An unknown cause: core or the owner ends it.
    Investigate,
}

impl Hold {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Adversarial => "adversarial",
            Self::Pattern => "pattern",
            Self::Fix => "fix",
            Self::Investigate => "investigate",
        }
    }

    /// Reads the word; an unknown one is the strictest.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "pattern" => Self::Pattern,
            "fix" => Self::Fix,
            "investigate" => Self::Investigate,
            _ => Self::Adversarial,
        }
    }

    /// Whether only a person may end it.
    #[must_use]
    pub const fn needs_owner(self) -> bool {
        matches!(self, Self::Adversarial | Self::Pattern)
    }
}

/// As what an end counts, before the number of its like is known.
#[must_use]
pub fn kind(reported: Reported, contradictions: &[Contradiction], owner_stop: bool) -> Kind {
    match reported {
        Reported::Missing | Reported::Unusable => Kind::Missing,
        Reported::Trigger(Trigger::Exception) if owner_stop && contradictions.is_empty() => {
            Kind::Stopped
        }
        // An attack that the child itself reports keeps its name.
        Reported::Trigger(trigger) if trigger.is_adversarial() || contradictions.is_empty() => {
            Kind::Reported(trigger)
        }
        Reported::Trigger(_) => Kind::Lied,
    }
}

/// What is to be done.
pub fn decide(situation: &Situation<'_>) -> Decision {
    let lost = matches!(situation.exit, Exit::Lost);
    let kind = if lost {
        Kind::Missing
    } else {
        kind(
            situation.reported,
            situation.contradictions,
            situation.owner_stop,
        )
    };
    let mut decision = match kind {
        Kind::Missing | Kind::Lied => attacked(kind, true),
        Kind::Stopped => STOPPED,
        Kind::Reported(trigger) if trigger.is_adversarial() => {
            attacked(kind, situation.files_written > 0)
        }
        Kind::Reported(trigger) => troubled(kind, trigger, situation),
    };
    if situation.held && decision.respawn != Respawn::NotNeeded {
        decision.respawn = Respawn::OnlyWhenCleared;
        decision.retry_task = false;
    }
    decision
}

/// Once the owner opens the ways out again it may go on; it does not count towards a pattern.
const STOPPED: Decision = Decision {
    kind: Kind::Stopped,
    respawn: Respawn::Yes,
    retry_task: false,
    quarantine: false,
    alert: Alert::Log,
    hold: None,
};

const fn attacked(kind: Kind, quarantine: bool) -> Decision {
    Decision {
        kind,
        respawn: Respawn::OnlyWhenCleared,
        retry_task: false,
        quarantine,
        alert: Alert::Immediate,
        hold: Some(Hold::Adversarial),
    }
}

fn troubled(kind: Kind, trigger: Trigger, situation: &Situation<'_>) -> Decision {
    let (respawn, retry_task, hold, alert) = match trigger {
        Trigger::TaskComplete => (Respawn::NotNeeded, false, None, Alert::None),
        _ if situation.same_kind_in_a_day >= PATTERN => (
            Respawn::OnlyWhenCleared,
            false,
            Some(Hold::Pattern),
            Alert::Ping,
        ),
        Trigger::BurnLimit => (Respawn::Yes, false, None, Alert::Log),
        Trigger::AuthFailure => (Respawn::Yes, true, None, Alert::Log),
        _ if situation.root_cause_known => (Respawn::AfterFix, false, Some(Hold::Fix), Alert::Log),
        _ => (
            Respawn::AfterInvestigation,
            false,
            Some(Hold::Investigate),
            Alert::Log,
        ),
    };
    Decision {
        kind,
        respawn,
        retry_task,
        quarantine: false,
        alert,
        hold,
    }
}

#[cfg(test)]
mod tests;
