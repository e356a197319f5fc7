//! Who is asking: an agent, the owner, or nobody we know.

use crate::error::ApiError;
use axum::http::{HeaderMap, HeaderValue, header};
use blastshield_config::{Secret, Settings};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use subtle::ConstantTimeEq;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Search and fetch.
    Agent,
    /// Everything.
    Owner,
}

/// The tokens that open the gateway.
pub(crate) struct Tokens {
    agent: Option<Secret>,
    owner: Secret,
}

/// The tokens cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A public address without tokens.
    #[error(
        "server.host is not a loopback address: set server.agent_token and server.owner_token first"
    )]
    PublicWithoutTokens,
    /// One token for both roles.
    #[error("server.agent_token and server.owner_token must differ")]
    Same,
    /// The token file cannot be used.
    #[error("the owner's token cannot be kept in the data folder: {0}")]
    File(io::ErrorKind),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] crate::ids::NoRandomness),
}

/// The owner's token, in the data folder.
const OWNER_FILE: &str = "owner-token";

impl Tokens {
    /// The tokens of these settings; the owner's is made on first start.
    pub(crate) fn set_up(settings: &Settings) -> Result<Self, TokenError> {
        let server = &settings.server;
        let agent = server.agent_token.clone();
        if !server.address.ip().is_loopback() && (agent.is_none() || server.owner_token.is_none()) {
            return Err(TokenError::PublicWithoutTokens);
        }
        let owner = match &server.owner_token {
            Some(token) => token.clone(),
            None => owner_file(&settings.data_dir)?,
        };
        if agent.as_ref() == Some(&owner) {
            return Err(TokenError::Same);
        }
        Ok(Self { agent, owner })
    }

    /// The owner's token.
    pub(crate) fn owner(&self) -> &Secret {
        &self.owner
    }

    /// The header that makes a request the owner's own.
    pub(crate) fn owner_header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.owner.reveal())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The role of a request.
    pub(crate) fn role(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Role, ApiError> {
        match bearer(headers)? {
            Some(token) if same(token, &self.owner) => Ok(Role::Owner),
            Some(token) if self.agent.as_ref().is_some_and(|agent| same(token, agent)) => {
                Ok(Role::Agent)
            }
            Some(_) => Err(ApiError::Unauthorized),
            None if self.agent.is_none() && peer.is_loopback() => {
                local_only(headers)?;
                Ok(Role::Agent)
            }
            None => Err(ApiError::Unauthorized),
        }
    }
}

/// Without a token, a web page in the user's browser must not be able to ask in the user's name.
fn local_only(headers: &HeaderMap) -> Result<(), ApiError> {
    const REFUSAL: ApiError =
        ApiError::Forbidden("requests from a browser, or to another host name, need the token");
    if headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site") {
        return Err(REFUSAL);
    }
    let host = headers
        .get(header::HOST)
        .map(|value| value.to_str().unwrap_or("?"));
    let local = host.is_none_or(|host| {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    });
    if local { Ok(()) } else { Err(REFUSAL) }
}

/// The token of the one `Authorization` header, if there is one.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| ApiError::Unauthorized)?;
    let (scheme, token) = text.split_once(' ').ok_or(ApiError::Unauthorized)?;
    if values.next().is_some() || !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ApiError::Unauthorized);
    }
    Ok(Some(token.trim()))
}

/// Compares in a time that does not depend on where the texts differ.
fn same(given: &str, secret: &Secret) -> bool {
    given.as_bytes().ct_eq(secret.reveal().as_bytes()).into()
}

fn owner_file(folder: &Path) -> Result<Secret, TokenError> {
    let file = |error: io::Error| TokenError::File(error.kind());
    let path = folder.join(OWNER_FILE);
    match fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= 16 => return Ok(Secret::new(text.trim().to_owned())),
        Ok(_) => return Err(TokenError::File(io::ErrorKind::InvalidData)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(file(error)),
    }
    crate::logs::private_folder(folder).map_err(file)?;
    let token = crate::ids::fresh("owner")?;
    let mut target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .map_err(file)?;
    target.write_all(token.as_bytes()).map_err(file)?;
    target.sync_all().map_err(file)?;
    Ok(Secret::new(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    fn tokens(agent: Option<&str>) -> Tokens {
        Tokens {
            agent: agent.map(|token| Secret::new(token.to_owned())),
            owner: Secret::new("the-owner's-token".to_owned()),
        }
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: header::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn without_an_agent_token_loopback_is_the_agent() {
        let tokens = tokens(None);
        assert_eq!(tokens.role(&headers(&[]), LOOPBACK), Ok(Role::Agent));
        assert_eq!(
            tokens.role(&headers(&[]), ELSEWHERE),
            Err(ApiError::Unauthorized)
        );
        for host in ["localhost:3000", "127.0.0.1", "[::1]:3000"] {
            assert_eq!(
                tokens.role(&headers(&[("host", host)]), LOOPBACK),
                Ok(Role::Agent),
                "{host}"
            );
        }
    }

    #[test]
    fn a_page_in_a_browser_is_not_the_agent() {
        for pair in [
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
            ("host", "rebound.evil.example:3000"),
            ("host", "localhost.evil.example"),
        ] {
            let role = tokens(None).role(&headers(&[pair]), LOOPBACK);
            assert!(matches!(role, Err(ApiError::Forbidden(_))), "{pair:?}");
        }
    }

    #[test]
    fn tokens_open_their_roles_and_nothing_else_does() {
        let tokens = tokens(Some("the-agent's-token"));
        let role = |value: &str| tokens.role(&headers(&[("authorization", value)]), ELSEWHERE);
        assert_eq!(role("Bearer the-agent's-token"), Ok(Role::Agent));
        assert_eq!(role("bearer the-owner's-token"), Ok(Role::Owner));
        for wrong in [
            "Bearer x",
            "Bearer ",
            "Basic the-owner's-token",
            "the-owner's-token",
        ] {
            assert_eq!(role(wrong), Err(ApiError::Unauthorized), "{wrong}");
        }
        assert_eq!(
            tokens.role(&headers(&[]), LOOPBACK),
            Err(ApiError::Unauthorized)
        );
        let twice = headers(&[
            ("authorization", "Bearer a"),
            ("authorization", "Bearer the-owner's-token"),
        ]);
        assert_eq!(tokens.role(&twice, LOOPBACK), Err(ApiError::Unauthorized));
    }

    #[test]
    fn the_owner_token_is_made_once_and_kept_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let first = owner_file(&data).unwrap();
        assert_eq!(owner_file(&data).unwrap(), first);
        let mode = fs::metadata(data.join(OWNER_FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(data.join(OWNER_FILE), "short").unwrap();
        assert!(owner_file(&data).is_err());
    }
}
