//! Every attempt of the escaping program is stopped, in both roles, and the ones that can be shown to work outside are.

use crate::scene::Scene;
use crate::{PROGRAM, bounds, launcher, plugin, words};
use blastshield_sandbox::{Confinement, Exit, Layer, Missing, Network};
use serde_json::Value;
use std::io::Read;
use std::process::Command;

/// Shown to work where nothing stops them, by group. Some need root to show anything.
const CONTROLS: &[(&str, bool)] = &[
    ("read_accounts", false),
    ("read_ssh_key", false),
    ("list_outside", false),
    ("write_outside", false),
    ("write_read_only", false),
    ("change_read_only", false),
    ("dot_dot", false),
    ("link_out", false),
    ("hard_link_out", false),
    ("rename_in", false),
    ("rename_out", false),
    ("truncate_outside", false),
    ("list_root", false),
    ("own_folder_upward", false),
    ("make_device", true),
    ("make_setuid", false),
    ("make_setuid_at_once", false),
    ("make_setuid_newly", false),
    ("kernel_settings", true),
    ("sysfs", false),
    ("signal_victim", false),
    ("signal_parent", false),
    ("signal_everybody", false),
    ("signal_by_handle", false),
    ("trace_victim", true),
    ("read_memory_of_victim", true),
    ("memory_file_of_victim", true),
    ("environment_of_victim", false),
    ("command_line_of_victim", false),
    ("descriptor_of_victim", true),
    ("count_processes", false),
    ("inherited_descriptors", false),
    ("inherited_environment", false),
    ("become_root", true),
    ("capabilities", true),
    ("forget_the_parent", false),
    ("type_into_terminal", false),
    ("connect_loopback", false),
    ("send_datagram", false),
    ("listen", false),
    ("connect_abstract", false),
    ("connect_socket_file", false),
    ("raw_socket", true),
    ("packet_socket", true),
    ("netlink_socket", false),
    ("odd_family", false),
    ("io_uring_setup", false),
    ("landlock_create", false),
    ("keyctl", false),
    ("add_key", false),
    ("memfd_create", false),
    ("bpf", true),
    ("mount", true),
    ("unshare_user", false),
    ("personality", false),
    ("clone_user", false),
    ("clone3_user", false),
    ("seccomp", false),
    ("prctl_seccomp", false),
    ("shared_segment", false),
    ("priority", false),
];

fn names() -> Vec<String> {
    let list = Command::new(PROGRAM).arg("list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    list.lines().map(str::to_owned).collect()
}

/// What one attempt said, or how it ended.
fn judged(name: &str, exit: Exit, said: &[u8]) -> (String, String) {
    match serde_json::from_slice::<Value>(said) {
        Ok(line) => {
            assert_eq!(line["name"], name);
            (
                line["how"].as_str().unwrap().to_owned(),
                line["detail"].as_str().unwrap().to_owned(),
            )
        }
        Err(_) => ("ended".to_owned(), format!("{exit:?}")),
    }
}

/// Which layer that was, as far as can be told from what the kernel said.
fn layer(detail: &str) -> &'static str {
    let telling = [
        ("Signal(31)", "seccomp kills"),
        ("Signal(24)", "processor limit"),
        ("Signal(9)", "limit or seccomp kills"),
        ("os error 13", "Landlock"),
        ("os error 2)", "view of files"),
        ("os error 30", "read-only mount"),
        ("os error 18", "mount border"),
        ("os error 38", "seccomp, as if unknown"),
        ("os error 1)", "seccomp or rights"),
        ("os error 3)", "process table"),
        ("os error 101", "network namespace"),
        ("os error 111", "network namespace"),
        ("os error 11)", "process limit"),
        ("os error 12)", "memory limit"),
        ("os error 24", "descriptor limit"),
        ("os error 27", "file size limit"),
        ("os error 28", "scratch size"),
    ];
    telling
        .into_iter()
        .find(|(said, _)| detail.contains(said))
        .map_or("nothing to find", |(_, layer)| layer)
}

/// Everything that was not stopped.
fn report(role: &str, outcomes: &[(String, String, String)]) {
    let mut escaped = Vec::new();
    for (name, how, detail) in outcomes {
        println!("{role:7} {name:26} {how:8} {:24} {detail}", layer(detail));
        let fine = match how.as_str() {
            "stopped" => true,
            "ended" => detail.starts_with("Signal("),
            _ => false,
        };
        if !fine {
            escaped.push(format!("{name}: {how} ({detail})"));
        }
    }
    assert!(outcomes.len() >= 100, "only {} attempts", outcomes.len());
    assert!(escaped.is_empty(), "{role}: {}", escaped.join("; "));
}

#[test]
fn a_worker_does_not_escape() {
    let mut scene = Scene::new();
    let confinement = scene.confined(Confinement::worker());
    let outcomes: Vec<_> = names()
        .into_iter()
        .map(|name| {
            let job = format!("attempt {name} {}", scene.facts(true, false));
            let mut child = launcher().worker(&job, &confinement).unwrap();
            assert!(child.layers().holds(Layer::ResourceLimits));
            assert!(child.layers().holds(Layer::ProcessLimit));
            let mut said = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
            let (how, detail) = judged(&name, child.wait().unwrap(), &said);
            (name, how, detail)
        })
        .collect();
    report("worker", &outcomes);
    scene.assert_intact();
}

#[test]
fn a_plugin_does_not_escape() {
    let mut scene = Scene::new();
    let confinement = scene.confined(plugin());
    let facts = scene.facts(true, false);
    let outcomes: Vec<_> = names()
        .into_iter()
        .map(|name| {
            let command = words([PROGRAM, "attempt", &name, &facts]);
            let done = launcher()
                .run(&command, &confinement, bounds(), b"", |_| {})
                .unwrap();
            assert!(done.layers.holds(Layer::ResourceLimits));
            assert!(done.layers.holds(Layer::ProcessLimit));
            let (how, detail) = judged(&name, done.exit, &done.stdout);
            (name, how, detail)
        })
        .collect();
    report("plugin", &outcomes);
    scene.assert_intact();
}

/// Attempts on the network, and whether one is stopped with the proxy as the only way out, and with the whole network.
const NETWORK: &[(&str, bool, bool)] = &[
    ("connect_loopback", true, false),
    ("connect_metadata", true, false),
    ("connect_public", true, false),
    ("connect_private", true, false),
    ("send_datagram", true, false),
    ("resolve_name", true, false),
    ("connect_abstract", true, true),
    ("connect_socket_file", true, true),
    ("raw_socket", true, true),
    ("packet_socket", true, true),
    ("netlink_socket", true, true),
    ("vsock_socket", true, true),
    ("crypto_socket", true, true),
    ("key_socket", true, true),
    ("express_socket", true, true),
];

#[test]
fn a_way_out_is_no_way_around() {
    let scene = Scene::new();
    let facts = scene.facts(true, false);
    for network in [Network::Proxied, Network::Full] {
        let confinement = scene.confined(plugin()).network(network);
        for (name, proxied, full) in NETWORK {
            let stopped = match network {
                Network::Proxied => *proxied,
                _ => *full,
            };
            // What is not stopped would leave the machine.
            if !stopped {
                continue;
            }
            let command = words([PROGRAM, "attempt", name, &facts]);
            let done = launcher()
                .run(&command, &confinement, bounds(), b"", drop)
                .unwrap();
            let (how, detail) = judged(name, done.exit, &done.stdout);
            assert_eq!(how, "stopped", "{network:?} {name}: {detail}");
        }
    }
}

/// What cannot be stopped where no namespace can be made, and is told as missing.
const NEEDS_NAMESPACES: &[&str] = &[
    // Names and existence are no secret to Landlock.
    "docker_socket",
    // It is root of the place without namespaces; its capabilities are gone.
    "become_root",
    // The kernel says yes to a signal for everybody even when nobody may be signalled.
    "signal_everybody",
    // Bounded per process, and the number of processes is not.
    "fork_bomb",
    "thread_bomb",
];

#[test]
fn without_namespaces_the_other_layers_hold_alone() {
    let mut scene = Scene::new();
    let confinement = scene.confined(plugin()).missing(Missing::Degrade);
    let facts = scene.facts(true, false);
    let mut outcomes = Vec::new();
    for name in names() {
        if NEEDS_NAMESPACES.contains(&name.as_str()) {
            continue;
        }
        let command = [PROGRAM, "attempt", &name, &facts];
        let Some(answer) = crate::layers::without_namespaces(&confinement, &command) else {
            return;
        };
        assert_eq!(answer["layers"]["user_namespace"]["state"], "missing");
        let exit: Exit = serde_json::from_value(answer["exit"].clone()).unwrap();
        let said = answer["stdout"].as_str().unwrap();
        let (how, detail) = judged(&name, exit, said.as_bytes());
        outcomes.push((name, how, detail));
    }
    report("alone", &outcomes);
    scene.assert_intact();
}

#[test]
fn outside_the_same_attempts_work() {
    let root = rustix::process::geteuid().is_root();
    let mut failed = Vec::new();
    for (name, needs_root) in CONTROLS {
        if *needs_root && !root {
            println!("not shown without root: {name}");
            continue;
        }
        // Each changes the scene.
        let scene = Scene::new();
        let done = Command::new(PROGRAM)
            .args(["attempt", name, &scene.facts(false, true)])
            .output()
            .unwrap();
        let said: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        if said["how"] != "escaped" {
            failed.push(format!("{name}: {said}"));
        }
    }
    assert!(failed.is_empty(), "would be stopped anyway: {failed:?}");
}
