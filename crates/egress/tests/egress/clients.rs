//! Programs that people use, through the proxy. One that is not installed here is named and left out.

use crate::intercepting::secure;
use crate::origin::{Origin, reply};
use crate::world::{Plan, World, YES, list};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// A command with no settings of whoever runs the tests.
pub(crate) fn command(program: &str, world: &World, home: &Path) -> Command {
    let proxy = format!("http://{}", world.address);
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(std::env::vars().filter(|(name, _)| name == "PATH" || name.starts_with("PYENV")))
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "HTTP_PROXY"] {
        command.env(name, &proxy);
    }
    command
}

/// What it said, and whether it ended well; nothing when it is not installed.
pub(crate) async fn run(command: &mut Command) -> Option<(bool, String)> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let output = match tokio::time::timeout(Duration::from_secs(60), command.output())
        .await
        .expect("ends in time")
    {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: {program} cannot be run here ({})", error.kind());
            return None;
        }
    };
    let said = [output.stdout, b"\n--\n".to_vec(), output.stderr].concat();
    Some((
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    ))
}

pub(crate) fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn keep(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_over_http_and_https() {
    let (plain, tls) = (
        Origin::new(|_| reply("text/plain", "plainly")).await,
        secure("allowed.test").await,
    );
    let world = World::with(Plan {
        tls: blastshield_egress::TlsRules::default(),
        ..Plan::default()
    })
    .await;
    let home = home();
    let pem = keep(home.path(), "origin.pem", &tls.pem);
    let curl = |url: &str| {
        let mut curl = command("curl", &world, home.path());
        curl.args(["-sS", "--max-time", "20", "--cacert"])
            .arg(&pem)
            .arg(url);
        curl
    };
    let Some((good, said)) = run(&mut curl(&plain.url("allowed.test", "/"))).await else {
        return;
    };
    assert!(good && said.contains("plainly"), "{said}");
    let (good, said) = run(&mut curl(&format!("https://allowed.test:{}/", tls.port)))
        .await
        .unwrap();
    assert!(good && said.contains("fine"), "{said}");
    let (good, said) = run(&mut curl("https://bad.test/")).await.unwrap();
    assert!(!good && said.contains("403"), "{said}");
    // The name in the greeting differs from the tunnel's: what fronting would look like.
    let mut fronting = curl(&format!("https://bad.test:{}/", tls.port));
    fronting
        .arg("--connect-to")
        .arg(format!("bad.test:{0}:allowed.test:{0}", tls.port));
    let (good, _) = run(&mut fronting).await.unwrap();
    assert!(!good && tls.asked.lock().unwrap().len() == 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_with_and_without_trust_in_the_local_authority() {
    let origin = secure("open.test").await;
    let world = World::with(Plan {
        intercept: list("open.test"),
        roots: origin.pem.clone().into_bytes(),
        ..Plan::default()
    })
    .await;
    let home = home();
    let ca = world.ca.as_ref().unwrap().path().to_owned();
    let url = format!("https://open.test:{}/", origin.port);
    let curl = |url: &str, ca: Option<&Path>| {
        let mut curl = command("curl", &world, home.path());
        curl.args(["-sS", "--max-time", "20", "-i", url]);
        if let Some(ca) = ca {
            curl.arg("--cacert").arg(ca);
        }
        curl
    };
    let Some((good, said)) = run(&mut curl(&url, Some(&ca))).await else {
        return;
    };
    assert!(good && said.contains("fine"), "{said}");
    let (good, said) = run(&mut curl(&format!("{url}bad"), Some(&ca)))
        .await
        .unwrap();
    assert!(
        good && said.contains("content_blocked") && !said.contains("Ignore all"),
        "{said}"
    );
    let (good, _) = run(&mut curl(&url, None)).await.unwrap();
    assert!(!good);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_asks_and_the_owner_answers() {
    let origin = Origin::new(|_| reply("application/json", "{\"answer\": 42}")).await;
    let world = Arc::new(World::new().await);
    let home = home();
    let script = "
import sys
try:
    import requests
    print(requests.get(sys.argv[1], timeout=20).json()['answer'])
except ImportError:
    import json, urllib.request
    print(json.load(urllib.request.urlopen(sys.argv[1], timeout=20))['answer'])
";
    let mut python = command("python3", &world, home.path());
    python.args(["-c", script, &origin.url("other.test", "/")]);
    let asking = tokio::spawn(async move { run(&mut python).await });
    let owner = Arc::clone(&world);
    let answering = tokio::spawn(async move {
        let request = owner.question().await;
        owner.answer(request.id.as_str(), YES).await;
    });
    let Some((good, said)) = asking.await.unwrap() else {
        answering.abort();
        return;
    };
    answering.await.unwrap();
    assert!(good && said.starts_with("42"), "{said}");
}

/// Serves the files of a folder.
async fn files(folder: PathBuf) -> Origin {
    Origin::new(move |path| {
        let path = path.split('?').next().unwrap().trim_start_matches('/');
        let mut file = folder.join(path);
        if file.is_dir() {
            file.push("index.html");
        }
        let media = match file.extension().and_then(|e| e.to_str()) {
            Some("html") => "text/html",
            Some("whl") => "application/zip",
            _ => "application/octet-stream",
        };
        match std::fs::read(&file) {
            Ok(bytes) => reply(media, bytes),
            Err(_) => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_clones() {
    let home = home();
    let world = World::new().await;
    let make = "
set -e
git init -q work && cd work
printf 'bread\\n' > recipe.txt
git -c user.name=a -c user.email=a@b.invalid add recipe.txt
git -c user.name=a -c user.email=a@b.invalid commit -q -m first
cd .. && git clone -q --bare work repo.git
git -C repo.git update-server-info
";
    let mut git = command("git", &world, home.path());
    if run(git.arg("--version")).await.is_none() {
        return;
    }
    let mut setup = command("sh", &world, home.path());
    let (good, said) = run(setup.args(["-c", make]).current_dir(home.path()))
        .await
        .unwrap();
    assert!(good, "{said}");
    let origin = files(home.path().to_owned()).await;
    let mut clone = command("git", &world, home.path());
    clone
        .args([
            "clone",
            "-q",
            &origin.url("allowed.test", "/repo.git"),
            "copy",
        ])
        .current_dir(home.path());
    let (good, said) = run(&mut clone).await.unwrap();
    assert!(good, "{said}");
    assert_eq!(
        std::fs::read_to_string(home.path().join("copy/recipe.txt")).unwrap(),
        "bread\n"
    );
    let mut refused = command("git", &world, home.path());
    refused
        .args(["clone", "-q", &origin.url("bad.test", "/repo.git"), "other"])
        .current_dir(home.path());
    let (good, said) = run(&mut refused).await.unwrap();
    assert!(!good && said.contains("403"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pip_installs() {
    let home = home();
    let world = World::new().await;
    let make = "
import zipfile, os
os.makedirs('simple/tinybread')
name = 'tinybread-1.0-py3-none-any.whl'
with zipfile.ZipFile('simple/tinybread/' + name, 'w') as wheel:
    wheel.writestr('tinybread.py', 'FLOUR = 1\\n')
    wheel.writestr('tinybread-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tinybread\\nVersion: 1.0\\n')
    wheel.writestr('tinybread-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('tinybread-1.0.dist-info/RECORD', '')
open('simple/tinybread/index.html', 'w').write(f'<!DOCTYPE html><html><body><a href=\"{name}\">{name}</a></body></html>')
";
    let mut python = command("python3", &world, home.path());
    let Some((true, _)) = run(python.args(["-c", make]).current_dir(home.path())).await else {
        eprintln!("SKIPPED: no Python here");
        return;
    };
    let mut version = command("python3", &world, home.path());
    if !matches!(
        run(version.args(["-m", "pip", "--version"])).await,
        Some((true, _))
    ) {
        eprintln!("SKIPPED: no pip here");
        return;
    }
    let origin = files(home.path().to_owned()).await;
    let mut pip = command("python3", &world, home.path());
    pip.args([
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--target",
        "out",
    ])
    .args([
        "--trusted-host",
        "allowed.test",
        "--index-url",
        &origin.url("allowed.test", "/simple/"),
        "tinybread",
    ])
    .current_dir(home.path());
    let (good, said) = run(&mut pip).await.unwrap();
    assert!(
        good && home.path().join("out/tinybread.py").exists(),
        "{said}"
    );
}
