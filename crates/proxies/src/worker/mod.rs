//! The sacrificial side: one confined process, one task. It has no network, no credential and no files but its
//! workspace; it asks core for each request, runs every stage on what comes back, and dies with a report.

mod act;
mod inbound;
mod life;
mod outgoing;
mod prepared;

pub(crate) use act::{count, profile};
pub(crate) use prepared::How;
pub use prepared::Prepared;

use crate::definition::Definition;
use crate::protocol::{Ending, FromWorker, Job, ToWorker, waiting};
use act::{Act, Finish};
use blastshield_detect::Detector;
use blastshield_leak::Scanner;
use blastshield_recovery::{Trigger, Workspace};
use blastshield_sandbox::Inside;
use life::{Last, Life};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The job by which the sandbox starts this.
pub const JOB: &str = "proxy";

/// What reaches a worker while it works: a message, with the bytes of an answer.
pub(super) type Heard = (ToWorker, Vec<u8>);

/// Runs a worker to its end. Call it with what [`blastshield_sandbox::enter_or_prepare`] returned for [`JOB`].
#[expect(clippy::exit, reason = "a worker has nothing to return to")]
pub fn worker_main(inside: Inside, prepared: Option<Prepared>) -> ! {
    // What a panic would print may hold words of the service.
    std::panic::set_hook(Box::new(|_| {}));
    let mut line = inside.line;
    let Some(kit) = get_ready(&mut line, prepared) else {
        // Nothing was given to it yet: nothing to report.
        std::process::exit(2);
    };
    match waiting::receive(&mut line, crate::protocol::MAX_MESSAGE) {
        Ok(ToWorker::Task(job)) => work(line, &kit, *job),
        // Not needed after all.
        _ => std::process::exit(0),
    }
}

/// What a task needs, built before there is one.
pub(super) struct Kit {
    pub(super) definition: Definition,
    pub(super) detector: Detector,
    pub(super) scanner: Scanner,
}

fn get_ready(line: &mut UnixStream, prepared: Option<Prepared>) -> Option<Kit> {
    let service = match waiting::receive(line, crate::protocol::MAX_MESSAGE) {
        Ok(ToWorker::Service(service)) => service,
        _ => return None,
    };
    #[cfg(debug_assertions)]
    crate::fault::arm(service.fault.clone());
    let prepared = match prepared.filter(|prepared| prepared.how == service.how) {
        Some(prepared) => prepared,
        None => Prepared::build(service.how)?,
    };
    let kit = Kit {
        definition: Definition::parse(&service.definition, service.loopback).ok()?,
        detector: prepared.detector,
        scanner: prepared.scanner,
    };
    waiting::send(line, &FromWorker::Ready).ok()?;
    Some(kit)
}

#[expect(clippy::exit, reason = "a worker has nothing to return to")]
fn work(line: UnixStream, kit: &Kit, mut job: Job) -> ! {
    let capability = std::mem::take(&mut job.capability);
    let Ok(workspace) = Workspace::open(Path::new(".")) else {
        // No workspace, no report: core assumes the worst.
        std::process::exit(2);
    };
    let life = Life::begin(workspace, kit.scanner.clone(), capability);
    let (heard, receiver) = channel();
    let Ok(reading) = line.try_clone() else {
        life.end(&Last::new(Trigger::Exception, "the line cannot be used"));
    };
    let most = kit.definition.bounds.response_bytes;
    let listening = life.clone();
    std::thread::spawn(move || listen(reading, &heard, most, &listening));
    let signalled = life.clone();
    std::thread::spawn(move || heed(&signalled));
    let last = run(line, &receiver, kit, job, &life);
    life.end(&last)
}

fn run(line: UnixStream, heard: &Receiver<Heard>, kit: &Kit, job: Job, life: &Life) -> Last {
    let mut act = Act {
        line,
        heard,
        kit,
        job,
        life,
    };
    let finished = catch_unwind(AssertUnwindSafe(|| act.all()));
    let Finish { outcome, last } = match finished {
        Ok(finish) => finish,
        Err(_) => return Last::new(Trigger::Exception, "a fault in the worker"),
    };
    if let Some(outcome) = outcome {
        // If core is gone there is nobody to tell; the report says it.
        let _ = waiting::send(&mut act.line, &FromWorker::Done(outcome));
    }
    last
}

/// Hears core out for as long as the worker lives, so that it can be ended while it computes.
fn listen(mut line: UnixStream, heard: &Sender<Heard>, most: usize, life: &Life) {
    loop {
        let message = match waiting::receive(&mut line, crate::protocol::MAX_MESSAGE) {
            Ok(ToWorker::End(Ending::TimeOut)) => {
                life.end(&Last::new(Trigger::Exception, "time-out"));
            }
            Ok(ToWorker::End(Ending::Shutdown)) => {
                life.end(&Last::new(Trigger::Exception, "core is shutting down"));
            }
            Ok(ToWorker::End(Ending::OwnerStop)) => {
                life.end(&Last::new(Trigger::Exception, "stopped by the owner"));
            }
            Ok(message) => message,
            Err(_) => life.end(&Last::new(Trigger::Exception, "core is gone")),
        };
        let bytes = match &message {
            ToWorker::Answer(_) => match waiting::bytes(&mut line, most) {
                Ok(bytes) => bytes,
                Err(_) => life.end(&Last::new(Trigger::Exception, "the answer was cut off")),
            },
            _ => Vec::new(),
        };
        if heard.send((message, bytes)).is_err() {
            return;
        }
    }
}

/// Ends well when somebody asks for the end by signal.
fn heed(life: &Life) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut term) = signal(SignalKind::terminate()) else {
            return;
        };
        term.recv().await;
        life.end(&Last::new(Trigger::Exception, "ended by a signal"));
    });
}
