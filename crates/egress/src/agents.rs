//! Who is asking: a name and a token in the proxy address, or nobody in particular.

use crate::http::Headers;
use base64::Engine as _;
use subtle::ConstantTimeEq as _;

/// What agents without credentials are called.
pub const ANYBODY: &str = "agent";
const MAX_CREDENTIALS: usize = 1024;

/// An agent that is known by its token.
#[derive(Clone)]
pub struct Agent {
    /// Its name, which is also its user name.
    pub name: Box<str>,
    /// Its token, which is also its password.
    pub token: Box<str>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Agent({})", self.name)
    }
}

/// Those who may ask.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// Known by their tokens.
    pub known: Vec<Agent>,
    /// Whether others are turned away.
    pub required: bool,
}

impl Agents {
    /// Who sent these headers; nothing when they must be turned away. Wrong credentials are worse than none.
    #[must_use]
    pub fn identify(&self, headers: &Headers) -> Option<Box<str>> {
        if !headers.has("proxy-authorization") {
            return (!self.required).then(|| ANYBODY.into());
        }
        let (name, token) = credentials(headers.one("proxy-authorization")?)?;
        let mut found = None;
        // Every agent is compared, so that the time taken says nothing about who is known.
        for agent in &self.known {
            let same = agent.name.as_bytes().ct_eq(name.as_bytes())
                & agent.token.as_bytes().ct_eq(token.as_bytes());
            if bool::from(same) {
                found = Some(agent.name.clone());
            }
        }
        found
    }
}

/// The name and token of `Basic …`.
fn credentials(value: &str) -> Option<(String, String)> {
    let (scheme, coded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") || coded.len() > MAX_CREDENTIALS {
        return None;
    }
    let plain = base64::engine::general_purpose::STANDARD
        .decode(coded.trim())
        .ok()?;
    let plain = String::from_utf8(plain).ok()?;
    let (name, token) = plain.split_once(':')?;
    Some((name.to_owned(), token.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::RequestHead;

    fn who(agents: &Agents, header: &str) -> Option<Box<str>> {
        let head = format!("GET / HTTP/1.1\r\n{header}\r\n");
        agents.identify(&RequestHead::parse(head.as_bytes()).unwrap().headers)
    }

    #[test]
    fn wrong_credentials_are_worse_than_none() {
        let known = vec![
            Agent {
                name: "a".into(),
                token: "one".into(),
            },
            Agent {
                name: "b".into(),
                token: "two".into(),
            },
        ];
        let mut agents = Agents {
            known,
            required: false,
        };
        let basic = |plain: &str| {
            let coded = base64::engine::general_purpose::STANDARD.encode(plain);
            format!("Proxy-Authorization: Basic {coded}\r\n")
        };
        assert_eq!(who(&agents, "").as_deref(), Some(ANYBODY));
        assert_eq!(who(&agents, &basic("b:two")).as_deref(), Some("b"));
        for wrong in [
            basic("a:two"),
            basic("c:one"),
            basic("a"),
            "Proxy-Authorization: Bearer one\r\n".to_owned(),
            basic("a:one") + &basic("a:one"),
        ] {
            assert_eq!(who(&agents, &wrong), None, "{wrong}");
        }
        agents.required = true;
        assert_eq!(who(&agents, ""), None);
        assert!(!format!("{agents:?}").contains("one"));
    }
}
