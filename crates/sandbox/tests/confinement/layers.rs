//! Which layers hold, and what happens when some cannot.

use crate::{PROGRAM, launcher, plugin};
use blastshield_sandbox::{Confinement, Layer, Missing, Standing};
use serde_json::Value;
use std::process::Command;

#[test]
fn the_probe_tries_every_layer() {
    let layers = launcher().probe().unwrap();
    for (layer, standing) in layers.iter() {
        println!("{:20} {standing:?}", layer.name());
    }
    // Nothing starts without these; the others depend on the machine.
    for layer in [
        Layer::NoNewPrivs,
        Layer::Seccomp,
        Layer::Capabilities,
        Layer::ResourceLimits,
    ] {
        assert!(layers.holds(layer), "{layer:?}");
    }
    for layer in Layer::ALL {
        let standing = layers.standing(layer);
        assert_ne!(
            standing,
            Standing::Missing {
                why: "not reported".to_owned()
            },
            "{layer:?}"
        );
    }
}

fn degraded() -> Confinement {
    plugin().missing(Missing::Degrade)
}

/// Runs a command in the sandbox, from a place where no namespace can be made; `None` where such a place cannot be made.
pub(crate) fn without_namespaces(confinement: &Confinement, command: &[&str]) -> Option<Value> {
    let script = "for kind in user mnt pid net ipc uts cgroup; do \
                  echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done; exec \"$@\"";
    let done = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "sh",
            "-c",
            script,
            "sh",
            PROGRAM,
            "outer",
            "run",
        ])
        .arg(serde_json::to_string(confinement).unwrap())
        .args(command)
        .output();
    match done {
        Ok(done) if done.status.success() => Some(serde_json::from_slice(&done.stdout).unwrap()),
        other => {
            println!("SKIPPED: no place without namespaces can be made here: {other:?}");
            None
        }
    }
}

#[test]
fn a_missing_layer_refuses() {
    if let Some(answer) = without_namespaces(&plugin(), &["true"]) {
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains("pid_namespace"), "{error}");
        assert!(error.contains("nothing was started"), "{error}");
    }
}

#[test]
fn degraded_it_still_holds_files_network_and_signals() {
    let script = "echo started; \
                  cat /etc/passwd && echo read; \
                  echo x > /tmp/blastshield-degraded && echo wrote; \
                  kill -0 $PPID && echo signalled; \
                  setsid true && echo left; \
                  exit 7";
    let Some(answer) = without_namespaces(&degraded(), &["sh", "-c", script]) else {
        return;
    };
    assert_eq!(answer["stdout"], "started\n");
    assert_eq!(answer["exit"], serde_json::json!({ "Code": 7 }));
    let state = |layer: &str| {
        answer["layers"][layer]["state"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(state("mount_namespace"), "missing");
    assert_eq!(state("network_namespace"), "missing");
    assert_eq!(state("landlock_files"), "holds");
    assert_eq!(state("seccomp"), "holds");
}

#[test]
fn degraded_nothing_outlives_the_command() {
    // The orphan keeps the stream open: the run only ends when it is gone.
    let Some(answer) = without_namespaces(&degraded(), &["sh", "-c", "(sleep 300 &); echo done"])
    else {
        return;
    };
    assert_eq!(answer["stdout"], "done\n");
    assert_eq!(answer["exit"], serde_json::json!({ "Code": 0 }));
}
