//! What an answer is bound to: one hash over everything that the owner is shown of a request, whichever channel shows it.
//! A request of which any of that changed afterwards can neither be decided nor used.

use crate::request::facts;
use blastshield_audit::Digest;
use blastshield_store::ApprovalRecord;

/// The hash: of the message, and of who asks, for which host, until when, and how far a yes may reach.
pub(crate) fn seal(record: &ApprovalRecord) -> Digest {
    let scopes = if facts(record).may_widen {
        "once, hours, always"
    } else {
        "once"
    };
    // None of these has a line feed in it, and the message comes first: no two requests run into the same text.
    let told = format!(
        "{}\n\nid: {}\naction: {}\nrequester: {}\nsession: {}\nhost: {}\namount: {}\nexpires_ms: {}\nscopes: {scopes}\n",
        record.shown,
        record.id,
        record.action,
        record.requester,
        record.session.as_deref().unwrap_or_default(),
        record.host.as_deref().unwrap_or_default(),
        record.confirm.as_deref().unwrap_or_default(),
        record.expires_ms,
    );
    Digest::of(told.as_bytes())
}

/// Whether a request is still what was shown.
pub(crate) fn holds(record: &ApprovalRecord) -> bool {
    seal(record).to_string() == record.shown_sha256
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ApprovalRecord {
        ApprovalRecord {
            id: "k7f39xq2".into(),
            action: "http".into(),
            requester: "agent".into(),
            session: Some("s".into()),
            host: Some("example.com".into()),
            confirm: None,
            shown: "shown".into(),
            shown_sha256: String::new(),
            subject_sha256: String::new(),
            created_ms: 1,
            expires_ms: 2,
            state: "pending".into(),
            scope: String::new(),
            decided_by: String::new(),
            decided_ms: 0,
            recorded: false,
            used_ms: 0,
        }
    }

    #[test]
    fn everything_that_is_shown_is_under_the_hash() {
        let changes: [fn(&mut ApprovalRecord); 9] = [
            |one| one.id = "k7f39xq3".into(),
            |one| one.action = "post".into(),
            |one| one.requester = "agent/wallet".into(),
            |one| one.session = None,
            |one| one.host = Some("example.org".into()),
            |one| one.host = None,
            |one| one.confirm = Some("2000".into()),
            |one| one.shown = "shown ".into(),
            |one| one.expires_ms = 3,
        ];
        let mut sealed = record();
        sealed.shown_sha256 = seal(&sealed).to_string();
        assert!(holds(&sealed));
        for (which, change) in changes.into_iter().enumerate() {
            let mut other = sealed.clone();
            change(&mut other);
            assert!(!holds(&other), "{which}");
        }
        sealed.state = "approved".into();
        assert!(holds(&sealed), "what becomes of it is not shown before");
    }
}
