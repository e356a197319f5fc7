//! The sandbox and what is exported, as a person runs them.

use crate::{code, command, run, text};
use serde_json::Value;
use std::path::Path;

fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn check_tells_every_layer() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["sandbox", "check", "--json"]);
    let answer = json(&output);
    assert_eq!(answer["layers"].as_object().unwrap().len(), 17);
    assert_eq!(answer["layers"]["seccomp"]["state"], "holds");
    let expected = if answer["confines"] == true { 0 } else { 1 };
    assert_eq!(code(&output), expected);
    let shown = run(folder.path(), &["sandbox", "check"]);
    assert!(text(&shown.stdout).contains("landlock_files"));
}

/// A run with what this machine has; its shortcomings are the business of the crate's own tests.
fn sandboxed(folder: &Path, options: &[&str], script: &str) -> std::process::Output {
    let mut arguments = vec!["sandbox", "run", "--missing", "degrade"];
    arguments.extend(options);
    arguments.extend(["--", "sh", "-c", script]);
    run(folder, &arguments)
}

#[test]
fn a_command_runs_confined_and_its_code_is_ours() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    let path = folder.path().canonicalize().unwrap();
    let script = format!(
        "echo out; echo err >&2; cat {0}/secret /etc/passwd 2>/dev/null && exit 9; echo made > made; exit 3",
        path.display()
    );
    let output = sandboxed(folder.path(), &["--write", "work"], &script);
    assert_eq!(text(&output.stdout), "out\n");
    assert!(text(&output.stderr).starts_with("err\n"));
    assert_eq!(code(&output), 3);
    assert_eq!(std::fs::read(path.join("work/made")).unwrap(), b"made\n");
}

#[test]
fn json_says_result_error_and_whether_time_was_up() {
    let folder = tempfile::tempdir().unwrap();
    let output = sandboxed(
        folder.path(),
        &["--json", "--env", "A=b"],
        "echo $A; exit 2",
    );
    let answer = json(&output);
    assert_eq!(answer["result"]["stdout"], "b\n");
    assert_eq!(answer["result"]["exitCode"], 2);
    assert_eq!(answer["timedOut"], false);
    assert!(answer.get("error").is_none());
    // Nothing else is in it, where every layer holds.
    let mut names: Vec<&String> = answer.as_object().unwrap().keys().collect();
    names.retain(|name| *name != "missingLayers");
    assert_eq!(names, ["result", "timedOut"]);
    let all_hold = json(&run(folder.path(), &["sandbox", "check", "--json"]))["confines"] == true;
    assert!(
        !all_hold || answer.get("missingLayers").is_none(),
        "{answer}"
    );
    assert_eq!(code(&output), 2);

    let output = sandboxed(
        folder.path(),
        &["--json", "--timeout", "200ms"],
        "sleep 100",
    );
    let answer = json(&output);
    assert_eq!(answer["timedOut"], true);
    assert!(answer["error"].is_string());
    assert_eq!(code(&output), 124);

    let output = sandboxed(folder.path(), &["--json", "--output", "1K"], "yes");
    let answer = json(&output);
    assert_eq!(answer["result"]["stdout"].as_str().unwrap().len(), 1024);
    assert!(answer["error"].as_str().unwrap().contains("too much"));
    assert_eq!(code(&output), 125);

    let none = run(
        folder.path(),
        &["sandbox", "run", "--json", "--read", "/", "--", "true"],
    );
    assert!(json(&none)["error"].is_string());
    assert!(json(&none).get("result").is_none());
    assert_eq!(code(&none), 125);
}

#[test]
fn input_is_given_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "hello").unwrap();
    let output = sandboxed(folder.path(), &["--input", "in"], "cat; cat");
    assert_eq!(text(&output.stdout), "hello");
    let output = sandboxed(folder.path(), &[], "cat; echo end");
    assert_eq!(text(&output.stdout), "end\n");
}

#[test]
fn domains_need_the_allowlist() {
    let folder = tempfile::tempdir().unwrap();
    let output = sandboxed(folder.path(), &["--allow-domain", "example.org"], "true");
    assert_eq!(code(&output), 125);
    assert!(text(&output.stderr).contains("--network allowlist"));
}

#[test]
fn the_launcher_s_door_leads_nowhere_without_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &["--blastshield-confine-from-stdin"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(code(&output), 125);
    assert!(output.stdout.is_empty());
}

/// What ships in `deploy/` is what the commands print.
#[cfg(target_arch = "x86_64")]
#[test]
fn exports_in_deploy_are_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let exports: [(&str, &[&str]); 2] = [
        ("seccomp.json", &["export", "seccomp"]),
        ("squid.conf", &["export", "squid"]),
    ];
    for (file, arguments) in exports {
        let printed = run(folder.path(), arguments);
        assert_eq!(code(&printed), 0);
        let shipped = std::fs::read(deploy.join(file)).unwrap();
        assert!(
            printed.stdout == shipped,
            "deploy/{file} is old: blastshield {} > deploy/{file}",
            arguments.join(" ")
        );
    }
}

#[test]
fn only_the_given_domains_are_reached() {
    let folder = tempfile::tempdir().unwrap();
    // The second is on the agents' allowlist, which is not the plugin's.
    let script = "for host in denied.example api.openai.com; do \
                  exec 3<>/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:}; \
                  printf 'CONNECT %s:443 HTTP/1.1\\r\\nHost: %s:443\\r\\n\\r\\n' $host $host >&3; \
                  head -c 12 <&3; echo; exec 3>&-; done";
    let output = run(
        folder.path(),
        &[
            "sandbox",
            "run",
            "--network",
            "allowlist",
            "--allow-domain",
            "allowed.example",
            "--",
            "bash",
            "-c",
            script,
        ],
    );
    assert_eq!(
        text(&output.stdout),
        "HTTP/1.1 403\nHTTP/1.1 403\n",
        "{output:?}"
    );
}

#[test]
fn the_data_folder_cannot_be_given() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let output = sandboxed(folder.path(), &["--write", "."], "true");
    assert_eq!(code(&output), 125);
    assert!(text(&output.stderr).contains("data folder"));
}
