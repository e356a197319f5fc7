//! A worker has its line, its files, its threads, and nothing else.

use crate::launcher;
use blastshield_sandbox::{Confinement, Exit, Layer};
use std::io::{Read, Write};

#[test]
fn it_talks_over_its_line() {
    let mut child = launcher().worker("echo", &Confinement::worker()).unwrap();
    let mut line = child.line.take().unwrap();
    line.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    line.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
    for layer in [
        Layer::Seccomp,
        Layer::LandlockFiles,
        Layer::MountNamespace,
        Layer::PidNamespace,
    ] {
        assert!(child.layers().holds(layer), "{layer:?}");
    }
    drop(line);
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
}

#[test]
fn it_may_use_threads() {
    let mut child = launcher()
        .worker("threads", &Confinement::worker())
        .unwrap();
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "6\n");
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
}

#[test]
fn it_writes_where_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("file");
    let job = format!("write {}", file.display());
    let allowed = Confinement::worker().write(folder.path());
    let mut child = launcher().worker(&job, &allowed).unwrap();
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
    assert_eq!(std::fs::read(&file).unwrap(), b"written");
    std::fs::remove_file(&file).unwrap();
    let readable = Confinement::worker().read(folder.path());
    let mut child = launcher().worker(&job, &readable).unwrap();
    assert_eq!(child.wait().unwrap(), Exit::Code(101));
    assert!(!file.exists());
}

#[test]
fn it_dies_of_what_it_may_not_do() {
    for job in ["execute", "code"] {
        let mut child = launcher().worker(job, &Confinement::worker()).unwrap();
        assert_eq!(child.wait().unwrap(), Exit::Signal(31), "{job}");
    }
}
