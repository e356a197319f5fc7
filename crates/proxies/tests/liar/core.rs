//! Core, and what it makes of each lie.

use crate::lies::MARK;
use blastshield_audit::alerts::Rules;
use blastshield_audit::{Audit, Log, SystemClock, log};
use blastshield_detect::Detector;
use blastshield_leak::Scanner;
use blastshield_owner::{Approvals, Options as OwnerOptions};
use blastshield_policy::HopPolicy;
use blastshield_proxies::{
    Config, Definition, Definitions, Dialler, Supervisor, TaskState, TaskView, Token,
};
use blastshield_recovery::{HoldView, Options, Recovery};
use blastshield_sandbox::{Launcher, Missing};
use blastshield_store::{Store, StoreOptions};
use blastshield_web::{Connector, Resolver};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("an_honest_worker_is_believed", honest),
    ("a_lie_gains_no_request", requests),
    ("a_lie_gains_no_word_in_the_result", results),
    ("a_lie_about_the_end_is_seen_through", ends),
    ("what_a_worker_leaves_behind_is_scanned", context),
    ("a_broken_protocol_is_the_end", protocol),
    ("a_worker_without_limits_meets_the_brokers", limits),
    ("nothing_is_sent_without_the_owner", approval),
    ("a_worker_that_talks_to_itself_disturbs_nobody", chatter),
];

fn token() -> String {
    ["board", "secret", "Zq81xLw0vTn5", "rPk27Jd"].join("-")
}

type Came = Arc<Mutex<Vec<String>>>;

fn service() -> (u16, Came) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let came = Came::default();
    let noted = Arc::clone(&came);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut bytes = [0; 8192];
            let count = stream.read(&mut bytes).unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            noted
                .lock()
                .unwrap()
                .push(text.lines().next().unwrap_or("").to_owned());
            let body = r#"{"posts": [{"id": "1", "text": "fine"}]}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (port, came)
}

fn definition(port: u16, per_minute: u32) -> Definition {
    let text = format!(
        r#"
name = "board"
purpose = "A board"
base_url = "http://127.0.0.1:{port}"
allowed_tools = ["fetch", "send"]
[credential]
variable = "BOARD_API_TOKEN"
[limits]
maxPerMinute = {per_minute}
maxPerHour = 1000
burnLimit = 1000
[timeouts]
task_ms = 2500
[operations.read]
method = "GET"
path = "/threads/{{id}}"
response = '{{"type": "object", "required": ["posts"], "properties": {{"posts": {{"type": "array", "items": {{"type": "object", "properties": {{"id": {{"type": "string"}}, "text": {{"type": "string"}}}}}}}}}}}}'
[operations.read.params]
id = {{ in = "path", type = "id" }}
[operations.say]
method = "POST"
path = "/say"
approval = "always"
request = '{{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}'
response = '{{"type": "object", "properties": {{"id": {{"type": "string"}}}}}}'
"#
    );
    Definition::parse(&text, true).unwrap()
}

/// What came of a lie.
struct Told {
    task: TaskView,
    holds: Vec<HoldView>,
    came: Vec<String>,
    /// What the worker heard, if it kept it.
    heard: Vec<u8>,
    audit: String,
}

fn told(operation: &str, params: &Value, per_minute: u32, times: usize) -> Told {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(tell(operation, params, per_minute, times))
}

async fn tell(operation: &str, params: &Value, per_minute: u32, times: usize) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (port, came) = service();
    let store = Store::open(StoreOptions::sqlite(folder.path().join("b.db")))
        .await
        .unwrap();
    let scanner = Scanner::builder()
        .key([7; 32])
        .register("BOARD_API_TOKEN", &token())
        .build()
        .unwrap();
    let redact = Arc::new(scanner.clone());
    let clock = Arc::new(SystemClock);
    let logs = folder.path().join("logs");
    let book = Log::open(
        &logs,
        log::Options::default(),
        redact.clone(),
        clock.clone(),
    )
    .unwrap();
    let audit = Arc::new(Audit::new(
        Arc::new(book),
        Rules::default(),
        Vec::new(),
        redact.clone(),
        clock.clone(),
    ));
    let approvals = Approvals::open(
        store.clone(),
        audit.clone(),
        redact.clone(),
        clock.clone(),
        OwnerOptions::default(),
    )
    .await
    .unwrap();
    let recovery = Recovery::open(
        Options::new(&data),
        store.clone(),
        audit.clone(),
        redact,
        clock.clone(),
    )
    .unwrap();
    let definition = definition(port, per_minute);
    let config = Config {
        data: data.clone(),
        definitions: Definitions::from([("board".to_owned(), (definition, "test".to_owned()))]),
        loopback: true,
        enhanced: true,
        profile: "strict",
        posts_need_approval: true,
        ready: 0,
        ready_idle: Duration::from_secs(60),
        max_tasks: 16,
        missing: Missing::Refuse,
        internal_paths: Vec::new(),
        internal_terms: Vec::new(),
        launcher: Launcher::this_program(),
        detector: Arc::new(Detector::shipped().unwrap()),
        scanner: Arc::new(move || scanner.clone()),
        credential: Arc::new(|_| Some(Token::new(token()))),
        dialler: Dialler::new(
            Connector::new(b"", None).unwrap(),
            Resolver::system(),
            HopPolicy::default(),
        ),
        approvals,
        stop: tokio::sync::watch::Sender::new(false).subscribe(),
        store,
        recorder: audit,
        clock,
    };
    let supervisor = Supervisor::open(config, recovery).await.unwrap();
    let mut last = None;
    for _ in 0..times {
        let task = supervisor
            .submit("board", operation, params.as_object().unwrap(), None)
            .await
            .unwrap();
        last = supervisor
            .wait(&task.id, Duration::from_secs(30))
            .await
            .unwrap();
    }
    let holds = supervisor.recovery().list(false).await.unwrap();
    supervisor.close(Duration::from_secs(5)).await;
    let heard = find(&data.join("proxies"), "heard.bin").map(|path| std::fs::read(path).unwrap());
    let audit: String = std::fs::read_dir(&logs)
        .unwrap()
        .map(|entry| {
            String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()).into_owned()
        })
        .collect();
    let came = came.lock().unwrap().clone();
    Told {
        task: last.unwrap(),
        holds,
        came,
        heard: heard.unwrap_or_default(),
        audit,
    }
}

fn find(folder: &std::path::Path, end: &str) -> Option<PathBuf> {
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                return Some(path);
            }
        }
    }
    None
}

fn read(lie: &str) -> Told {
    told("read", &json!({"id": lie}), 100, 1)
}

#[track_caller]
fn is_caught(lie: &str, told: &Told) {
    assert_eq!(told.task.state, TaskState::Failed, "{lie}: {:?}", told.task);
    assert!(
        told.task.data.is_none() && told.task.summary.is_none(),
        "{lie}"
    );
    let shown = serde_json::to_string(&told.task).unwrap();
    assert!(!shown.contains(MARK), "{lie}: {shown}");
    assert_eq!(told.holds.len(), 1, "{lie}: {:?}", told.task);
    assert_eq!(told.holds[0].kind, "adversarial", "{lie}");
    assert!(told.holds[0].quarantine.is_some(), "{lie}");
    gains_no_secret(lie, told);
}

#[track_caller]
fn gains_no_secret(lie: &str, told: &Told) {
    let token = token();
    assert!(
        !told
            .heard
            .windows(token.len())
            .any(|window| window == token.as_bytes()),
        "{lie}: the worker heard the credential"
    );
    assert!(
        !told.audit.contains(MARK) && !told.audit.contains(&token),
        "{lie}"
    );
}

fn honest() {
    let told = read("honest");
    assert_eq!(told.task.state, TaskState::Done, "{:?}", told.task);
    assert_eq!(
        told.task.data,
        Some(json!({"posts": [{"id": "1", "text": "fine"}]}))
    );
    // Not even an honest worker's own words are repeated.
    assert_eq!(told.task.flags, Vec::<String>::new());
    assert_eq!(told.task.summary.as_deref(), Some(""));
    assert!(!told.heard.is_empty());
    gains_no_secret("honest", &told);
}

fn requests() {
    for (lie, sent) in [
        ("operation", 0),
        ("capability", 0),
        ("params", 0),
        ("body", 0),
        ("twice", 1),
        ("flood", 1),
    ] {
        let told = read(lie);
        is_caught(lie, &told);
        assert_eq!(told.came.len(), sent, "{lie}: {:?}", told.came);
        let own = format!("GET /threads/{lie} HTTP/1.1");
        assert!(
            told.came.iter().all(|line| *line == own),
            "{lie}: {:?}",
            told.came
        );
        assert!(told.audit.contains("deny"), "{lie}");
    }
}

fn results() {
    for lie in ["payload", "shape", "invented"] {
        is_caught(lie, &read(lie));
    }
    // Words of a worker that fails are not repeated either.
    let told = read("words");
    assert_eq!(told.task.state, TaskState::Failed);
    assert!(!serde_json::to_string(&told.task).unwrap().contains(MARK));
    gains_no_secret("words", &told);
}

fn ends() {
    std::thread::scope(|scope| {
        for lie in [
            "silent", "count", "hidden", "link", "exit", "hang", "hog", "connect", "execute",
            "promote",
        ] {
            scope.spawn(move || is_caught(lie, &read(lie)));
        }
    });
}

fn context() {
    // What a worker leaves for the next session is scanned before anybody reads it.
    let told = told("read", &json!({"id": "poison"}), 100, 2);
    assert_eq!(told.task.state, TaskState::Done, "{:?}", told.task);
    assert_eq!(told.task.recent_context, None);
    assert!(!serde_json::to_string(&told.task).unwrap().contains(MARK));
    assert!(told.audit.contains("relationships_poisoned"));
    gains_no_secret("poison", &told);
}

fn protocol() {
    for lie in ["garbage", "huge"] {
        let told = read(lie);
        is_caught(lie, &told);
        assert!(told.came.is_empty());
    }
}

fn limits() {
    // The worker asks without a limiter of its own; the second request of the minute stays here.
    let told = told("read", &json!({"id": "honest"}), 1, 2);
    assert_eq!(told.came.len(), 1);
    assert_eq!(told.task.state, TaskState::Failed);
    assert!(told.task.data.is_none());
}

fn approval() {
    let told = told("say", &json!({"text": "unapproved"}), 100, 1);
    is_caught("unapproved", &told);
    assert!(told.came.is_empty(), "{:?}", told.came);
}

/// What a worker writes to its output goes nowhere: it neither waits for a reader nor reaches one.
fn chatter() {
    let told = read("chatter");
    assert_eq!(told.task.state, TaskState::Done, "{:?}", told.task);
    assert!(told.holds.is_empty());
    gains_no_secret("chatter", &told);
}
