//! What is asked of the owner, checked and bounded before anything is made of it.

use crate::show;
use blastshield_audit::Digest;
use blastshield_leak::{REDACTED, fingerprint};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// What a requester may say about itself.
pub const MAX_REQUESTER: usize = 128;
/// Bytes of a reason.
pub const MAX_REASON: usize = 1024;
/// Details of one request.
pub const MAX_DETAILS: usize = 16;
/// Bytes of one detail's value.
pub const MAX_VALUE: usize = 16 << 10;
const MAX_KEY: usize = 32;
/// No Lightning invoice is shorter.
const MIN_INVOICE: usize = 50;

/// What the owner is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Paying.
    Payment,
    /// Posting in public.
    Post,
    /// Installing or enabling a skill.
    SkillInstall,
    /// A request to a host that is not allowed yet.
    Http,
    /// Anything else.
    Custom,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Payment,
        Self::Post,
        Self::SkillInstall,
        Self::Http,
        Self::Custom,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Post => "post",
            Self::SkillInstall => "skill_install",
            Self::Http => "http",
            Self::Custom => "custom",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// What a detail says.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// Text: redacted and made safe when shown.
    Text(String),
    /// A number, shown in plain digits.
    Number(i64),
    /// Something of which only a fingerprint is shown, such as an invoice.
    Secret(String),
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Value(…)")
    }
}

/// A request as it is made.
#[derive(Clone, PartialEq, Eq)]
pub struct Ask {
    /// What for.
    pub action: Action,
    /// Why the owner is asked; one sentence.
    pub reason: String,
    /// Names and values, in the order in which they are shown.
    pub details: Vec<(String, Value)>,
    /// Whose request it is; counts against the number of open requests.
    pub requester: String,
    /// In which session.
    pub session: Option<String>,
    /// The host it is about; needed for [`Action::Http`].
    pub host: Option<String>,
    /// An amount that the owner has to repeat for a yes.
    pub confirm: Option<u64>,
    /// How long the owner has, if that differs from the setting for the action. Never longer than that.
    pub timeout: Option<Duration>,
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ask")
            .field("action", &self.action)
            .field("details", &self.details.len())
            .finish_non_exhaustive()
    }
}

impl Ask {
    /// A request without details.
    #[must_use]
    pub fn new(action: Action, reason: impl Into<String>, requester: impl Into<String>) -> Self {
        Self {
            action,
            reason: reason.into(),
            details: Vec::new(),
            requester: requester.into(),
            session: None,
            host: None,
            confirm: None,
            timeout: None,
        }
    }

    /// With a detail more.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: Value) -> Self {
        self.details.push((key.into(), value));
        self
    }

    /// About this host.
    #[must_use]
    pub fn to_host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Names the first field that is out of bounds.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let fits = |text: &str, limit| !text.is_empty() && text.len() <= limit;
        let label = |text: &str| fits(text, MAX_REQUESTER) && !text.chars().any(char::is_control);
        if !fits(&self.reason, MAX_REASON) {
            return Err("reason");
        }
        if !label(&self.requester) {
            return Err("requester");
        }
        if !self.session.as_deref().is_none_or(label) {
            return Err("session");
        }
        if self.details.len() > MAX_DETAILS {
            return Err("details");
        }
        let mut seen = vec!["host"];
        for (key, value) in &self.details {
            let word =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
            // One name, one value: a second would leave open which of them counts.
            let again = seen.iter().any(|other| other.eq_ignore_ascii_case(key));
            if !fits(key, MAX_KEY) || !key.bytes().all(word) || again {
                return Err("details");
            }
            seen.push(key);
            if let Value::Text(text) | Value::Secret(text) = value
                && text.len() > MAX_VALUE
            {
                return Err("details");
            }
        }
        if self.action == Action::Http && self.host.is_none() {
            return Err("host");
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err("timeout");
        }
        self.ascii_host().map(drop).ok_or("host")
    }

    /// The host in the form in which it is dialled: `Some(None)` when there is none, nothing when it is no host.
    pub(crate) fn ascii_host(&self) -> Option<Option<String>> {
        self.host
            .as_deref()
            .map_or(Some(None), |host| ascii_host(host).map(Some))
    }

    /// Hash of exactly what is asked, with everything that is redacted when shown.
    pub(crate) fn subject(&self, id: &str) -> Digest {
        let mut hash = Sha256::new();
        // Each part is preceded by its length, so that no two requests run into the same bytes.
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(id.as_bytes());
        part(self.action.as_str().as_bytes());
        part(self.reason.as_bytes());
        part(self.requester.as_bytes());
        part(self.session.as_deref().unwrap_or_default().as_bytes());
        part(self.ascii_host().flatten().unwrap_or_default().as_bytes());
        part(
            self.confirm
                .map(|amount| amount.to_string())
                .unwrap_or_default()
                .as_bytes(),
        );
        for (key, value) in &self.details {
            part(key.as_bytes());
            match value {
                Value::Text(text) => part(&[b"t", text.as_bytes()].concat()),
                Value::Number(number) => part(&[b"n".as_slice(), &number.to_be_bytes()].concat()),
                Value::Secret(text) => part(&[b"s", text.as_bytes()].concat()),
            }
        }
        Digest::from_bytes(hash.finalize().into())
    }
}

/// A host's one form: lower case, punycode, without a final dot.
#[must_use]
pub fn ascii_host(host: &str) -> Option<String> {
    if host.is_empty() || host.len() > 253 {
        return None;
    }
    let parsed = url::Host::parse(host).ok()?.to_string();
    let plain = parsed.strip_suffix('.').unwrap_or(&parsed);
    (!plain.is_empty() && plain.len() <= 253).then(|| plain.to_owned())
}

/// A value as the owner sees it, before it is cut.
pub(crate) fn shown(key: &str, value: &Value, redact: &dyn blastshield_audit::Redact) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Secret(text) => fingerprint(text),
        Value::Text(_) if is_telling(key) => REDACTED.to_owned(),
        Value::Text(text) => show::one_line(&redacted(text, redact)),
    }
}

/// A text without its secrets; of a Lightning invoice a fingerprint stays.
pub(crate) fn redacted(text: &str, redact: &dyn blastshield_audit::Redact) -> String {
    // White space stays as it is until secrets were looked for: some reach over several lines.
    let text: String = text
        .split_inclusive(char::is_whitespace)
        .map(|word| show::without_user(&without_invoice(word)))
        .collect();
    redact.redact(&text).into_owned()
}

fn without_invoice(word: &str) -> String {
    let low = word.to_ascii_lowercase();
    let start = ["lnbc", "lntb", "lnsb"]
        .into_iter()
        .filter_map(|scheme| low.find(scheme))
        .min();
    let parts = start.and_then(|at| word.split_at_checked(at));
    let Some((before, rest)) = parts else {
        return word.to_owned();
    };
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    match rest.split_at_checked(end) {
        Some((invoice, after)) if invoice.len() >= MIN_INVOICE => {
            let invoice = fingerprint(&invoice.to_ascii_lowercase());
            format!("{before}{invoice}{after}")
        }
        _ => word.to_owned(),
    }
}

/// Whether a name says that its value is nobody's business.
fn is_telling(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    [
        "token",
        "secret",
        "password",
        "passwd",
        "api_key",
        "apikey",
        "authorization",
        "cookie",
        "private_key",
        "mnemonic",
    ]
    .into_iter()
    .any(|word| key.contains(word))
        || key.split(['_', '-', '.']).any(|part| part == "key")
}
