//! A proxy with everything around it.

use base64::Engine as _;
use blastshield_audit::{Event, SystemClock};
use blastshield_detect::{Detector, Profile};
use blastshield_egress::{
    Agents, Ca, Dialer, Egress, Limits, Lockdown, Metrics, Parts, Policy, TlsRules,
};
use blastshield_leak::Scanner;
use blastshield_owner::{Approvals, Options, Recorder, Reply, Request, Scope, Unrecorded, Verdict};
use blastshield_policy::{AddressGuard, DomainList, Host, Ports};
use blastshield_store::{Store, StoreOptions};
use blastshield_web::{Connector, Resolver};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Events as text.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Recorder for Log {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        self.0.lock().unwrap().push(format!("{event:?}"));
        Ok(())
    }
}

impl Log {
    pub(crate) fn has(&self, words: &[&str]) -> bool {
        let lines = self.0.lock().unwrap();
        lines
            .iter()
            .any(|line| words.iter().all(|word| line.contains(word)))
    }

    pub(crate) fn all(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

/// How the proxy is to be.
pub(crate) struct Plan {
    pub(crate) policy: Policy,
    pub(crate) agents: Agents,
    pub(crate) limits: Limits,
    pub(crate) tls: TlsRules,
    pub(crate) resolver: Resolver,
    pub(crate) except: &'static str,
    pub(crate) identity: Option<String>,
    pub(crate) intercept: DomainList,
    pub(crate) roots: Vec<u8>,
    pub(crate) credential_hosts: DomainList,
    pub(crate) secret: Option<String>,
}

pub(crate) fn list(text: &str) -> DomainList {
    DomainList::parse(text).unwrap()
}

/// Names that all lead to this machine.
pub(crate) const NAMES: [&str; 8] = [
    "allowed.test",
    "www.allowed.test",
    "open.test",
    "other.test",
    "more.test",
    "bad.test",
    "inner.test",
    "own.test",
];

pub(crate) fn table() -> Resolver {
    let here: Vec<IpAddr> = vec![[127, 0, 0, 1].into()];
    Resolver::fixed(NAMES.map(|name| (Host::parse(name).unwrap(), here.clone())))
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            policy: Policy {
                allow: list("allowed.test open.test localhost"),
                block: vec![list("bad.test")],
                ..Policy::default()
            },
            agents: Agents::default(),
            limits: Limits {
                head: Duration::from_secs(5),
                idle: Duration::from_secs(20),
                ask: Duration::from_secs(20),
                ..Limits::default()
            },
            tls: TlsRules {
                allow_plain: true,
                ..TlsRules::default()
            },
            resolver: table(),
            except: "127.0.0.0/8",
            identity: None,
            intercept: DomainList::default(),
            roots: Vec::new(),
            credential_hosts: DomainList::default(),
            secret: None,
        }
    }
}

pub(crate) struct World {
    pub(crate) folder: Arc<TempDir>,
    pub(crate) address: SocketAddr,
    pub(crate) approvals: Approvals,
    pub(crate) store: Store,
    pub(crate) log: Arc<Log>,
    pub(crate) lockdown: Lockdown,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) ca: Option<Arc<Ca>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn detector() -> Arc<Detector> {
    static SHARED: OnceLock<Arc<Detector>> = OnceLock::new();
    Arc::clone(SHARED.get_or_init(|| Arc::new(Detector::shipped().unwrap())))
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), plan).await
    }

    /// In a folder that may hold what an earlier proxy left.
    pub(crate) async fn at(folder: Arc<TempDir>, plan: Plan) -> Self {
        let log = Arc::new(Log::default());
        let recorder: Arc<dyn Recorder> = Arc::clone(&log) as _;
        let store = Store::open(StoreOptions::sqlite(folder.path().join("store.db")))
            .await
            .unwrap();
        let clock = Arc::new(SystemClock);
        let options = Options {
            look_every: Duration::from_millis(20),
            ..Options::default()
        };
        let redact = Arc::new(Scanner::shipped());
        let approvals = Approvals::open(
            store.clone(),
            Arc::clone(&recorder),
            redact,
            clock.clone(),
            options,
        )
        .await
        .unwrap();
        let lockdown = Lockdown::open(store.clone(), Some(Arc::clone(&recorder)), clock)
            .await
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ca = (!plan.intercept.is_empty()).then(|| Arc::new(Ca::open(folder.path()).unwrap()));
        let mut builder = Scanner::builder().key([7; 32]);
        if let Some(secret) = &plan.secret {
            builder = builder.register("KEPT", secret);
        }
        let scanner = builder.build().unwrap();
        let metrics = Arc::new(Metrics::default());
        let parts = Parts {
            policy: plan.policy,
            agents: plan.agents,
            limits: plan.limits,
            tls: plan.tls,
            dialer: Dialer {
                resolver: plan.resolver,
                connector: Connector::new(b"", None).unwrap(),
                guard: AddressGuard {
                    ranges: plan
                        .except
                        .split_whitespace()
                        .map(|range| range.parse().unwrap())
                        .collect(),
                    hosts: list("localhost"),
                    own: vec![address],
                },
                ports: Ports::Any,
            },
            approvals: Some(approvals.clone()),
            recorder,
            scanners: Arc::new(move || scanner.clone()),
            detector: detector(),
            profile: Profile::Strict,
            lockdown: lockdown.clone(),
            metrics: Arc::clone(&metrics),
            intercept: plan.intercept,
            ca: ca.clone(),
            extra_roots_pem: plan.roots,
            credential_hosts: plan.credential_hosts,
        };
        let egress = Egress::new(parts).unwrap();
        let identity = plan.identity;
        let serving = tokio::spawn(async move {
            egress
                .serve(listener, identity, std::future::pending())
                .await;
        });
        Self {
            folder,
            address,
            approvals,
            store,
            log,
            lockdown,
            metrics,
            ca,
            serving,
        }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends these bytes and reads everything that comes back.
    pub(crate) async fn say(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        Answer::read(&mut stream).await
    }

    pub(crate) async fn get(&self, url: &str) -> Answer {
        let host = url.split('/').nth(2).unwrap();
        self.say(format!(
            "GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
        .await
    }

    /// With a name and a token, `name:token`; without any when they are empty.
    pub(crate) async fn get_as(&self, credentials: &str, url: &str) -> Answer {
        let coded = base64::engine::general_purpose::STANDARD.encode(credentials);
        let header = if credentials.is_empty() {
            String::new()
        } else {
            format!("Proxy-Authorization: Basic {coded}\r\n")
        };
        self.say(format!(
            "GET {url} HTTP/1.1\r\n{header}Connection: close\r\n\r\n"
        ))
        .await
    }

    /// A tunnel, if it is opened; otherwise what was said instead.
    pub(crate) async fn tunnel(&self, target: &str) -> Result<TcpStream, Answer> {
        let mut stream = self.connect().await;
        stream
            .write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        if head.starts_with(b"HTTP/1.1 200 ") {
            return Ok(stream);
        }
        Err(Answer::rest(head, &mut stream).await)
    }

    /// The one request that waits for the owner, once there is one.
    pub(crate) async fn question(&self) -> Request {
        for _ in 0..1000 {
            let pending = self.approvals.pending().await.unwrap();
            assert!(pending.len() <= 1, "one question at a time");
            if let Some(request) = pending.into_iter().next() {
                return request;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nobody was asked");
    }

    pub(crate) async fn answer(&self, id: &str, verdict: Verdict) {
        let reply = Reply {
            verdict,
            shown: None,
            confirm: None,
        };
        self.approvals.decide(id, &reply, "test").await.unwrap();
    }
}

pub(crate) const YES: Verdict = Verdict::Approve(Scope::Once);

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) async fn read(stream: &mut TcpStream) -> Self {
        Self::rest(Vec::new(), stream).await
    }

    async fn rest(mut all: Vec<u8>, stream: &mut TcpStream) -> Self {
        let reading = stream.read_to_end(&mut all);
        let _ = tokio::time::timeout(Duration::from_secs(30), reading)
            .await
            .expect("an answer in time");
        let at = all
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {all:?}"));
        let head = String::from_utf8_lossy(&all[..at + 2]).into_owned();
        Self {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            body: all[at + 4..].to_vec(),
            head,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> serde_json::Value {
        let body: serde_json::Value =
            serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        body["error"].clone()
    }

    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.error()["code"].as_str().unwrap().to_owned()
    }
}

/// Waits until something holds; fails after a time that no healthy run needs.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never happened: {what}");
}
