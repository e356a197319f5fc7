//! What the owner sends back: `approve <id>`, `deny <id>`, or what a button holds.

use crate::RequestId;
use crate::state::{SHORT_HASH, Scope, Verdict};

const MAX_TEXT: usize = 80;

/// An order about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Which request.
    pub id: RequestId,
    /// Yes or no.
    pub verdict: Verdict,
    /// What was repeated.
    pub confirm: Option<String>,
    /// What was seen, if a button says so.
    pub shown: Option<String>,
}

/// What a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// An order.
    Command(Command),
    /// The kill switch, on or off.
    Lockdown(bool),
    /// Meant as an order, and none.
    Malformed,
    /// Something else.
    Other,
}

/// Reads a text: the whole of it is the order, or there is none.
#[must_use]
pub fn read_text(text: &str) -> Text {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let yes = match first.as_str() {
        "approve" => true,
        "deny" => false,
        "lockdown" => {
            return match (words.next(), words.next()) {
                (Some(word), None) if word.eq_ignore_ascii_case("on") => Text::Lockdown(true),
                (Some(word), None) if word.eq_ignore_ascii_case("off") => Text::Lockdown(false),
                _ => Text::Malformed,
            };
        }
        _ => return Text::Other,
    };
    if text.len() > MAX_TEXT {
        return Text::Malformed;
    }
    let Some(id) = words.next().and_then(RequestId::parse) else {
        return Text::Malformed;
    };
    let mut command = Command {
        id,
        verdict: Verdict::Deny,
        confirm: None,
        shown: None,
    };
    let mut scope = None;
    for word in words {
        let is_amount = word.bytes().all(|byte| byte.is_ascii_digit());
        if !yes {
            return Text::Malformed;
        } else if is_amount && command.confirm.is_none() {
            command.confirm = Some(word.to_owned());
        } else if let (None, Some(wanted)) = (scope, Scope::parse(word)) {
            scope = Some(wanted);
        } else {
            return Text::Malformed;
        }
    }
    if yes {
        command.verdict = Verdict::Approve(scope.unwrap_or(Scope::Once));
    }
    Text::Command(command)
}

/// What a button for this request holds: at most 64 bytes.
#[must_use]
pub fn button(verdict: Verdict, id: &RequestId, shown_sha256: &str) -> String {
    let word = match verdict {
        Verdict::Approve(scope) => scope.to_word(),
        Verdict::Deny => "deny".to_owned(),
    };
    let hash: String = shown_sha256.chars().take(SHORT_HASH).collect();
    format!("{word}:{id}:{hash}")
}

/// Reads what a button held.
#[must_use]
pub fn read_button(data: &str) -> Option<Command> {
    let mut parts = data.split(':');
    let (word, id, hash) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || data.len() > 64 || hash.len() != SHORT_HASH {
        return None;
    }
    let verdict = match word {
        "deny" => Verdict::Deny,
        word => Verdict::Approve(Scope::parse(word)?),
    };
    Some(Command {
        id: RequestId::parse(id)?,
        verdict,
        confirm: None,
        shown: Some(hash.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_in_any_case_and_nothing_else_is_one() {
        let id = RequestId::parse("k7f39xq2").unwrap();
        let command = |verdict, confirm: Option<&str>| {
            Text::Command(Command {
                id: id.clone(),
                verdict,
                confirm: confirm.map(str::to_owned),
                shown: None,
            })
        };
        let once = Verdict::Approve(Scope::Once);
        assert_eq!(read_text("approve k7f39xq2"), command(once, None));
        assert_eq!(read_text("  APPROVE  K7F39XQ2\n"), command(once, None));
        assert_eq!(read_text("Deny k7f39xq2"), command(Verdict::Deny, None));
        assert_eq!(
            read_text("approve k7f39xq2 2000"),
            command(once, Some("2000"))
        );
        assert_eq!(
            read_text("approve k7f39xq2 24h"),
            command(Verdict::Approve(Scope::Hours(24)), None)
        );
        for bad in [
            "approve",
            "approve k7f39xq",
            "approve k7f39xq2 now please",
            "deny k7f39xq2 always",
            "approve k7f39xq2 1 2",
            "approve k7f39xq2 once always",
            "lockdown",
            "lockdown maybe",
            "lockdown on please",
        ] {
            assert_eq!(read_text(bad), Text::Malformed, "{bad}");
        }
        assert_eq!(read_text("Lockdown ON"), Text::Lockdown(true));
        assert_eq!(read_text("lockdown off"), Text::Lockdown(false));
        for other in [
            "",
            "hello",
            "/lockdown on",
            "approved k7f39xq2",
            "/approve k7f39xq2",
            "аpprove k7f39xq2",
            "> approve k7f39xq2",
        ] {
            assert_eq!(read_text(other), Text::Other, "{other}");
        }
    }

    #[test]
    fn buttons_are_read_back() {
        let id = RequestId::parse("k7f39xq2").unwrap();
        for verdict in [
            Verdict::Deny,
            Verdict::Approve(Scope::Once),
            Verdict::Approve(Scope::Hours(720)),
        ] {
            let data = button(verdict, &id, &"ab".repeat(32));
            assert!(data.len() <= 64);
            let read = read_button(&data).unwrap();
            assert_eq!(
                (read.verdict, read.shown.as_deref()),
                (verdict, Some("abababababababab"))
            );
        }
        for bad in [
            "",
            "deny:k7f39xq2",
            "deny:k7f39xq2:ab",
            "yes:k7f39xq2:abababababababab",
            "deny:k7f39xq2:abababababababab:x",
        ] {
            assert_eq!(read_button(bad), None, "{bad}");
        }
    }
}
