//! The last stage: who may read it.

use crate::report::Report;
use blastshield_content::Page;
use blastshield_detect::{Decision, Profile};

/// What may happen to a page.
#[must_use]
#[derive(Debug)]
pub enum Verdict {
    /// Under the medium line: it may be read.
    Safe(SafeContent),
    /// Between the lines: somebody else must say.
    Gray(Gray),
    /// At or over the block line.
    Blocked(Blocked),
}

/// Content that an agent may read.
#[derive(Debug)]
pub struct SafeContent {
    page: Page,
    truncated: bool,
    report: Report,
    bypassed: bool,
}

/// Content that nobody has cleared yet.
#[derive(Debug)]
pub struct Gray(SafeContent);

/// Content that an agent may not read.
#[derive(Debug)]
pub struct Blocked {
    page: Page,
    report: Report,
    truncated: bool,
}

impl Verdict {
    pub(crate) fn of(page: Page, truncated: bool, report: Report, profile: Profile) -> Self {
        let decision = profile.decide(report.score);
        let gray = report.score >= profile.medium_line();
        match decision {
            Decision::Block => Self::Blocked(Blocked {
                page,
                report,
                truncated,
            }),
            Decision::Allow => {
                let content = SafeContent {
                    page,
                    truncated,
                    report,
                    bypassed: false,
                };
                if gray {
                    Self::Gray(Gray(content))
                } else {
                    Self::Safe(content)
                }
            }
        }
    }

    /// What was found.
    #[must_use]
    pub fn report(&self) -> &Report {
        match self {
            Self::Safe(content) | Self::Gray(Gray(content)) => &content.report,
            Self::Blocked(blocked) => &blocked.report,
        }
    }
}

impl SafeContent {
    /// What the agent reads.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.page.content
    }

    /// The lead of it.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.page.summary
    }

    /// Whether something was cut off.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether only the owner's allowlist let it through.
    #[must_use]
    pub fn bypassed(&self) -> bool {
        self.bypassed
    }

    /// What was found.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl Gray {
    /// What was found.
    #[must_use]
    pub fn report(&self) -> &Report {
        self.0.report()
    }

    /// The text, for a judge.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Somebody entitled to it has cleared the page; `note` is added to its flags.
    #[must_use]
    pub fn cleared(self, note: &str) -> SafeContent {
        let Self(mut content) = self;
        content.report.flags.push(note.to_owned());
        content
    }

    /// Nobody has cleared it, or somebody has said no.
    #[must_use]
    pub fn refused(self, note: &str, reason: &str) -> Blocked {
        let Self(mut content) = self;
        content.report.flags.push(note.to_owned());
        reason.clone_into(&mut content.report.reason);
        Blocked {
            page: content.page,
            report: content.report,
            truncated: content.truncated,
        }
    }
}

impl Blocked {
    /// What was found.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The content and what was hidden in the page, for the owner's store of flagged payloads and nobody else.
    #[must_use]
    pub fn payload(&self) -> String {
        let mut payload = self.page.content.clone();
        for hidden in &self.page.hidden {
            payload.push_str("\n\n[hidden] ");
            payload.push_str(hidden);
        }
        payload
    }

    /// The owner's allowlist waives the block: true score and flags stay.
    #[must_use]
    pub fn waived(self) -> SafeContent {
        SafeContent {
            page: self.page,
            truncated: self.truncated,
            report: self.report,
            bypassed: true,
        }
    }
}
