//! Workers that are forked of a prepared process are confined like any other, and begin with what was prepared.

use crate::launcher;
use blastshield_sandbox::{Confinement, Exit, Layer, Streams, Template};
use std::io::{Read, Write};
use std::time::Duration;

fn says(template: &Template) -> String {
    let mut child = template.worker(&Confinement::worker()).unwrap();
    let mut line = child.line.take().unwrap();
    line.write_all(b"?").unwrap();
    let mut heard = String::new();
    line.read_to_string(&mut heard).unwrap();
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
    heard
}

#[test]
fn workers_begin_with_what_was_prepared_once() {
    let template = Template::new(&launcher(), "prepared", "some thing");
    assert!(!template.is_prepared());
    let first = says(&template);
    let (who, what) = first.split_once(' ').unwrap();
    assert_eq!(what, "prepared some thing");
    // The number is the template's, in which it was made.
    for _ in 0..3 {
        assert_eq!(says(&template), format!("{who} {what}"));
    }
    assert!(template.is_prepared());
    // Without a template the same job has nothing.
    let mut child = launcher()
        .worker("prepared", &Confinement::worker())
        .unwrap();
    let mut line = child.line.take().unwrap();
    line.write_all(b"?").unwrap();
    let mut heard = String::new();
    line.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "nothing");
}

#[test]
fn they_are_confined_like_any_other() {
    let template = Template::new(&launcher(), "echo", "");
    let plain = launcher().worker("echo", &Confinement::worker()).unwrap();
    let forked = template.worker(&Confinement::worker()).unwrap();
    for layer in Layer::ALL {
        assert_eq!(
            forked.layers().standing(layer),
            plain.layers().standing(layer),
            "{layer:?}"
        );
    }
    for job in ["execute", "code"] {
        let template = Template::new(&launcher(), job, "");
        let mut child = template.worker(&Confinement::worker()).unwrap();
        assert_eq!(child.wait().unwrap(), Exit::Signal(31), "{job}");
    }
}

#[test]
fn one_ends_alone_and_a_template_ends_with_all_of_them() {
    let template = Template::new(&launcher(), "echo", "");
    let mut one = template.worker(&Confinement::worker()).unwrap();
    let mut other = template.worker(&Confinement::worker()).unwrap();
    assert_eq!(one.kill().unwrap(), Exit::Signal(9));
    assert_eq!(other.wait_for(Duration::ZERO).unwrap(), None);
    let mut line = other.line.take().unwrap();
    line.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    line.read_exact(&mut heard).unwrap();
    drop(template);
    assert_eq!(other.wait().unwrap(), Exit::Signal(9));
}

#[test]
fn what_it_says_goes_nowhere_and_nobody_waits() {
    let nowhere = Confinement::worker().streams(Streams::Nowhere);
    let template = Template::new(&launcher(), "chatter", "");
    let mut forked = template.worker(&nowhere).unwrap();
    let mut plain = launcher().worker("chatter", &nowhere).unwrap();
    for child in [&mut forked, &mut plain] {
        assert!(child.stdout.is_none() && child.stderr.is_none() && child.stdin.is_none());
        assert_eq!(child.wait().unwrap(), Exit::Code(0));
    }
}
