//! Everything that may happen, as one type: whoever records it says what it was, and the severity, category, wording and
//! details follow.
//!
//! No variant has room for a content: it comes as a [`Fingerprint`]. Texts that an outsider may have chosen (session keys,
//! hosts, names, reasons) are redacted, made visible and cut on their way into the log.

mod content;
mod facts;
mod owner;
mod recovery;
mod session;
mod words;

pub use words::{Answer, Decision, Level, Origin, PaymentStep, Risk};

use crate::{Category, Fingerprint, Severity};
use serde_json::{Map, Value};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Content with an injection in it.
    Injection {
        /// How it came.
        origin: Origin,
        /// From where: host, tool, file or sender.
        source: &'a str,
        /// For which session.
        session: Option<&'a str>,
        /// On the detector's scale.
        score: f64,
        /// The detector's word for the score.
        risk: Risk,
        /// Rules that matched.
        rules: &'a [&'a str],
        /// The content.
        content: Fingerprint,
        /// What became of it.
        decision: Decision,
    },
    /// An entry of the agent's memory that was poisoned or changed.
    MemoryPoisoned {
        /// Name of the file within the watched folder.
        file: &'a str,
        /// The detector's word for it.
        risk: Risk,
        /// The content.
        content: Fingerprint,
        /// Whether it was moved away.
        quarantined: bool,
    },
    /// A secret in what the agent said or sent.
    CredentialLeak {
        /// In which session.
        session: Option<&'a str>,
        /// Where it was found: `output`, `outbound`, `tool_call`…
        place: &'a str,
        /// Kinds of secrets, never their values.
        kinds: &'a [&'a str],
        /// The content that held it.
        content: Fingerprint,
        /// Whether the session was ended for it.
        terminated: bool,
    },
    /// An answer of the agent held back for another reason than a secret.
    OutputBlocked {
        /// In which session.
        session: Option<&'a str>,
        /// Types of issues.
        issues: &'a [&'a str],
        /// The answer.
        content: Fingerprint,
    },
    /// A message to another service stopped by the outbound filter.
    OutboundBlocked {
        /// Which service.
        service: &'a str,
        /// In which session.
        session: Option<&'a str>,
        /// Ids of the patterns.
        patterns: &'a [&'a str],
        /// The message.
        content: Fingerprint,
    },
    /// A planted token turned up where it does not belong.
    CanaryLeak {
        /// Where it had been planted.
        location: &'a str,
        /// The token; eight characters of it are recorded.
        token: &'a str,
        /// Whether it guards something critical.
        critical: bool,
        /// Where it turned up: `inbound`, `outbound`…
        place: &'a str,
        /// In which session.
        session: Option<&'a str>,
        /// The content that held it.
        content: Fingerprint,
    },
    /// A session ran into a limit.
    RateLimited {
        /// Which session.
        session: &'a str,
        /// Which limit.
        limit: &'a str,
        /// Until it may go on.
        cooldown_ms: u64,
    },
    /// A session shows a pattern of abuse.
    Abuse {
        /// Which session.
        session: &'a str,
        /// Id of the pattern.
        pattern: &'a str,
        /// How grave the pattern is.
        level: Level,
        /// What is done about it: `warn`, `throttle` or `block`.
        action: &'a str,
    },
    /// A session was ended.
    SessionTerminated {
        /// Which session.
        session: &'a str,
        /// Why.
        why: &'a str,
    },
    /// The owner let a session go on.
    SessionPardoned {
        /// Which session.
        session: &'a str,
        /// Who.
        by: &'a str,
    },
    /// A setting or policy changed. Values are not recorded.
    ConfigChanged {
        /// Name of the setting.
        key: &'a str,
        /// Who or what changed it.
        by: &'a str,
    },
    /// All ways out were closed, or opened again.
    Lockdown {
        /// Closed.
        on: bool,
        /// Through which channel.
        by: &'a str,
    },
    /// The configuration requirements were checked.
    EnvChecked {
        /// The gravest finding.
        severity: Severity,
        /// Names of missing variables.
        missing: &'a [&'a str],
        /// Names of malformed variables.
        malformed: &'a [&'a str],
    },
    /// The owner is asked.
    ApprovalRequested {
        /// Id of the request.
        id: &'a str,
        /// `payment`, `post`, `skill_install`, `http`, `custom`.
        action: &'a str,
        /// Which session asks.
        session: Option<&'a str>,
        /// Exactly what is shown.
        shown: Fingerprint,
    },
    /// The owner, or time, answered.
    ApprovalDecided {
        /// Id of the request.
        id: &'a str,
        /// What was asked for.
        action: &'a str,
        /// The answer.
        answer: Answer,
        /// Through which channel.
        channel: &'a str,
    },
    /// An answer that changed nothing: late, twice, unknown, forged.
    ApprovalRefused {
        /// The id it named.
        id: &'a str,
        /// Through which channel.
        channel: &'a str,
        /// Why it does not count.
        why: &'a str,
    },
    /// The owner could not be reached.
    Undeliverable {
        /// Through which channel.
        channel: &'a str,
        /// Why.
        why: &'a str,
        /// Whether no other channel is left.
        last: bool,
    },
    /// A request to another host was judged.
    HttpDecision {
        /// The host, in full.
        host: &'a str,
        /// The method.
        method: &'a str,
        /// In which session.
        session: Option<&'a str>,
        /// The answer.
        decision: Decision,
        /// Why.
        why: &'a str,
    },
    /// A step of a payment.
    Payment {
        /// Our id of the payment.
        id: &'a str,
        /// Which step.
        step: PaymentStep,
        /// How much.
        amount_sats: u64,
        /// Why, or nothing.
        why: &'a str,
    },
    /// A post to another service was judged.
    Post {
        /// Which service.
        service: &'a str,
        /// In which session.
        session: Option<&'a str>,
        /// The answer.
        decision: Decision,
        /// The post.
        content: Fingerprint,
    },
    /// A skill was to be installed.
    SkillInstall {
        /// Its name.
        name: &'a str,
        /// The answer.
        decision: Decision,
        /// How many findings the scan had.
        findings: u64,
        /// Its files.
        content: Fingerprint,
    },
    /// A sacrificial process ended other than by finishing.
    ProxyCrashed {
        /// Its name.
        proxy: &'a str,
        /// What ended it.
        trigger: &'a str,
        /// In a few words.
        detail: &'a str,
        /// Whether an attack is likely.
        adversarial: bool,
        /// Requests of the session.
        requests: u64,
        /// Files it wrote.
        files_written: u64,
        /// Name of the crash report.
        report: &'a str,
        /// Whether its workspace is in quarantine.
        quarantined: bool,
    },
    /// A security proxy must wait.
    ProxyHeld {
        /// Its name.
        proxy: &'a str,
        /// The hold, by which it is cleared.
        id: &'a str,
        /// What sort of hold.
        kind: &'a str,
        /// Why.
        why: &'a str,
        /// Whether it is the third of its kind in a day.
        escalated: bool,
    },
    /// The workspace of a security proxy was put aside.
    ProxyQuarantined {
        /// Its name.
        proxy: &'a str,
        /// The hold, by which it is cleared.
        id: &'a str,
        /// Name of the folder aside.
        folder: &'a str,
        /// Relationships to be reviewed.
        review: u64,
    },
    /// The workspace of a security proxy was restored.
    ProxyRestored {
        /// Its name.
        proxy: &'a str,
        /// From which backup; without one it is empty.
        backup: Option<&'a str>,
        /// Files that came back.
        files: u64,
    },
    /// A security proxy may go on.
    ProxyCleared {
        /// Its name.
        proxy: &'a str,
        /// The hold that ended.
        id: &'a str,
        /// What sort of hold.
        kind: &'a str,
        /// Who says so.
        by: &'a str,
    },
    /// A token was missing, wrong or not enough.
    AccessDenied {
        /// The route.
        route: &'a str,
        /// From which address.
        from: &'a str,
        /// Why.
        why: &'a str,
    },
    /// Anything else.
    Note {
        /// How grave.
        severity: Severity,
        /// About what.
        category: Category,
        /// A short id, the same for every event of this sort.
        name: &'a str,
        /// One sentence.
        message: &'a str,
        /// Further details.
        details: Map<String, Value>,
    },
}
