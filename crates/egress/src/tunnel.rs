//! Carries bytes both ways between two connections. An idle tunnel holds no buffer; a busy one moves its bytes within the
//! kernel.

use crate::options::Limits;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncWriteExt as _, Interest};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

/// Lent to whichever tunnel has something to carry.
const SCRATCH: usize = 64 << 10;
/// Full loads in a row after which the kernel takes over.
const BULK_AFTER: u32 = 2;
/// Pipes at once; other tunnels go on copying. Together they are what Linux lets an ordinary user have in pipes.
const MAX_PIPES: usize = 64;
/// The larger, the fewer turns between two sockets.
const PIPE_SIZE: usize = 1 << 20;
/// A pipe is given back when nothing came for this long.
const PATIENCE: Duration = Duration::from_millis(50);
/// Loads after which other tasks get their turn.
const TURN: u32 = 32;

/// Bytes carried, readable at any time.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    pub(crate) up: AtomicU64,
    pub(crate) down: AtomicU64,
}

/// Carries until both sides are done, or nothing moves for too long, or too much time has passed.
pub(crate) async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    limits: &Limits,
    carried: &Carried,
) {
    let start = Instant::now();
    let last = AtomicU64::new(0);
    let (client_in, client_out) = client.split();
    let (server_in, server_out) = server.split();
    let up = pump(client_in, server_out, &carried.up, &last, start);
    let down = pump(server_in, client_out, &carried.down, &last, start);
    let both = async {
        tokio::pin!(up, down);
        // After a fault of one direction the other has nobody to talk to.
        tokio::select! {
            done = &mut up => if done.is_ok() { let _ = down.await; },
            done = &mut down => if done.is_ok() { let _ = up.await; },
        }
    };
    tokio::select! {
        () = both => {}
        () = silence(&last, start, limits) => {}
    }
}

/// Returns once nothing has moved for the idle time, or the total time is over.
async fn silence(last: &AtomicU64, start: Instant, limits: &Limits) {
    loop {
        let quiet_since = start + Duration::from_millis(last.load(Relaxed));
        let until = (quiet_since + limits.idle).min(start + limits.total);
        if until <= Instant::now() {
            return;
        }
        tokio::time::sleep_until(until.into()).await;
    }
}

enum Load {
    Sent(usize),
    Rest(usize, Vec<u8>),
    Nothing,
    End,
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
}

/// One direction, until its source ends; then the sink is told so.
async fn pump(
    from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    moved: &AtomicU64,
    last: &AtomicU64,
    start: Instant,
) -> io::Result<()> {
    let note = |count: usize| {
        moved.fetch_add(count as u64, Relaxed);
        let since = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        last.store(since, Relaxed);
    };
    let (mut full, mut turns) = (0, 0);
    loop {
        from.readable().await?;
        turns += 1;
        if turns % TURN == 0 {
            tokio::task::yield_now().await;
        }
        if full >= BULK_AFTER
            && let Some(pipe) = Pipe::take()
        {
            full = 0;
            if through_kernel(&from, &to, pipe, &note).await? {
                break;
            }
            continue;
        }
        let load = BUFFER.with_borrow_mut(|buffer| copy_once(&from, &to, buffer))?;
        match load {
            Load::End => break,
            Load::Nothing => {}
            Load::Sent(count) => {
                note(count);
                full = if count == SCRATCH { full + 1 } else { 0 };
            }
            Load::Rest(count, rest) => {
                to.write_all(&rest).await?;
                note(count);
                full += 1;
            }
        }
    }
    to.shutdown().await
}

fn copy_once(from: &ReadHalf<'_>, to: &WriteHalf<'_>, buffer: &mut [u8]) -> io::Result<Load> {
    let count = match from.try_read(buffer) {
        Ok(0) => return Ok(Load::End),
        Ok(count) => count,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Load::Nothing),
        Err(error) => return Err(error),
    };
    let load = buffer.get(..count).unwrap_or_default();
    let sent = match to.try_write(load) {
        Ok(sent) => sent,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => return Err(error),
    };
    Ok(match load.get(sent..) {
        Some(rest) if !rest.is_empty() => Load::Rest(count, rest.to_vec()),
        _ => Load::Sent(count),
    })
}

/// Moves bytes from socket to pipe to socket until the source ends (`true`) or pauses.
async fn through_kernel(
    from: &ReadHalf<'_>,
    to: &WriteHalf<'_>,
    mut pipe: Pipe,
    note: &impl Fn(usize),
) -> io::Result<bool> {
    let (source, sink): (&TcpStream, &TcpStream) = (from.as_ref(), to.as_ref());
    let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
    let mut turns = 0;
    loop {
        let filled = source.try_io(Interest::READABLE, || {
            Ok(splice(source, None, &pipe.ends.1, None, PIPE_SIZE, flags)?)
        });
        let count = match filled {
            Ok(0) => return Ok(true),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                match timeout(PATIENCE, source.readable()).await {
                    Ok(ready) => ready?,
                    Err(_) => return Ok(false),
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        pipe.holds = true;
        let mut left = count;
        while left > 0 {
            let sent = sink.try_io(Interest::WRITABLE, || {
                Ok(splice(&pipe.ends.0, None, sink, None, left, flags)?)
            });
            match sent {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => left = left.saturating_sub(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sink.writable().await?,
                Err(error) => return Err(error),
            }
        }
        pipe.holds = false;
        note(count);
        turns += 1;
        if turns % TURN == 0 {
            tokio::task::yield_now().await;
        }
    }
}

static SPARE: Mutex<Vec<Arc<(OwnedFd, OwnedFd)>>> = Mutex::new(Vec::new());
static LENT: AtomicUsize = AtomicUsize::new(0);

/// A pipe, lent. One that still holds bytes when it comes back is not lent again.
struct Pipe {
    ends: Arc<(OwnedFd, OwnedFd)>,
    holds: bool,
}

impl Pipe {
    fn take() -> Option<Self> {
        let within = |lent: usize| (lent < MAX_PIPES).then_some(lent + 1);
        LENT.try_update(Relaxed, Relaxed, within).ok()?;
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let ends = spare.or_else(|| {
            let ends = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
            // A smaller one serves as well.
            let _ = fcntl_setpipe_size(&ends.1, PIPE_SIZE);
            Some(Arc::new(ends))
        });
        let Some(ends) = ends else {
            LENT.fetch_sub(1, Relaxed);
            return None;
        };
        Some(Self { ends, holds: false })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        LENT.fetch_sub(1, Relaxed);
        if self.holds {
            return;
        }
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push(Arc::clone(&self.ends));
    }
}
