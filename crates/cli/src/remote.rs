//! Asks the running gateway as its owner.
//!
//! The owner's token goes to whoever listens at the gateway's address. On this machine that must be a process of the user
//! to whom the token file belongs, or of root: an agent that took the port of a gateway that ended learns nothing.

use anyhow::{Context, bail};
use blastshield_config::Settings;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(90);
const MAX_ANSWER: u64 = 16 << 20;
const TOKEN_FILE: &str = "owner-token";

/// A running gateway, and the token that opens it.
pub(crate) struct Remote {
    address: SocketAddr,
    token: String,
}

/// What the gateway answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) const fn is_ok(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// What an error says.
    pub(crate) fn message(&self) -> String {
        let said = self.body.pointer("/error/message").and_then(Value::as_str);
        said.map_or_else(
            || format!("the gateway answered with status {}", self.status),
            str::to_owned,
        )
    }
}

impl Remote {
    /// The gateway of these settings.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Self> {
        let address = reachable(settings.server.address);
        if address.port() == 0 {
            bail!("server.port is 0: say where the gateway listens with --set server.port=PORT");
        }
        let token = match &settings.server.owner_token {
            Some(token) => token.reveal().to_owned(),
            None => token_of(&settings.data_dir, address)?,
        };
        Ok(Self { address, token })
    }

    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.ask("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> anyhow::Result<Answer> {
        self.ask("POST", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> anyhow::Result<Answer> {
        self.ask("DELETE", path, None)
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Answer> {
        let address = self.address;
        let mut stream = TcpStream::connect_timeout(&address, CONNECT).with_context(|| {
            format!("no gateway answers on {address}: start one with `blastshield serve`")
        })?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(CONNECT))?;
        let body = body.map(ToString::to_string).unwrap_or_default();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        )
        .context("the gateway did not take the request")?;
        let mut bytes = Vec::new();
        stream
            .take(MAX_ANSWER)
            .read_to_end(&mut bytes)
            .context("the gateway did not finish its answer")?;
        read(&bytes).context("what answers there is no gateway")
    }
}

/// An answer of ours has a length and no other encoding.
fn read(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let body = bytes.get(end + 4..)?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    })?;
    let body = serde_json::from_slice(body.get(..length)?).unwrap_or(Value::Null);
    Some(Answer { status, body })
}

fn token_of(folder: &Path, address: SocketAddr) -> anyhow::Result<String> {
    let path = folder.join(TOKEN_FILE);
    let text = fs::read_to_string(&path).with_context(|| {
        format!(
            "cannot read the owner's token {}: start the gateway first, or ask as the user who runs it",
            path.display()
        )
    })?;
    let owner = fs::metadata(&path)?.uid();
    if address.ip().is_loopback() && is_strange(owner, address.port()) {
        bail!(
            "another user's program listens on {address}: the owner's token is not sent to it. Is the gateway running?"
        );
    }
    Ok(text.trim().to_owned())
}

/// Whether somebody else than this user or root listens on a port of this machine.
fn is_strange(owner: u32, port: u16) -> bool {
    let listeners = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .flat_map(|table| listeners(&table, port))
        .collect::<Vec<u32>>();
    listeners.iter().any(|uid| *uid != owner && *uid != 0)
}

/// The users who listen on a port, by the kernel's table.
fn listeners(table: &str, port: u16) -> Vec<u32> {
    let of = |line: &str| {
        let mut fields = line.split_whitespace();
        let (_, at) = fields.nth(1)?.rsplit_once(':')?;
        let listens = fields.nth(1)? == "0A";
        let uid = fields.nth(3)?.parse().ok()?;
        (listens && u16::from_str_radix(at, 16) == Ok(port)).then_some(uid)
    };
    table.lines().filter_map(of).collect()
}

/// A gateway on all addresses is asked on loopback.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 123 1\n   1: 0100007F:0BB8 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1001        0 124 1\n";

    #[test]
    fn only_who_listens_counts() {
        assert_eq!(listeners(TABLE, 3000), [1000]);
        assert!(listeners(TABLE, 3001).is_empty());
        assert!(listeners("nonsense\n0: x", 3000).is_empty());
    }

    #[test]
    fn a_listener_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let me = rustix::process::getuid().as_raw();
        assert!(!is_strange(me, port));
        assert_eq!(is_strange(me.wrapping_add(1), port), me != 0);
    }

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let good = read(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        assert_eq!((good.status, good.is_ok()), (404, false));
        for bad in [
            "",
            "HTTP/1.1 200 OK\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
            "SSH-2.0\r\n\r\n",
        ] {
            assert!(read(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
