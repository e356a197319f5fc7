//! The launcher: the program run again, which confines itself before it does anything else.
//!
//! Three processes, so that the one that matters is alone. The first enters the namespaces, stays outside the process
//! table and outlives the rest: it tells how it ended. The second is the first of the new process table, builds the view
//! of the files, gives up every right, and collects orphans. The third takes the last layers and becomes the worker or the
//! command. Each dies with the one before it.

mod capabilities;
mod files;
mod keeper;
mod limits;
mod loopback;
mod namespaces;
mod template;
mod verify;
mod view;

use crate::Inside;
use crate::calls::{self, Circumstances};
use crate::cgroup;
use crate::confinement::{Confinement, Network, Role, Streams};
use crate::error::{SandboxError, said};
use crate::layers::{Layer, Layers};
use crate::sys::{self, Forked};
use crate::wire::{self, Argument, Job, Order, Word};
use rustix::process::Signal;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;

/// The argument by which a process knows that it is a launcher.
pub(crate) const MARK: &str = "--blastshield-confine-from-stdin";

/// The argument by which a process knows that it is a template.
pub(crate) const TEMPLATE: &str = "--blastshield-template-from-stdin";

/// Exit code of a launcher that could not do its work.
const FAILED: i32 = 125;
/// Exit code when the command could not be executed, as shells have it.
const NOT_EXECUTED: i32 = 127;

/// See [`crate::enter_or_prepare`].
pub(crate) fn enter_or_prepare<T>(
    prepare: impl FnOnce(&str, &str) -> T,
) -> Option<(Inside, Option<T>)> {
    let mut arguments = std::env::args_os().skip(1);
    let mark = arguments.next()?;
    let is_template = mark == TEMPLATE;
    if !(is_template || mark == MARK) || arguments.next().is_some() {
        return None;
    }
    // Nothing that leaked into this process goes any further. If it cannot be closed, nothing happens here.
    if sys::close_from(3).is_err() {
        sys::leave(FAILED);
    }
    let Ok(mut control) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) else {
        sys::leave(FAILED);
    };
    let mut prepared = None;
    if is_template {
        let Some((made, own)) = template::serve(control, prepare) else {
            sys::leave(FAILED);
        };
        (prepared, control) = (Some(made), own);
    }
    match launch(&control) {
        Ok(inside) => Some((inside, prepared)),
        Err(error) => {
            let _ = wire::send(&control, &Word::Failed(error), &[]);
            sys::leave(FAILED)
        }
    }
}

/// The first process: into the namespaces, then only waiting.
fn launch(control: &OwnedFd) -> Result<Inside, SandboxError> {
    let gone = || SandboxError::Launcher("got no order".to_owned());
    let (order, streams) = wire::receive::<Order>(control)
        .ok()
        .flatten()
        .ok_or_else(gone)?;
    let mut layers = Layers::default();
    if order.confinement.streams != Streams::Inherit {
        rustix::process::setsid().map_err(|e| SandboxError::step("leave the session", e))?;
    }
    sys::ignore_terminal();
    cgroup::join(&order.confinement.limits, &mut layers);
    namespaces::enter(&order.confinement, &mut layers);
    die_with_parent()?;
    if rustix::process::getppid().map(|p| p.as_raw_nonzero().get()) != Some(order.parent) {
        return Err(SandboxError::Launcher("was orphaned".to_owned()));
    }
    let port =
        if order.confinement.network == Network::Proxied && layers.holds(Layer::NetworkNamespace) {
            Some(loopback::listen(control)?)
        } else {
            None
        };
    let keeper = keeper::Keeper::prepare(&mut layers)?;
    match sys::fork().map_err(|e| SandboxError::step("fork", e))? {
        Forked::Parent(first) => {
            drop(streams);
            keeper.keep(control, first)
        }
        Forked::Child => {
            let reports = keeper.child()?;
            first(control, order, streams, layers, port, reports)
        }
    }
}

/// The second process: the view of the files, then no rights, then only collecting.
fn first(
    control: &OwnedFd,
    order: Order,
    streams: Vec<OwnedFd>,
    mut layers: Layers,
    port: Option<u16>,
    reports: keeper::Reports,
) -> Result<Inside, SandboxError> {
    die_with_parent()?;
    // If the first process ended before that, nobody would have told us.
    if !reports.heard() {
        return Err(SandboxError::Launcher("was orphaned".to_owned()));
    }
    let alone = layers.holds(Layer::PidNamespace);
    limits::processes(&order.confinement, &mut layers);
    if layers.holds(Layer::MountNamespace) {
        view::build(&order.confinement, alone, &mut layers)?;
    }
    capabilities::drop_all(&mut layers)?;
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .map_err(|e| SandboxError::step("be hidden from debuggers", e))?;
    match sys::fork().map_err(|e| SandboxError::step("fork", e))? {
        Forked::Parent(second) => {
            drop(streams);
            keeper::collect(second, &reports)
        }
        Forked::Child => {
            drop(reports);
            last(control, order, streams, layers, port)
        }
    }
}

/// The third process: the last layers, then the job.
fn last(
    control: &OwnedFd,
    order: Order,
    streams: Vec<OwnedFd>,
    mut layers: Layers,
    port: Option<u16>,
) -> Result<Inside, SandboxError> {
    let Order {
        confinement, job, ..
    } = order;
    die_with_parent()?;
    layers.hold(Layer::ParentDeath, "SIGKILL to each of three processes");
    let line = take_streams(streams, &job)?;
    let folder = confinement
        .folder
        .as_deref()
        .or(confinement.write.first().map(|path| path.as_path()))
        .unwrap_or(std::path::Path::new("/"));
    std::env::set_current_dir(folder).map_err(|e| SandboxError::step("enter its folder", e))?;
    limits::apply(&confinement, &mut layers)?;
    files::restrict(&confinement, &mut layers)?;
    if !layers.holds(Layer::NoNewPrivs) {
        return Err(SandboxError::Missing(vec![Layer::NoNewPrivs]));
    }
    let circumstances = Circumstances {
        network: confinement.network,
        own_view: layers.holds(Layer::MountNamespace),
        own_table: layers.holds(Layer::PidNamespace),
        signals_contained: layers.holds(Layer::LandlockScope),
        pid: rustix::process::getpid(),
    };
    let filters = calls::compile(confinement.role, circumstances)?;
    // The last layer forbids the rest of this, so it is counted before it is on; if it fails, nothing goes on.
    layers.hold(Layer::Seccomp, filters.detail());
    demand(&confinement, &layers)?;
    let command = match &job {
        Job::Command(command) => Some(executable(command, &confinement.env, port)?),
        Job::Worker(_) | Job::Probe => None,
    };
    filters.apply()?;
    if matches!(job, Job::Probe) {
        verify::verify(&confinement, &mut layers);
    }
    wire::send(control, &Word::Ready(layers.clone()), &[])
        .map_err(|e| SandboxError::step("report", e))?;
    match (job, line, command) {
        (Job::Worker(job), Some(line), _) => Ok(Inside { job, line, layers }),
        (_, _, Some(mut command)) => {
            let error = SandboxError::Exec(said(&command.exec()));
            let _ = wire::send(control, &Word::Failed(error), &[]);
            sys::leave(NOT_EXECUTED)
        }
        _ => sys::leave(0),
    }
}

fn die_with_parent() -> Result<(), SandboxError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| SandboxError::step("tie its life to ours", e))
}

/// Puts the streams in their places, and gives a worker its line.
fn take_streams(streams: Vec<OwnedFd>, job: &Job) -> Result<Option<UnixStream>, SandboxError> {
    let mut streams = streams.into_iter();
    let (Some(input), Some(output), Some(errors)) =
        (streams.next(), streams.next(), streams.next())
    else {
        return Err(SandboxError::Launcher("got no streams".to_owned()));
    };
    rustix::stdio::dup2_stdin(input.as_fd())
        .and_then(|()| rustix::stdio::dup2_stdout(output.as_fd()))
        .and_then(|()| rustix::stdio::dup2_stderr(errors.as_fd()))
        .map_err(|e| SandboxError::step("take its streams", e))?;
    match (job, streams.next()) {
        (Job::Worker(_), None) => Err(SandboxError::Launcher("got no line".to_owned())),
        (Job::Worker(_), Some(line)) => Ok(Some(UnixStream::from(line))),
        _ => Ok(None),
    }
}

/// Refuses when too little holds.
fn demand(confinement: &Confinement, layers: &Layers) -> Result<(), SandboxError> {
    let missing = crate::demand::lacking(confinement, layers);
    if missing.is_empty() {
        return Ok(());
    }
    Err(SandboxError::Missing(missing))
}

/// The command with its whole environment.
fn executable(
    command: &[Argument],
    env: &[(String, String)],
    port: Option<u16>,
) -> Result<std::process::Command, SandboxError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(SandboxError::Invalid("there is no command".to_owned()));
    };
    sys::heed_terminal();
    let mut ready = std::process::Command::new(program);
    ready.args(arguments).env_clear();
    ready.envs(env.iter().map(|(name, value)| (name, value)));
    if let Some(port) = port {
        let proxy = format!("http://127.0.0.1:{port}");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            ready.env(name, &proxy);
            ready.env(name.to_ascii_lowercase(), &proxy);
        }
        // Node heeds them only when it is told to.
        ready.env("NODE_USE_ENV_PROXY", "1");
    }
    Ok(ready)
}

/// A worker may not start anything, and a role may never be both.
pub(crate) fn fits(role: Role, job: &Job) -> bool {
    match job {
        Job::Worker(_) => role == Role::Worker,
        Job::Command(_) | Job::Probe => role == Role::Plugin,
    }
}
