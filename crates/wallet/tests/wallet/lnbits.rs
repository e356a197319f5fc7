//! A server on loopback that speaks as much of LNbits' API as the wallet uses, and fails in all the ways in which LNbits,
//! or the way to it, may fail.
//!
//! Unlike LNbits it pays an invoice as often as it is asked to, so that a second request shows.

use lightning_invoice::Bolt11Invoice;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

pub(crate) const KEY: &str = "5ec2e7ad0123456789abcdef5ec2e7ad";

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It never arrives.
    Drop,
    /// It is done, and the answer gets lost.
    Lose,
    /// This status, and nothing is done.
    Status(u16),
    /// This status after all was done.
    StatusAfter(u16),
    /// Done, and the answer is no JSON.
    Garbage,
    /// Done, and the answer is cut off.
    Half,
    /// Nothing is done, and nothing comes back for long.
    Hang,
    /// Done, and nothing comes back for long.
    HangAfter,
    /// The connection breaks, and it is done later.
    Late(u64),
    /// Done, and answered after a while.
    Slow(u64),
    /// LNbits' own refusal.
    Refuse(&'static str),
    /// It is tried and fails.
    Fail,
    /// It is on its way; so many looks later it is paid.
    PendingThenPaid(u32),
    /// It is on its way; so many looks later it has failed.
    PendingThenFailed(u32),
    /// An answer about somebody else's wallet.
    Foreign,
}

#[derive(Clone, Debug)]
struct Entry {
    amount_msat: u64,
    fee_msat: u64,
    status: &'static str,
    /// Looks until it changes, and to what.
    turning: Option<(u32, &'static str)>,
    /// How often money went out.
    times: u32,
}

#[derive(Default)]
struct Book {
    entries: BTreeMap<String, Entry>,
    posts: BTreeMap<String, u32>,
    faults: BTreeMap<&'static str, VecDeque<Fault>>,
    fee_share: u64,
    fee_reserve_msat: Option<u64>,
    looks: u32,
    complaints: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) base: String,
    book: Arc<Mutex<Book>>,
    _server: Arc<Server>,
}

struct Server(JoinHandle<()>);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let book = Arc::new(Mutex::new(Book {
            // Four tenths of a percent.
            fee_share: 250,
            ..Book::default()
        }));
        let server = tokio::spawn({
            let book = Arc::clone(&book);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&book)));
                }
            }
        });
        Self {
            base,
            book,
            _server: Arc::new(Server(server)),
        }
    }

    /// What goes wrong with the next requests of a kind: `pay`, `look`, `fees` or `wallet`.
    pub(crate) fn fault(&self, kind: &'static str, faults: &[Fault]) {
        let mut book = self.book.lock().unwrap();
        book.faults.entry(kind).or_default().extend(faults);
    }

    pub(crate) fn mend(&self) {
        self.book.lock().unwrap().faults.clear();
    }

    pub(crate) fn reserve_fees(&self, msat: u64) {
        self.book.lock().unwrap().fee_reserve_msat = Some(msat);
    }

    /// How often an invoice was paid.
    pub(crate) fn times(&self, bolt11: &str) -> u32 {
        let hash = hash(bolt11);
        let book = self.book.lock().unwrap();
        book.entries.get(&hash).map_or(0, |entry| entry.times)
    }

    /// How often somebody asked to pay an invoice.
    pub(crate) fn posts(&self, bolt11: &str) -> u32 {
        let book = self.book.lock().unwrap();
        book.posts.get(&hash(bolt11)).copied().unwrap_or(0)
    }

    pub(crate) fn looks(&self) -> u32 {
        self.book.lock().unwrap().looks
    }

    /// Everything that went out, with fees, in whole sats by payment.
    pub(crate) fn total_sats(&self) -> u64 {
        let book = self.book.lock().unwrap();
        let out = |entry: &Entry| {
            u64::from(entry.times) * (entry.amount_msat + entry.fee_msat).div_ceil(1000)
        };
        book.entries.values().map(out).sum()
    }

    pub(crate) fn most_times(&self) -> u32 {
        let book = self.book.lock().unwrap();
        book.entries.values().map(|e| e.times).max().unwrap_or(0)
    }

    /// Somebody pays past us.
    pub(crate) fn pay_directly(&self, bolt11: &str) {
        pay(&mut self.book.lock().unwrap(), bolt11, "success");
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.book.lock().unwrap().complaints.clone()
    }
}

fn hash(bolt11: &str) -> String {
    let invoice: Bolt11Invoice = bolt11.parse().unwrap();
    invoice.payment_hash().to_string()
}

fn pay(book: &mut Book, bolt11: &str, status: &'static str) {
    let invoice: Bolt11Invoice = bolt11.parse().unwrap();
    let amount_msat = invoice.amount_milli_satoshis().unwrap();
    let share = book.fee_share;
    let entry = book.entries.entry(hash(bolt11)).or_insert(Entry {
        amount_msat,
        fee_msat: amount_msat / share,
        status,
        turning: None,
        times: 0,
    });
    entry.status = status;
    if status == "success" {
        entry.times += 1;
    }
}

fn describe(hash: &str, entry: &Entry) -> Value {
    json!({
        "checking_id": hash, "payment_hash": hash, "wallet_id": "w1", "status": entry.status, "pending": entry.status == "pending",
        "amount": -i64::try_from(entry.amount_msat).unwrap(), "fee": -i64::try_from(entry.fee_msat).unwrap(),
        "bolt11": "", "memo": "", "time": "2026-11-16T12:00:00", "extra": {},
    })
}

async fn serve(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    let Some((head, body)) = read(&mut stream).await else {
        return;
    };
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let key = format!("x-api-key: {KEY}\r\n");
    let path = path.to_owned();
    let kind = match (method, path.split('?').next().unwrap_or("")) {
        ("POST", "/api/v1/payments") => "pay",
        ("GET", "/api/v1/payments/fee-reserve") => "fees",
        ("GET", "/api/v1/wallet") => "wallet",
        ("GET", path) if path.starts_with("/api/v1/payments/") => "look",
        _ => {
            let mut book = book.lock().unwrap();
            book.complaints.push(format!("{method} {path}"));
            return;
        }
    };
    if !head.to_ascii_lowercase().contains(&key) {
        let body = json!({"detail": "Invalid key"}).to_string();
        return answer(&mut stream, 401, &body).await;
    }
    let fault = {
        let mut book = book.lock().unwrap();
        book.faults.get_mut(kind).and_then(VecDeque::pop_front)
    };
    match fault {
        Some(Fault::Drop) => return,
        Some(Fault::Hang) => return sleep(Duration::from_secs(60)).await,
        Some(Fault::Status(status)) => {
            return answer(&mut stream, status, "<html>sorry</html>").await;
        }
        Some(Fault::Refuse(words)) => {
            if kind == "pay" {
                count(&book, &body);
            }
            let body = json!({"detail": words, "status": "failed"}).to_string();
            return answer(&mut stream, 520, &body).await;
        }
        Some(Fault::Late(after)) => {
            drop(stream);
            sleep(Duration::from_millis(after)).await;
            done(kind, &path, &body, None, &book);
            return;
        }
        _ => {}
    }
    let (status, text) = done(kind, &path, &body, fault, &book);
    match fault {
        Some(Fault::Lose) => {}
        Some(Fault::StatusAfter(status)) => answer(&mut stream, status, "<html>sorry</html>").await,
        Some(Fault::Garbage) => answer(&mut stream, 200, "{\"paid\": tr").await,
        Some(Fault::Half) => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{";
            let _ = stream.write_all(head.as_bytes()).await;
        }
        Some(Fault::HangAfter) => sleep(Duration::from_secs(60)).await,
        Some(Fault::Slow(after)) => {
            sleep(Duration::from_millis(after)).await;
            answer(&mut stream, status, &text).await;
        }
        Some(Fault::Foreign) => {
            answer(&mut stream, 200, r#"{"paid": true, "preimage": "00"}"#).await;
        }
        _ => answer(&mut stream, status, &text).await,
    }
}

fn bolt11(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let exact = body.as_object()?.len() == 2 && body["out"] == true;
    body["bolt11"].as_str().filter(|_| exact).map(str::to_owned)
}

fn count(book: &Mutex<Book>, body: &str) {
    let bolt11 = bolt11(body).unwrap();
    let mut book = book.lock().unwrap();
    *book.posts.entry(hash(&bolt11)).or_default() += 1;
}

/// Does what is asked, and says so.
fn done(
    kind: &str,
    path: &str,
    body: &str,
    fault: Option<Fault>,
    book: &Mutex<Book>,
) -> (u16, String) {
    if kind == "pay" {
        if bolt11(body).is_none() {
            let mut book = book.lock().unwrap();
            book.complaints.push("a body of another shape".to_owned());
            return (400, json!({"detail": "bad"}).to_string());
        }
        count(book, body);
    }
    let mut book = book.lock().unwrap();
    let book = &mut *book;
    match kind {
        "wallet" => (
            200,
            json!({"name": "test", "balance": 12_345_678}).to_string(),
        ),
        "fees" => {
            let reserve = book.fee_reserve_msat.unwrap_or(2000);
            (200, json!({"fee_reserve": reserve}).to_string())
        }
        "pay" => {
            let bolt11 = bolt11(body).unwrap();
            let status = match fault {
                Some(Fault::Fail) => "failed",
                Some(Fault::PendingThenPaid(_) | Fault::PendingThenFailed(_)) => "pending",
                _ => "success",
            };
            pay(book, &bolt11, status);
            let hash = hash(&bolt11);
            let entry = book.entries.get_mut(&hash).unwrap();
            entry.turning = match fault {
                Some(Fault::PendingThenPaid(looks)) => Some((looks, "success")),
                Some(Fault::PendingThenFailed(looks)) => Some((looks, "failed")),
                _ => None,
            };
            if fault == Some(Fault::Fail) {
                let words = json!({"detail": "Payment failed: no route", "status": "failed"});
                return (520, words.to_string());
            }
            (201, describe(&hash, entry).to_string())
        }
        _ => {
            book.looks += 1;
            let hash = path.rsplit('/').next().unwrap_or("").to_owned();
            let Some(entry) = book.entries.get_mut(&hash) else {
                return (
                    404,
                    json!({"detail": "Payment does not exist."}).to_string(),
                );
            };
            match entry.turning {
                Some((0, status)) => {
                    entry.status = status;
                    entry.turning = None;
                    entry.times += u32::from(status == "success");
                }
                Some((looks, status)) => entry.turning = Some((looks - 1, status)),
                None => {}
            }
            let paid = entry.status == "success";
            let answer =
                json!({"paid": paid, "status": entry.status, "details": describe(&hash, entry)});
            (200, answer.to_string())
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let length = head
        .to_ascii_lowercase()
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
        .unwrap_or(0_usize);
    while bytes.len() < end + length {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    let body = String::from_utf8(bytes[end..].to_vec()).ok()?;
    Some((head, body))
}

async fn answer(stream: &mut TcpStream, status: u16, body: &str) {
    let text = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
