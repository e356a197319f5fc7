//! Dangerous settings of an OpenClaw that is found beside us.

mod agents;
mod config;
mod json5;

pub(crate) use config::Claw;

use super::check::{Check, Outcome, critical, found, found_any, info, warn};
use super::scene::Scene;
use super::secrets::is_guessable;
use super::services::is_open;
use agents::{
    denied, elevated, exec, plugins_unlisted, plugins_unpinned, sandbox_holes, sandbox_off,
    weak_models,
};
use blastshield_leak::Scope;
use config::{at, channels, dangerous, entries, text, texts, truth};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use url::Url;

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("openclaw.unreadable", "The OpenClaw configuration cannot be read or understood", "openclaw doctor", |s| match &s.claw {
        None => Outcome::NotHere,
        Some(claw) if claw.config.is_none() => found(claw.shown.clone()),
        Some(_) => Outcome::Fine,
    }),
    critical("openclaw.file_open", "Others may read or write the OpenClaw configuration", "chmod 600 on it (openclaw security audit --fix)", file_open),
    critical("openclaw.folder_open", "Others may write OpenClaw's folder, or read the secrets in it", "chmod 700 on the folder, 600 on .env in it (openclaw security audit --fix)", folder_open),
    info("openclaw.includes", "Parts of the OpenClaw configuration are in other files, which are not looked at here", "openclaw security audit --deep", |s| look(s, |config| has_include(config).then(|| "$include".to_owned()).into_iter().collect())),
    critical("openclaw.open_messages", "Anyone may write to the agent", "set dmPolicy to \"pairing\" or \"allowlist\"", |s| look(s, |config| channels_with(config, &["dmPolicy", "dm.policy"], "open"))),
    critical("openclaw.open_groups", "Any group may use the agent", "set groupPolicy to \"allowlist\"", |s| look(s, |config| channels_with(config, &["groupPolicy"], "open"))),
    critical("openclaw.everyone_allowed", "A list of senders holds *", "name the senders in allowFrom", |s| look(s, everyone)),
    critical("openclaw.exec_full", "The agent may run every command", "set tools.exec.security to \"allowlist\"", |s| look(s, |config| exec(config, &["security", "mode"], "full"))),
    warn("openclaw.exec_unasked", "Commands are run without asking", "set tools.exec.ask to \"on-miss\" or \"always\"", |s| look(s, |config| exec(config, &["ask"], "off"))),
    critical("openclaw.elevated_everyone", "Everyone may use elevated tools", "name the owner in tools.elevated.allowFrom", |s| look(s, elevated)),
    warn("openclaw.sandbox_off", "Tools run outside a sandbox", "set agents.defaults.sandbox.mode to \"all\"", |s| look(s, sandbox_off)),
    critical("openclaw.sandbox_holes", "The sandbox has holes: the host's network, its Docker socket or its root", "take them out of sandbox.docker", |s| look(s, sandbox_holes)),
    critical("openclaw.gateway_public", "OpenClaw's gateway listens beyond this machine", "set gateway.bind to \"loopback\"", |s| look(s, gateway_public)),
    critical("openclaw.gateway_unguarded", "OpenClaw's gateway asks for no password or token", "set gateway.auth.mode to \"token\"", |s| look(s, gateway_unguarded)),
    warn("openclaw.gateway_token_weak", "The token or password of OpenClaw's gateway is short or guessable", "openclaw doctor --generate-gateway-token", |s| look(s, gateway_weak)),
    critical("openclaw.funnel", "OpenClaw's gateway is on the public internet", "set gateway.tailscale.mode to \"serve\" or \"off\"", |s| look(s, |config| is(config, "gateway.tailscale.mode", "funnel"))),
    critical("openclaw.dangerous_switches", "Switches that OpenClaw itself calls dangerous are on", "set them to false", |s| look(s, dangerous)),
    warn("openclaw.any_origin", "Every web page may talk to the control interface", "name the origins in gateway.controlUi.allowedOrigins", |s| look(s, |config| texts(config, "gateway.controlUi.allowedOrigins").contains(&"*").then(|| "gateway.controlUi.allowedOrigins has *".to_owned()).into_iter().collect())),
    warn("openclaw.plugins_unlisted", "Plugins are loaded without a list of those that may", "name them in plugins.allow", |s| look(s, plugins_unlisted)),
    warn("openclaw.plugins_unpinned", "Plugins are not pinned to a version", "install them as name@1.2.3", |s| look(s, plugins_unpinned)),
    warn("openclaw.weak_model", "A weak model has tools: it follows injected instructions easily", "use a strong model, or sandbox.mode \"all\" and no web tools for it", |s| look(s, weak_models)),
    warn("openclaw.own_web_fetch", "The agent fetches pages round the gateway", "set tools.web.fetch.enabled to false, and let the agent use blastshield", |s| look(s, |config| {
        let off = at(config, "tools.web.fetch.enabled").and_then(Value::as_bool) == Some(false) || denied(config, "web_fetch");
        (!off).then(|| "tools.web.fetch.enabled is not false".to_owned()).into_iter().collect()
    })),
    warn("openclaw.browser", "The agent has a browser of its own, which goes round the gateway", "set browser.enabled to false", |s| look(s, |config| {
        (truth(config, "browser.enabled") && !denied(config, "browser")).then(|| "browser.enabled is true".to_owned()).into_iter().collect()
    })),
    warn("openclaw.redaction_off", "OpenClaw writes secrets to its logs", "set logging.redactSensitive to \"tools\"", |s| look(s, |config| is(config, "logging.redactSensitive", "off"))),
    warn("openclaw.secrets_inline", "Secrets stand in the OpenClaw configuration", "move them to ~/.openclaw/.env and write ${NAME}", secrets_inline),
    critical("openclaw.hooks", "The webhook's token is missing, short or that of the gateway", "set hooks.token: openssl rand -hex 32", |s| look(s, hooks)),
    warn("openclaw.mcp_plain", "An MCP server is reached in the clear, or without checking its certificate", "use https, and leave sslVerify on", |s| look(s, mcp_plain)),
    warn("openclaw.files_everywhere", "File tools reach beyond the workspace", "set tools.fs.workspaceOnly to true", |s| look(s, |config| {
        let closed = truth(config, "tools.fs.workspaceOnly") || sandbox_off(config).is_empty();
        (!closed).then(|| "tools.fs.workspaceOnly is not true".to_owned()).into_iter().collect()
    })),
];

fn look(scene: &Scene, wrong: fn(&Value) -> Vec<String>) -> Outcome {
    match scene.claw.as_ref().and_then(|claw| claw.config.as_ref()) {
        None => Outcome::NotHere,
        Some(config) => found_any(wrong(config)),
    }
}

fn file_open(scene: &Scene) -> Outcome {
    let Some(claw) = &scene.claw else {
        return Outcome::NotHere;
    };
    match claw.path.metadata() {
        Err(_) => Outcome::NotHere,
        Ok(file) if file.mode() & 0o077 == 0 => Outcome::Fine,
        Ok(file) => found(format!("{} is {:04o}", claw.shown, file.mode() & 0o7777)),
    }
}

fn folder_open(scene: &Scene) -> Outcome {
    let Some(claw) = &scene.claw else {
        return Outcome::NotHere;
    };
    let has = |path: &Path, bits: u32| path.metadata().is_ok_and(|file| file.mode() & bits != 0);
    let mut wrong = Vec::new();
    // A bare file name lies in the working folder.
    let folder = claw.path.with_file_name(".");
    if has(&folder, 0o022) {
        wrong.push(format!("others may write the folder of {}", claw.shown));
    }
    for name in [".env", "credentials", "exec-approvals.json"] {
        if has(&claw.path.with_file_name(name), 0o077) {
            wrong.push(format!("{name} beside {}", claw.shown));
        }
    }
    found_any(wrong)
}

fn has_include(config: &Value) -> bool {
    let inner = config.as_object().into_iter().flat_map(|map| map.values());
    config.get("$include").is_some()
        || inner
            .into_iter()
            .any(|value| value.get("$include").is_some())
}

fn is(config: &Value, path: &str, wrong: &str) -> Vec<String> {
    let hit = text(config, path) == Some(wrong);
    hit.then(|| format!("{path} is {wrong}"))
        .into_iter()
        .collect()
}

fn channels_with(config: &Value, keys: &[&str], wrong: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (name, channel) in channels(config) {
        for key in keys.iter().filter(|key| text(channel, key) == Some(wrong)) {
            found.push(format!("{name}.{key} is {wrong}"));
        }
    }
    found
}

fn everyone(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, channel) in channels(config) {
        for key in ["allowFrom", "dm.allowFrom", "groupAllowFrom"] {
            if texts(channel, key).contains(&"*") {
                found.push(format!("{name}.{key} has *"));
            }
        }
    }
    found
}

fn gateway_public(config: &Value) -> Vec<String> {
    let bind = text(config, "gateway.bind").unwrap_or("loopback");
    let near = ["loopback", "127.0.0.1", "localhost", "::1"].contains(&bind);
    let word: String = bind
        .chars()
        .filter(char::is_ascii_graphic)
        .take(20)
        .collect();
    (!near)
        .then(|| format!("gateway.bind is {word}"))
        .into_iter()
        .collect()
}

fn gateway_unguarded(config: &Value) -> Vec<String> {
    let mode = text(config, "gateway.auth.mode");
    let open = mode == Some("none")
        || (mode.is_none()
            && at(config, "gateway.auth")
                .is_some_and(|auth| at(auth, "token").is_none() && at(auth, "password").is_none()));
    open.then(|| "gateway.auth.mode is none".to_owned())
        .into_iter()
        .collect()
}

/// A secret that stands there, and not a reference to one.
fn inline<'v>(config: &'v Value, path: &str) -> Option<&'v str> {
    text(config, path).filter(|secret| !secret.is_empty() && !secret.contains("${"))
}

fn gateway_weak(config: &Value) -> Vec<String> {
    let weak = [("gateway.auth.token", 24), ("gateway.auth.password", 12)]
        .into_iter()
        .filter(|(path, least)| {
            inline(config, path).is_some_and(|secret| secret.len() < *least || is_guessable(secret))
        });
    weak.map(|(path, _)| path.to_owned()).collect()
}

fn secrets_inline(scene: &Scene) -> Outcome {
    let Some((claw, config)) = scene
        .claw
        .as_ref()
        .and_then(|claw| Some((claw, claw.config.as_ref()?)))
    else {
        return Outcome::NotHere;
    };
    let mut found: Vec<String> = ["gateway.auth.token", "gateway.auth.password", "hooks.token"]
        .into_iter()
        .filter(|path| inline(config, path).is_some())
        .map(str::to_owned)
        .collect();
    for (name, channel) in channels(config) {
        for key in [
            "botToken",
            "token",
            "appToken",
            "appPassword",
            "signingSecret",
        ] {
            if inline(channel, key).is_some() {
                found.push(format!("{name}.{key}"));
            }
        }
    }
    for (name, provider) in entries(config, "models.providers") {
        if inline(provider, "apiKey").is_some() {
            found.push(format!("models.providers.{name}.apiKey"));
        }
    }
    let shapes = scene.scanner.scan_with(&claw.text, Scope::CREDENTIALS);
    if found.is_empty() && !shapes.is_empty() {
        found.push(format!("{} that look like credentials", shapes.len()));
    }
    found_any(found)
}

fn hooks(config: &Value) -> Vec<String> {
    if !truth(config, "hooks.enabled") {
        return Vec::new();
    }
    let why = match text(config, "hooks.token") {
        None | Some("") => "hooks.token is missing",
        token if token == text(config, "gateway.auth.token") => "hooks.token is gateway.auth.token",
        Some(token) if !token.contains("${") && (token.len() < 24 || is_guessable(token)) => {
            "hooks.token is weak"
        }
        Some(_) => return Vec::new(),
    };
    vec![why.to_owned()]
}

fn mcp_plain(config: &Value) -> Vec<String> {
    let open = entries(config, "mcp.servers")
        .into_iter()
        .filter(|(_, server)| {
            let url = text(server, "url").and_then(|url| Url::parse(url).ok());
            url.as_ref().is_some_and(is_open)
                || at(server, "sslVerify").and_then(Value::as_bool) == Some(false)
        });
    open.map(|(name, _)| format!("mcp.servers.{name}"))
        .collect()
}
