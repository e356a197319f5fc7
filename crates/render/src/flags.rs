//! Where Chromium is, and what it is told on its command line.

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::error::LaunchError;
use crate::options::ChromiumOptions;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Features that talk to the network by themselves, or that need a person.
const DISABLED_FEATURES: &str = "AutofillServerCommunication,BackForwardCache,CertificateTransparencyComponentUpdater,\
DialMediaRouteProvider,DnsOverHttps,GlobalMediaControls,InterestFeedContentSuggestions,IsolateOrigins,\
LocalNetworkAccessChecks,MediaRouter,NetworkTimeServiceQuerying,OptimizationGuideModelDownloading,OptimizationHints,\
OptimizationHintsFetching,Prerender2,PrivacySandboxSettings4,SegmentationPlatform,Translate,WebBluetooth,WebUSB";

/// What never changes from browser to browser.
const FIXED: [&str; 45] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // No name is resolved here; only the door's own address may be dialled.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--enforce-webrtc-ip-permission-check",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--metrics-recording-only",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-notifications",
    "--disable-speech-api",
    "--deny-permission-prompts",
    "--disable-external-intent-requests",
    "--disable-print-preview",
    "--disable-prompt-on-repost",
    "--disable-hang-monitor",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-dev-shm-usage",
    "--disk-cache-size=1",
    "--media-cache-size=1",
    // One process per page: its frames share no secrets, and a page cannot multiply processes by naming sites.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=8",
    "--window-size=1280,1024",
    "--hide-scrollbars",
];

/// The executable to start.
pub(crate) fn find(options: &ChromiumOptions) -> Result<PathBuf, LaunchError> {
    let found = match &options.binary {
        Some(binary) => binary.is_file().then(|| binary.clone()),
        None => in_path(),
    };
    let found = found.ok_or(LaunchError::NotFound)?;
    Ok(behind_wrapper(&found).unwrap_or(found))
}

fn in_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// Debian's `/usr/bin/chromium` is a script that adds flags, extensions and keys of its own; we want none of them.
fn behind_wrapper(found: &Path) -> Option<PathBuf> {
    let name = found.file_name()?;
    let real = found.parent()?.parent()?.join("lib").join(name).join(name);
    (found.parent()?.ends_with("bin") && real.is_file()).then_some(real)
}

/// All of the command line. `nowhere` is a proxy that refuses everything: what belongs to no page gets nothing.
pub(crate) fn all(options: &ChromiumOptions, profile: &Path, nowhere: SocketAddr) -> Vec<String> {
    let mut flags: Vec<String> = FIXED.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--proxy-server=http://{nowhere}"));
    flags.push(format!("--disable-features={DISABLED_FEATURES}"));
    flags.push(format!("--user-data-dir={}", profile.display()));
    flags.push(format!(
        "--js-flags=--max-old-space-size={}",
        options.script_memory_mib
    ));
    if let Some(agent) = &options.user_agent {
        flags.push(format!("--user-agent={agent}"));
    }
    if options.no_sandbox {
        flags.push("--no-sandbox".to_owned());
    }
    flags.push("about:blank".to_owned());
    flags
}
