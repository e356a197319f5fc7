//! A PostgreSQL of our own, and records to keep in it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use blastshield_store::*;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A PostgreSQL server that listens on a socket in its own temporary folder and ends with the test.
pub(crate) struct Cluster {
    folder: TempDir,
    bin: PathBuf,
    server: Option<Child>,
    databases: AtomicU32,
    fsync: &'static str,
    port: Option<u16>,
}

impl Cluster {
    /// Fails when PostgreSQL is not installed; `BLASTSHIELD_TEST_POSTGRES=off` leaves its tests out.
    /// The server need not sync: here only processes die, never the machine.
    pub(crate) fn start() -> Option<Self> {
        Self::with("fsync=off")
    }

    /// Syncs as in production, for measuring.
    pub(crate) fn synced() -> Option<Self> {
        Self::with("fsync=on")
    }

    fn with(fsync: &'static str) -> Option<Self> {
        if std::env::var("BLASTSHIELD_TEST_POSTGRES").is_ok_and(|value| value == "off") {
            eprintln!("left out: BLASTSHIELD_TEST_POSTGRES=off");
            return None;
        }
        let bin = find_bin().expect(
            "PostgreSQL is not installed: apt-get install postgresql, or set BLASTSHIELD_TEST_POSTGRES=off",
        );
        // Short, since the path of a socket may hold about a hundred bytes.
        let folder = tempfile::Builder::new()
            .prefix("bs-pg-")
            .tempdir_in("/tmp")
            .unwrap();
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(folder.path())
                .status()
                .unwrap();
            assert!(owned.success());
        }
        let mut cluster = Self {
            folder,
            bin,
            server: None,
            databases: AtomicU32::new(0),
            fsync,
            port: None,
        };
        let data = cluster.folder.path().join("data");
        let init = cluster
            .command("initdb")
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "-D",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            init.status.success(),
            "{}",
            String::from_utf8_lossy(&init.stderr)
        );
        cluster.resume();
        Some(cluster)
    }

    /// Starts the server on its data and waits until it answers.
    pub(crate) fn resume(&mut self) {
        let folder = self.folder.path().to_owned();
        let log = fs::File::create(folder.join("log")).unwrap();
        let server = self
            .command("postgres")
            .arg("-D")
            .arg(folder.join("data"))
            .arg("-k")
            .arg(&folder)
            .args([
                "-c",
                if self.port.is_some() {
                    "listen_addresses=127.0.0.1"
                } else {
                    "listen_addresses="
                },
                "-c",
                "shared_buffers=16MB",
                "-c",
                "max_connections=60",
                "-c",
                self.fsync,
            ])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.server = Some(server);
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self
            .command("pg_isready")
            .arg("-q")
            .arg("-h")
            .arg(&folder)
            .status()
            .unwrap()
            .success()
        {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(
                Instant::now() < deadline,
                "PostgreSQL does not start: {log}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts anew on a loopback port with TLS; the address, and the certificate to trust, made out to `localhost`.
    pub(crate) fn secure(&mut self) -> (String, PathBuf) {
        self.signal("QUIT");
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (cert, key) = (
            self.folder.path().join("cert.pem"),
            self.folder.path().join("key.pem"),
        );
        fs::write(&cert, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        if is_root() {
            assert!(
                Command::new("chown")
                    .arg("postgres")
                    .args([&cert, &key])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        let conf = self.folder.path().join("data/postgresql.auto.conf");
        let lines = format!(
            "ssl=on\nssl_cert_file='{}'\nssl_key_file='{}'\n",
            cert.display(),
            key.display()
        );
        fs::write(conf, lines).unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        self.port = Some(port);
        self.resume();
        (
            format!("postgres://postgres@localhost:{port}/postgres"),
            cert,
        )
    }

    /// Ends the server as a crash would: no checkpoint, sessions cut off.
    pub(crate) fn crash(&mut self) {
        self.signal("QUIT");
    }

    /// Address of an empty database.
    pub(crate) fn database(&self) -> String {
        let name = format!("db{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let made = self
            .command("createdb")
            .args(["-U", "postgres", "-h"])
            .arg(self.folder.path())
            .arg(&name)
            .status()
            .unwrap();
        assert!(made.success());
        self.url(&name)
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let socket = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://postgres@{socket}/{database}")
    }

    fn signal(&mut self, name: &str) {
        if let Some(mut server) = self.server.take() {
            let _ = Command::new("kill")
                .arg(format!("-{name}"))
                .arg(server.id().to_string())
                .status();
            let _ = server.wait();
        }
    }

    /// PostgreSQL refuses to run as root. The server ends when the test's thread does, however that ends.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
        }
        command
            .args(["--pdeathsig", "INT"])
            .arg(self.bin.join(program));
        command
            .current_dir(self.folder.path())
            .env_remove("PGHOST")
            .env_remove("PGPORT");
        if let Some(port) = self.port {
            command.env("PGPORT", port.to_string());
        }
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.signal("QUIT");
    }
}

fn find_bin() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = versions
        .map(|version| version.path().join("bin"))
        .chain(std::env::split_paths(&path))
        .filter(|bin| {
            ["initdb", "postgres", "pg_isready", "createdb"]
                .iter()
                .all(|program| bin.join(program).exists())
        })
        .collect();
    found.sort();
    found.pop()
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// A connection past the store: (sqlite path or postgres address).
pub(crate) async fn execute(location: &str, sql: &'static str) {
    use sqlx::{ConnectOptions, Connection};
    if location.starts_with("postgres") {
        let mut conn = sqlx::postgres::PgConnection::connect(location)
            .await
            .unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    } else {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(location);
        let mut conn = options.connect().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }
}

/// The first column of an answer.
pub(crate) async fn column(location: &str, sql: &'static str) -> Vec<String> {
    use sqlx::{ConnectOptions, Connection};
    if location.starts_with("postgres") {
        let mut conn = sqlx::postgres::PgConnection::connect(location)
            .await
            .unwrap();
        sqlx::query_scalar(sql).fetch_all(&mut conn).await.unwrap()
    } else {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(location);
        let mut conn = options.connect().await.unwrap();
        sqlx::query_scalar(sql).fetch_all(&mut conn).await.unwrap()
    }
}

pub(crate) fn options(location: &str) -> StoreOptions {
    StoreOptions::parse(location).unwrap()
}

pub(crate) fn file_in(folder: &Path) -> String {
    folder.join("store.db").to_str().unwrap().to_owned()
}

pub(crate) fn result(id: &str, expires_at_ms: i64) -> CachedResult {
    CachedResult {
        result_id: id.into(),
        url: format!("https://example.org/{id}"),
        title: "A title – ünïcode 😀".into(),
        snippet: "A snippet".into(),
        source: "example.org".into(),
        rank: 1,
        published: Some("2024-05-01".into()),
        standing: "allowed".into(),
        risk_hint: Some("low".into()),
        expires_at_ms,
    }
}

pub(crate) fn search(id: &str, at_ms: i64, results: Vec<CachedResult>) -> SearchRecord {
    SearchRecord {
        request_id: id.into(),
        at_ms,
        query_sha256: "q".repeat(64),
        query_len: 11,
        provider: "brave".into(),
        results,
    }
}

pub(crate) fn fetch(id: &str, at_ms: i64) -> FetchEvent {
    FetchEvent {
        fetch_id: id.into(),
        at_ms,
        kind: FetchKind::WebFetch,
        result_id: None,
        host: "example.org".into(),
        url_sha256: "u".repeat(64),
        final_host: None,
        decision: FetchDecision::Allow,
        score: 1.25,
        flags: vec![],
        reason: None,
        bypassed: false,
        duration_ms: 12,
        bytes: 5000,
        content_sha256: Some("c".repeat(64)),
        content_len: 4000,
        backend: "http".into(),
        error_code: None,
    }
}

pub(crate) fn payload(id: &str, at_ms: i64, content: &[u8]) -> FlaggedPayload {
    FlaggedPayload {
        fetch_id: id.into(),
        at_ms,
        sha256: "p".repeat(64),
        len: content.len() as u64,
        content: content.to_vec(),
        score: 12.5,
        flags: vec!["instruction_override".into()],
        expires_at_ms: i64::MAX,
    }
}
