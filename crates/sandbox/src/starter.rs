//! The thread that starts every launcher. The kernel ends a launcher with the *thread* that started it, so that must be one
//! that lives as long as the program.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

struct Request {
    program: PathBuf,
    mark: &'static str,
    control: OwnedFd,
    reply: SyncSender<io::Result<Child>>,
}

static STARTER: OnceLock<Option<SyncSender<Request>>> = OnceLock::new();

/// Starts a launcher, or whatever this mark makes of the program, with this end of the control line as its standard input,
/// and nothing else.
pub(crate) fn start(program: &Path, mark: &'static str, control: OwnedFd) -> io::Result<Child> {
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let starter = STARTER.get_or_init(|| {
        let (send, requests) = sync_channel(16);
        std::thread::Builder::new()
            .name("sandbox-starter".to_owned())
            .spawn(move || serve(&requests))
            .ok()
            .map(|_| send)
    });
    let (reply, answer) = sync_channel(1);
    let request = Request {
        program: program.to_owned(),
        mark,
        control,
        reply,
    };
    starter
        .as_ref()
        .ok_or_else(gone)?
        .send(request)
        .map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn serve(requests: &Receiver<Request>) {
    for Request {
        program,
        mark,
        control,
        reply,
    } in requests
    {
        let child = Command::new(program)
            .arg(mark)
            .env_clear()
            .stdin(Stdio::from(control))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let _ = reply.send(child);
    }
}
