//! Browsers that die, wear out, or are shut down.

use std::path::PathBuf;
use std::time::Duration;

use blastshield_policy::HopPolicy;
use blastshield_render::{
    Chromium, ChromiumOptions, LaunchError, RenderError, RenderOptions, WaitUntil,
};
use blastshield_web::fixed_policy;
use url::Url;

use crate::origin::{Origin, Reply};
use crate::{launch, options, patient, procs, render};

async fn origin() -> Origin {
    Origin::start(|path, _| match path {
        "/endless" => {
            Reply::Drip("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>x".to_owned())
        }
        _ => Reply::Html("<p>fine".to_owned()),
    })
    .await
}

#[tokio::test]
async fn a_dead_browser_is_replaced_and_a_dead_page_is_an_error() {
    let Some(chromium) = launch(options()).await else {
        return;
    };
    let origin = origin().await;
    let (page, endless) = (
        origin.url("/"),
        Url::parse(&origin.url("/endless")).unwrap(),
    );
    render(&chromium, &page).await.unwrap();

    let first = procs::browser();
    procs::kill(first.pid);
    render(&chromium, &page).await.unwrap();
    assert!(chromium.reach().await.is_ok());
    let second = procs::browser();
    assert_ne!(first.pid, second.pid);

    // Killed under a page: that page fails, the next does not.
    let patience = patient(WaitUntil::Load);
    let killed = async {
        while !origin.seen().iter().any(|head| head.contains("/endless")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        procs::kill(second.pid);
    };
    let (outcome, ()) = tokio::join!(chromium.render(&endless, &patience), killed);
    assert_eq!(outcome, Err(RenderError::Browser));
    render(&chromium, &page).await.unwrap();

    // Only the page's process killed.
    let third = procs::browser();
    let killed = async {
        while origin
            .seen()
            .iter()
            .filter(|head| head.contains("/endless"))
            .count()
            < 2
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        for process in procs::descendants(third.pid) {
            if process.command.contains("--type=renderer") {
                procs::kill(process.pid);
            }
        }
    };
    let (outcome, ()) = tokio::join!(chromium.render(&endless, &patience), killed);
    assert_eq!(outcome, Err(RenderError::Crashed));
    render(&chromium, &page).await.unwrap();
    assert_eq!(procs::browser().pid, third.pid);

    chromium.shutdown().await;
    assert!(procs::children().is_empty());
    for profile in [&first, &second, &third].map(procs::profile) {
        assert!(!profile.exists());
    }
    assert_eq!(
        render(&chromium, &page).await,
        Err(RenderError::ShuttingDown)
    );
    assert_eq!(chromium.reach().await, Err(RenderError::ShuttingDown));
}

#[tokio::test]
async fn nothing_is_left_after_shutdown_or_drop() {
    for by_drop in [false, true] {
        let Some(chromium) = launch(options()).await else {
            return;
        };
        let origin = origin().await;
        render(&chromium, &origin.url("/")).await.unwrap();
        let browser = procs::browser();
        let profile = procs::profile(&browser);
        assert!(profile.exists());
        let mut pids: Vec<i32> = procs::descendants(browser.pid)
            .iter()
            .map(|p| p.pid)
            .collect();
        assert!(pids.len() > 1);
        pids.push(browser.pid);
        let running = chromium.clone();
        let url = Url::parse(&origin.url("/endless")).unwrap();
        let page =
            tokio::spawn(async move { running.render(&url, &patient(WaitUntil::Load)).await });
        tokio::time::sleep(Duration::from_millis(500)).await;
        if by_drop {
            page.abort();
            drop(chromium);
        } else {
            chromium.shutdown().await;
            assert!(!profile.exists());
            assert!(procs::children().is_empty());
            assert_eq!(page.await.unwrap(), Err(RenderError::ShuttingDown));
        }
        assert!(procs::gone(&pids).await);
        for _ in 0..100 {
            if !profile.exists() && procs::children().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(!profile.exists() && procs::children().is_empty());
        // Helpers that left the group, too.
        assert!(procs::none_names(&profile).await);
    }
}

#[test]
fn nothing_is_left_when_the_runtime_ends() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(chromium) = runtime.block_on(launch(options())) else {
        return;
    };
    let browser = procs::browser();
    let profile = procs::profile(&browser);
    let mut pids: Vec<i32> = procs::descendants(browser.pid)
        .iter()
        .map(|p| p.pid)
        .collect();
    pids.push(browser.pid);
    drop(runtime);
    assert!(!profile.exists());
    assert!(procs::children().is_empty());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert!(runtime.block_on(procs::gone(&pids)));
    drop(chromium);
}

#[tokio::test]
async fn browsers_wear_out_and_turns_are_limited() {
    let worn = ChromiumOptions {
        max_pages: 2,
        max_concurrent: 1,
        ..options()
    };
    let Some(chromium) = launch(worn).await else {
        return;
    };
    let origin = origin().await;
    let first = procs::browser();
    for _ in 0..3 {
        render(&chromium, &origin.url("/")).await.unwrap();
    }
    assert!(procs::gone(&[first.pid]).await);
    assert_ne!(procs::browser().pid, first.pid);

    let slow = Url::parse(&origin.url("/endless")).unwrap();
    let fast = Url::parse(&origin.url("/")).unwrap();
    let held = RenderOptions {
        timeout: Duration::from_secs(3),
        ..patient(WaitUntil::Load)
    };
    let brief = RenderOptions {
        timeout: Duration::from_secs(1),
        ..held.clone()
    };
    let (slow, fast) = tokio::join!(chromium.render(&slow, &held), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        chromium.render(&fast, &brief).await
    });
    assert_eq!(slow, Err(RenderError::Timeout));
    assert_eq!(fast, Err(RenderError::Busy));
}

#[tokio::test]
async fn what_cannot_run_says_why() {
    let policy = || fixed_policy(HopPolicy::default());
    let missing = ChromiumOptions {
        binary: Some(PathBuf::from("/nowhere/chromium")),
        no_sandbox: true,
        ..ChromiumOptions::new(policy())
    };
    assert_eq!(
        Chromium::launch(missing).await.err(),
        Some(LaunchError::NotFound)
    );
    let mute = ChromiumOptions {
        binary: Some(PathBuf::from("/bin/true")),
        no_sandbox: true,
        ..ChromiumOptions::new(policy())
    };
    assert_eq!(
        Chromium::launch(mute).await.err(),
        Some(LaunchError::Silent)
    );
    let as_root = ChromiumOptions {
        binary: Some(PathBuf::from("/bin/true")),
        ..ChromiumOptions::new(policy())
    };
    let refused = Chromium::new(as_root).err();
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(refused, is_root.then_some(LaunchError::RootNeedsNoSandbox));
}
