//! One Chromium process with all its children: started in a group of its own, with its own profile and no inherited
//! environment; gone with both when this ends.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tempfile::TempDir;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::error::LaunchError;
use crate::flags;
use crate::options::ChromiumOptions;

/// Bounds the memory, moves the pipes to where Chromium expects its protocol, and becomes Chromium.
const SCRIPT: &str =
    r#"ulimit -c 0; ulimit -d "$1"; shift; exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// How long a killed process may take to be gone.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    profile: Option<TempDir>,
}

impl Process {
    /// Starts Chromium. Its protocol is spoken through the two pipes.
    pub(crate) fn start(
        binary: &Path,
        options: &ChromiumOptions,
        nowhere: SocketAddr,
    ) -> Result<(Self, ChildStdin, ChildStdout), LaunchError> {
        let profile = tempfile::Builder::new()
            .prefix("blastshield-render-")
            .tempdir()
            .map_err(|_| LaunchError::Profile)?;
        let home = profile.path();
        let memory_kib = u64::from(options.process_memory_mib).saturating_mul(1024);
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(memory_kib.to_string())
            .arg(binary)
            .args(flags::all(options, home, nowhere))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("XDG_CONFIG_HOME", home)
            .env("XDG_CACHE_HOME", home)
            .env("XDG_RUNTIME_DIR", home)
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .env("DBUS_SYSTEM_BUS_ADDRESS", "disabled:")
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|_| LaunchError::Spawn)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let process = Self {
            child,
            group,
            profile: Some(profile),
        };
        let (input, output) = pipes.ok_or(LaunchError::Spawn)?;
        Ok((process, input, output))
    }

    /// Waits a little for its own end, without collecting it.
    pub(crate) async fn settle(&self) {
        let Some(leader) = self.group else { return };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        for _ in 0..TRIES {
            if !matches!(waitid(WaitId::Pid(leader), look), Ok(None)) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Kills what is left of it and removes its profile.
    pub(crate) async fn end(mut self) {
        self.kill();
        // It has been killed; waiting only collects it.
        let _ = self.child.wait().await;
        let profile = self.profile.take();
        let removal = tokio::task::spawn_blocking(move || profile.map(remove));
        let _ = removal.await;
    }

    /// Kills the whole group. Its leader has not been collected before, so the number still means this group.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // An error means that nobody is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let Some(profile) = self.profile.take() else {
            return;
        };
        for _ in 0..TRIES {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(PAUSE);
        }
        remove(profile);
    }
}

/// Processes that were just killed may still hold the directory for a moment.
fn remove(profile: TempDir) {
    let path = profile.keep();
    for _ in 0..TRIES {
        if std::fs::remove_dir_all(&path).is_ok() || !path.exists() {
            return;
        }
        thread::sleep(PAUSE);
    }
    tracing::warn!("a browser profile could not be removed");
}
