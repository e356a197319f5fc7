//! A service on loopback that answers as a test wants it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Came {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// An answer.
pub(crate) struct Says {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Says {
    pub(crate) fn json(body: &serde_json::Value) -> Self {
        Self::status(200, &body.to_string())
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: String::new(),
            body: body.to_owned(),
        }
    }
}

type Answers = dyn Fn(&Came, usize) -> Says + Send + Sync;

/// A running service. It notes everything that comes.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) port: u16,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Service {
    /// Answers each request by its number, counted from zero.
    pub(crate) fn start(answers: impl Fn(&Came, usize) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let came = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&came);
        let answers: Arc<Answers> = Arc::new(answers);
        let count = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let (answers, noted, count) =
                    (Arc::clone(&answers), Arc::clone(&noted), Arc::clone(&count));
                std::thread::spawn(move || serve(stream, &*answers, &noted, &count));
            }
        });
        Self { port, came }
    }

    /// Always the same.
    pub(crate) fn always(body: serde_json::Value) -> Self {
        Self::start(move |_, _| Says::json(&body))
    }

    pub(crate) fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answers: &Answers, noted: &Mutex<Vec<Came>>, count: &AtomicUsize) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap_or(0) == 0 || header == "\r\n" {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&header);
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let came = Came {
        line: line.trim().to_owned(),
        head,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    noted.lock().unwrap().push(came.clone());
    let says = answers(&came, count.fetch_add(1, Ordering::SeqCst));
    let mut stream = reader.into_inner();
    let _ = write!(
        stream,
        "HTTP/1.1 {} X\r\ncontent-type: application/json\r\n{}content-length: {}\r\nconnection: close\r\n\r\n{}",
        says.status,
        says.headers,
        says.body.len(),
        says.body
    );
}

/// A gate that holds a service back until a test opens it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<(bool, bool)>, Condvar)>);

impl Gate {
    /// Waits at the gate; at most half a minute.
    pub(crate) fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.0 = true;
        changed.notify_all();
        let _ = changed
            .wait_timeout_while(state, Duration::from_secs(30), |(_, open)| !*open)
            .unwrap();
    }

    /// Waits until somebody stands at the gate.
    pub(crate) fn reached(&self) {
        let (state, changed) = &*self.0;
        let (state, timed_out) = changed
            .wait_timeout_while(
                state.lock().unwrap(),
                Duration::from_secs(30),
                |(there, _)| !*there,
            )
            .unwrap();
        assert!(
            state.0 && !timed_out.timed_out(),
            "nobody came to the service"
        );
    }

    pub(crate) fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().unwrap().1 = true;
        changed.notify_all();
    }
}
