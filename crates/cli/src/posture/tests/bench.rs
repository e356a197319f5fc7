//! A deployment in a temporary folder with nothing wrong about it, and ways to spoil it.

use crate::posture::scene::Scene;
use blastshield_audit::{Event, Log, SystemClock, log};
use blastshield_config::Values;
use blastshield_leak::Scanner;
use blastshield_store::{Store, StoreOptions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// One change to the deployment. Paths are below its folder.
#[derive(Clone)]
pub(super) enum Change {
    /// A variable; `@/` before a path is the folder.
    Var(&'static str, &'static str),
    Unset(&'static str),
    /// Settings as if by `--set`.
    Flag(&'static str, &'static str),
    Mode(&'static str, u32),
    Write(&'static str, String),
    Remove(&'static str),
    /// Moves a file away and leaves a link to it.
    Link(&'static str),
    /// Gives it to another user.
    Give(&'static str),
    /// Sets a part of OpenClaw's configuration.
    Claw(&'static str, Value),
    Scene(fn(&mut Scene)),
}

/// A secret with nothing wrong about it.
pub(super) fn token(seed: &str) -> String {
    blastshield_audit::Digest::of(seed.as_bytes()).to_string()
}

/// What takes long to make, made once.
pub(super) struct Bench {
    made: TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        let made = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let database = made.path().join("blastshield.db");
        runtime.block_on(async {
            let store = Store::open(StoreOptions::sqlite(database)).await.unwrap();
            store.close().await;
        });
        let folder = made.path().join("logs");
        let redact = Arc::new(Scanner::shipped());
        let log = Log::open(
            &folder,
            log::Options::default(),
            redact,
            Arc::new(SystemClock),
        )
        .unwrap();
        let event = Event::ConfigChanged {
            key: "fail_closed",
            by: "owner",
        };
        log.append(&event).unwrap();
        drop(log);
        machine(made.path());
        Self { made }
    }

    /// A good deployment with these changes.
    pub(super) fn scene(&self, changes: &[Change]) -> (TempDir, Scene) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        self.lay_out(root);
        let mut variables = variables(root);
        let mut flags = Vec::new();
        let mut late: Vec<fn(&mut Scene)> = vec![settle];
        for change in changes {
            match change.clone() {
                Change::Var(name, value) => {
                    let value = match value.strip_prefix("@/") {
                        Some(path) => root.join(path).to_str().unwrap().to_owned(),
                        None => value.to_owned(),
                    };
                    variables.insert(name.to_owned(), value);
                }
                Change::Unset(name) => drop(variables.remove(name)),
                Change::Flag(key, value) => flags.push((key, value)),
                Change::Mode(path, mode) => chmod(&root.join(path), mode),
                Change::Write(path, text) => {
                    if path.starts_with("machine/") {
                        machine(root);
                    }
                    write(&root.join(path), &text);
                }
                Change::Remove(path) => fs::remove_file(root.join(path)).unwrap(),
                Change::Link(path) => {
                    let moved = root.join("moved");
                    fs::rename(root.join(path), &moved).unwrap();
                    symlink(&moved, root.join(path)).unwrap();
                }
                Change::Give(path) if rustix::process::geteuid().is_root() => {
                    std::os::unix::fs::chown(root.join(path), Some(12345), None).unwrap();
                }
                Change::Give(_) => late.push(|scene| scene.user += 1),
                Change::Claw(path, value) => {
                    let place = root.join("openclaw.json");
                    let mut config =
                        serde_json::from_str(&fs::read_to_string(&place).unwrap()).unwrap();
                    set(&mut config, path, value);
                    write(&place, &config.to_string());
                }
                Change::Scene(change) => late.push(change),
            }
        }
        let config = root.join("blastshield.toml");
        let text = fs::read_to_string(&config).unwrap();
        let mut values = Values::read(Some(&text), variables.clone()).unwrap();
        for (key, value) in flags {
            values.set_flag(key, value.to_owned()).unwrap();
        }
        let claw = root.join("openclaw.json");
        let claw = claw.exists().then_some(claw.as_path());
        let mut scene = Scene::of(values, config, variables.into_iter().collect(), claw).unwrap();
        let changed = root.join("machine");
        scene.machine = if changed.exists() {
            changed
        } else {
            self.made.path().join("machine")
        };
        for change in late {
            change(&mut scene);
        }
        (folder, scene)
    }

    fn lay_out(&self, root: &Path) {
        for path in ["data/blastshield.db", "data/logs"] {
            let from = self.made.path().join(Path::new(path).file_name().unwrap());
            copy(&from, &root.join(path));
        }
        chmod(&root.join("data"), 0o700);
        write(&root.join("data/owner-token"), &token("owner"));
        write(&root.join("data/logs/access.jsonl"), "{}\n");
        write(
            &root.join("blastshield.toml"),
            "[policy]\nprofile = \"strict\"\n",
        );
        write(&root.join("known.txt"), "x\n");
        write(&root.join("prompt.md"), "You are kind.\n");
        write(&root.join("authority.pem"), "x\n");
        write(&root.join("browser"), "x\n");
        write(&root.join("openclaw.json"), &openclaw().to_string());
    }
}

/// The files of a kernel with nothing wrong about it.
fn machine(root: &Path) {
    for (path, text) in [
        ("proc/self/status", "Name:\tx\nSeccomp:\t0\n"),
        (
            "proc/self/limits",
            "Limit  Soft  Hard\nMax core file size        0    unlimited    bytes\n",
        ),
        ("proc/sys/kernel/core_pattern", "core\n"),
        ("proc/sys/kernel/yama/ptrace_scope", "1\n"),
        ("proc/sys/kernel/unprivileged_bpf_disabled", "2\n"),
        ("proc/sys/kernel/unprivileged_userns_clone", "1\n"),
        ("proc/sys/kernel/randomize_va_space", "2\n"),
        ("proc/sys/fs/protected_symlinks", "1\n"),
        ("sys/kernel/security/lsm", "capability,landlock,yama\n"),
    ] {
        write(&root.join("machine").join(path), text);
    }
}

/// Whatever this machine is like, it is like this.
fn settle(scene: &mut Scene) {
    scene.root = false;
    scene.space = Some((100 << 30, 200 << 30));
    scene.inodes = Some((1 << 20, 1 << 21));
}

fn variables(root: &Path) -> BTreeMap<String, String> {
    let here = |path: &str| root.join(path).to_str().unwrap().to_owned();
    [
        ("BLASTSHIELD_DATA_DIR", here("data")),
        ("BLASTSHIELD_AGENT_TOKEN", token("agent")),
        (
            "BLASTSHIELD_ALERT_WEBHOOK_URL",
            "https://alerts.example/x".to_owned(),
        ),
        ("BLASTSHIELD_ALERT_WEBHOOK_SECRET", token("webhook")),
        (
            "TELEGRAM_BOT_TOKEN",
            format!("123456:{}", token("telegram")),
        ),
        ("TELEGRAM_OWNER_ID", "777000111".to_owned()),
        ("BLASTSHIELD_SECRET_FILES", here("known.txt")),
        ("BLASTSHIELD_PROMPT_FILES", here("prompt.md")),
        (
            "CLAWRUBBER_WEBSITE_RENDERER_BACKEND",
            "browserless".to_owned(),
        ),
        (
            "CLAWRUBBER_BROWSERLESS_URL",
            "https://render.example".to_owned(),
        ),
        ("CLAWRUBBER_BROWSERLESS_TOKEN", token("render")),
        ("CLAWRUBBER_BRAVE_API_KEY", token("brave")),
        (
            "CLAWRUBBER_SEARXNG_BASE_URL",
            "https://search.example".to_owned(),
        ),
        ("CLAWRUBBER_LLM_JUDGE_ENABLED", "true".to_owned()),
        ("CLAWRUBBER_LLM_PROVIDER", "ollama".to_owned()),
        ("CLAWRUBBER_LLM_MODEL", "large".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

fn openclaw() -> Value {
    json!({
        "gateway": {
            "bind": "loopback", "auth": {"mode": "token", "token": "${GATEWAY_TOKEN}"}, "tailscale": {"mode": "off"},
            "controlUi": {"allowedOrigins": ["https://me.example"]},
        },
        "channels": {"telegram": {"dmPolicy": "pairing", "groupPolicy": "allowlist", "allowFrom": ["123"], "accounts": {"two": {"dmPolicy": "pairing"}}}},
        "agents": {
            "defaults": {"sandbox": {"mode": "all", "docker": {"network": "none"}}, "model": {"primary": "anthropic/claude-opus-4-6"}},
            "list": [{"id": "main"}],
        },
        "tools": {
            "exec": {"security": "allowlist", "ask": "on-miss"}, "web": {"fetch": {"enabled": false}}, "fs": {"workspaceOnly": true},
            "elevated": {"allowFrom": {"telegram": ["123"]}},
        },
        "plugins": {"allow": ["a"], "entries": {"a": {"enabled": true}}, "installs": {"a": {"source": "npm", "spec": "@me/a@1.2.3"}}},
        "logging": {"redactSensitive": "tools"},
        "hooks": {"enabled": true, "token": "${HOOKS_TOKEN}"},
        "mcp": {"servers": {"one": {"url": "https://mcp.example/mcp"}}},
    })
}

fn set(config: &mut Value, path: &str, value: Value) {
    let mut place = config;
    for key in path.split('.') {
        place = match place {
            Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
            other => {
                if !other.is_object() {
                    *other = json!({});
                }
                other
                    .as_object_mut()
                    .unwrap()
                    .entry(key)
                    .or_insert(Value::Null)
            }
        };
    }
    *place = value;
}

pub(super) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn write(path: &Path, text: &str) {
    let folder: PathBuf = path.parent().unwrap().to_owned();
    if !folder.exists() {
        fs::create_dir_all(&folder).unwrap();
        chmod(&folder, 0o700);
    }
    fs::write(path, text).unwrap();
    chmod(path, 0o600);
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        chmod(to, 0o700);
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        chmod(to, 0o600);
    }
}
