//! From asking for a confined process until it is confined, and until it has ended.

use blastshield_sandbox::{Bounds, Confinement, Launcher};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sandbox-escapes");

fn main() {
    divan::main();
}

/// Until a worker is confined and ready.
#[divan::bench(sample_count = 50)]
fn worker_ready(bencher: divan::Bencher<'_, '_>) {
    let (launcher, confinement) = (Launcher::at(PROGRAM), Confinement::worker());
    bencher.bench_local(|| launcher.worker("echo", &confinement));
}

/// Until a worker has also ended.
#[divan::bench(sample_count = 50)]
fn worker_start_to_end(bencher: divan::Bencher<'_, '_>) {
    let (launcher, confinement) = (Launcher::at(PROGRAM), Confinement::worker());
    bencher.bench_local(|| {
        let mut child = launcher.worker("echo", &confinement)?;
        drop(child.line.take());
        child.wait()
    });
}

/// A command that does nothing, with the system's folders.
#[divan::bench(sample_count = 50)]
fn command_start_to_end(bencher: divan::Bencher<'_, '_>) {
    let (launcher, confinement) = (Launcher::at(PROGRAM), Confinement::plugin());
    let command = ["true".into()];
    bencher.bench_local(|| launcher.run(&command, &confinement, Bounds::default(), b"", |_| {}));
}

/// The same without any confinement.
#[divan::bench(sample_count = 50)]
fn command_unconfined() -> std::io::Result<std::process::ExitStatus> {
    std::process::Command::new("true").status()
}
