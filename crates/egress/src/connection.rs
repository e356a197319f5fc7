//! One client: who it is, where it wants to go, and whether it may.

use crate::decide::{Rule, Verdict};
use crate::desk::Answer;
use crate::exchange::{After, Route};
use crate::http::{Authority, RequestHead, Scheme, Target};
use crate::journal::{Begun, Entry};
use crate::origin::Origin;
use crate::refusal::Refusal;
use crate::server::{Inner, Tunnel};
use crate::wire::Wire;
use blastshield_audit::{Event, Fingerprint};
use blastshield_policy::Host;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

impl Inner {
    /// Serves a client's requests one after the other. A tunnel is handed back.
    pub(crate) async fn connection(
        &self,
        stream: TcpStream,
        identity: Option<&str>,
    ) -> Option<Tunnel> {
        let metrics = Arc::clone(&self.journal.metrics);
        let _open = metrics.connection();
        let mut client = Wire::new(stream);
        let mut patience = self.limits.head;
        let mut kept = None;
        loop {
            client.begin();
            let head = match client.head(patience, self.limits.head).await {
                Ok(Some(bytes)) => RequestHead::parse(&bytes).map_err(Refusal::Head),
                Ok(None) => return None,
                Err(refusal) => Err(refusal),
            };
            let head = match head {
                Ok(head) => head,
                Err(refusal) => {
                    let entry = Entry::new(identity.unwrap_or("-").into(), "-");
                    return self.turn_away(&mut client, &entry, &refusal).await;
                }
            };
            let agent = match identity {
                Some(name) => Some(name.into()),
                None => self.agents.identify(&head.headers),
            };
            let entry = Entry::new(agent.clone().unwrap_or_else(|| "-".into()), &head.method);
            let mut entry = self.journal.begin(entry);
            if agent.is_none() {
                return self
                    .turn_away(&mut client, &entry, &Refusal::Credentials)
                    .await;
            }
            let outcome = match Target::of(&head.method, &head.target) {
                Some(Target::Connect(authority)) => {
                    return self.tunnel(client, &head, &authority, entry).await;
                }
                Some(Target::Absolute {
                    scheme,
                    authority,
                    userinfo,
                    path,
                }) => match route(&head, scheme, &authority, userinfo, path) {
                    Ok(route) => {
                        self.plain(&mut client, &mut kept, &head, &route, &mut entry)
                            .await
                    }
                    Err(refusal) => Err(refusal),
                },
                _ => Err(Refusal::Target(
                    "this is a proxy: ask for http://host/path, or CONNECT host:port",
                )),
            };
            match outcome {
                Ok(after) => {
                    self.journal.carried(&entry);
                    if after == After::Close {
                        client.end().await;
                        return None;
                    }
                }
                Err(refusal) => return self.turn_away(&mut client, &entry, &refusal).await,
            }
            patience = self.limits.keep_alive;
        }
    }

    async fn plain(
        &self,
        client: &mut Wire<TcpStream>,
        kept: &mut Option<Origin>,
        head: &RequestHead,
        route: &Route,
        entry: &mut Entry,
    ) -> Result<After, Refusal> {
        self.admit(&route.host, route.port, entry, client.stream())
            .await?;
        self.carry(client, kept, head, route, entry).await
    }

    /// Whether this agent may reach this host now; the owner is asked if need be.
    ///
    /// # Errors
    /// Why not.
    async fn admit(
        &self,
        host: &Host,
        port: u16,
        entry: &mut Entry,
        client: &TcpStream,
    ) -> Result<(), Refusal> {
        entry.host = Some(host.clone());
        entry.port = port;
        let locked = self.lockdown.is_on();
        let verdict = self.policy.decide(&entry.agent, host, locked);
        match verdict {
            Verdict::Deny(Rule::Lockdown) => return Err(Refusal::Lockdown),
            Verdict::Deny(Rule::Unlisted) => return Err(Refusal::Unlisted),
            Verdict::Deny(rule) => return Err(Refusal::Blocked(rule)),
            Verdict::Allow(_) | Verdict::Ask => {}
        }
        self.dialer.check(host, port)?;
        let leaks = self.journal.leaks_in(host);
        if !leaks.is_empty() {
            let mut rules: Vec<&'static str> = leaks.iter().map(|found| found.rule).collect();
            rules.sort_unstable();
            rules.dedup();
            return Err(Refusal::Leak {
                place: "host",
                rules,
                content: Fingerprint::of(host.to_string()),
            });
        }
        if let Verdict::Allow(rule) = verdict {
            entry.rule = rule;
            return Ok(());
        }
        let answer = tokio::select! {
            answer = self.desk.ask(&entry.agent, host) => answer,
            () = gone(client) => return Err(Refusal::Gone),
        };
        match answer {
            Answer::Granted => entry.rule = Rule::Grant,
            Answer::Yes(id) => {
                entry.rule = Rule::Owner;
                entry.approval = Some(id);
            }
            Answer::No(refusal) => return Err(refusal),
        }
        Ok(())
    }

    async fn tunnel(
        &self,
        mut client: Wire<TcpStream>,
        head: &RequestHead,
        authority: &Authority,
        mut entry: Begun<'_>,
    ) -> Option<Tunnel> {
        let framing = crate::http::of_request(head);
        let port = authority.port.unwrap_or(443);
        let opens = self.intercept.covers(&authority.host);
        let begun = async {
            if framing? != crate::http::Framing::Empty {
                return Err(Refusal::Target("a CONNECT request has no body"));
            }
            self.admit(&authority.host, port, &mut entry, client.stream())
                .await?;
            if opens {
                return Ok(None);
            }
            self.dialer
                .dial(&authority.host, port, &self.limits)
                .await
                .map(Some)
        };
        let dialled = match begun.await {
            Ok(dialled) => dialled,
            Err(refusal) => return self.turn_away(&mut client, &entry, &refusal).await,
        };
        let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
        if client.send(established, self.limits.head).await.is_err() {
            self.journal.refused(&entry, &Refusal::Gone);
            return None;
        }
        let named = match self.greeting(&mut client, &authority.host).await {
            Ok(named) => named,
            Err(refusal) => {
                // Inside a tunnel no answer of ours would be understood.
                self.journal.refused(&entry, &refusal);
                return None;
            }
        };
        let Some(dialled) = dialled else {
            self.open_tls(client, named, &authority.host, port, &mut entry)
                .await;
            if !entry.is_told() {
                self.journal.carried(&entry);
            }
            return None;
        };
        entry.address = Some(dialled.address);
        entry.by_exception = dialled.by_exception;
        let (client, read) = client.into_parts();
        let mut server = Wire::new(dialled.stream);
        if let Err(refusal) = server.send(&read, self.limits.head).await {
            self.journal.refused(&entry, &refusal);
            return None;
        }
        entry.up = read.len() as u64;
        let (server, _) = server.into_parts();
        Some(Tunnel {
            client,
            server,
            entry: entry.handed_on(),
        })
    }

    /// Says no, in the log and to the client, and ends the connection.
    async fn turn_away(
        &self,
        client: &mut Wire<TcpStream>,
        entry: &Entry,
        refusal: &Refusal,
    ) -> Option<Tunnel> {
        self.note_refusal(entry, refusal);
        if !client.sent {
            let _ = client.send(&refusal.answer(), self.limits.head).await;
        }
        client.end().await;
        // Bytes that nobody read would turn our answer into a reset.
        let _ = timeout(Duration::from_secs(1), async {
            for _ in 0..64 {
                let unread = client.arrived().len();
                client.take(unread);
                if !matches!(client.more(64 << 10).await, Ok(1..)) {
                    break;
                }
            }
        })
        .await;
        None
    }

    pub(crate) fn note_refusal(&self, entry: &Entry, refusal: &Refusal) {
        self.journal.refused(entry, refusal);
        let host = entry.host.as_ref().map(|host| self.journal.shown(host));
        let host = host.as_deref().unwrap_or("-");
        match refusal {
            Refusal::Leak { rules, content, .. } => self.journal.blocked(&Event::OutboundBlocked {
                service: host,
                session: None,
                patterns: rules,
                content: *content,
            }),
            Refusal::Injection {
                score,
                flags,
                content,
            } => {
                let rules: Vec<&str> = flags.iter().map(String::as_str).collect();
                self.journal.blocked(&Event::Injection {
                    origin: blastshield_audit::Origin::Web,
                    source: host,
                    session: None,
                    score: *score as f64 / 10.0,
                    risk: blastshield_audit::Risk::High,
                    rules: &rules,
                    content: *content,
                    decision: blastshield_audit::Decision::Block,
                });
            }
            _ => {}
        }
    }
}

/// Where an absolute target leads.
fn route(
    head: &RequestHead,
    scheme: Scheme,
    authority: &Authority,
    userinfo: bool,
    path: String,
) -> Result<Route, Refusal> {
    if scheme != Scheme::Http {
        return Err(Refusal::Target(
            "only http addresses are fetched here; for https, CONNECT to the host",
        ));
    }
    if userinfo || path.contains('\\') {
        return Err(Refusal::Target(
            "user names and backslashes in addresses are refused",
        ));
    }
    check_host(head, authority, 80)?;
    Ok(Route {
        host: authority.host.clone(),
        port: authority.port.unwrap_or(80),
        secure: false,
        named: authority.shown(80),
        path,
    })
}

/// A `Host` header that names another host than the target is a way round the decision.
pub(crate) fn check_host(
    head: &RequestHead,
    authority: &Authority,
    implied: u16,
) -> Result<(), Refusal> {
    if !head.headers.has("host") {
        return Ok(());
    }
    let named = head.headers.one("host").and_then(Authority::parse);
    let same = named.is_some_and(|named| {
        named.host == authority.host
            && named.port.unwrap_or(implied) == authority.port.unwrap_or(implied)
    });
    if same {
        Ok(())
    } else {
        Err(Refusal::Target(
            "the Host header names another host than the address",
        ))
    }
}

/// Returns once the client has hung up. One that sends on while it waits is not watched any further.
async fn gone(client: &TcpStream) {
    let mut byte = [0];
    match client.peek(&mut byte).await {
        Ok(0) | Err(_) => {}
        Ok(_) => std::future::pending().await,
    }
}
