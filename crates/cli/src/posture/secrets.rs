//! Where secrets lie: in the file, on the command line, in the environment, and whether they are any good.

use super::check::{Check, Outcome, critical, found_any, info, warn};
use super::scene::{Scene, bounded};
use blastshield_config::{Origin, SETTINGS, Secret};
use blastshield_leak::Scope;
use std::collections::BTreeSet;
use url::Url;

const MAKE: &str = "set a fresh one: openssl rand -hex 32";

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("secrets.in_config", "Secrets stand in the configuration file", "move them to variables, from a file that only the service's user may read (EnvironmentFile=, docker secrets)", |s| match s.config {
        Some(_) => found_any(in_config(s)),
        None => Outcome::NotHere,
    }),
    warn("secrets.leaked_in_config", "Something that looks like a credential stands in the configuration file", "take it out, and change it where it is valid", |s| match s.config {
        Some(_) => found_any(leaked(s)),
        None => Outcome::NotHere,
    }),
    warn("secrets.on_command_line", "Secrets are given on the command line, which every user can read", "give them by variable", |s| found_any(by_origin(s, |origin| *origin == Origin::Flag))),
    info("secrets.in_environment", "Secrets stand in the environment: other processes of the same user can read them", "run the agent as another user than the gateway", |s| found_any(by_origin(s, |origin| matches!(origin, Origin::Variable(_))))),
    info("secrets.foreign_variables", "The environment holds credentials that the gateway does not need", "start the gateway with its own variables alone: env -i, or a unit of its own", foreign),
    warn("secrets.in_addresses", "An address in the settings holds a password", "take user and password out of the address", in_addresses),
    critical("tokens.same", "Agent and owner have the same token", MAKE, same),
    warn("tokens.reused", "One secret is used for two purposes", MAKE, reused),
    warn("tokens.short", "A token is short", MAKE, |s| weak(s, is_short)),
    critical("tokens.guessable", "A token can be guessed", MAKE, |s| weak(s, is_guessable)),
];

/// Settings whose secret the file holds.
pub(super) fn in_config(scene: &Scene) -> Vec<String> {
    by_origin(scene, |origin| *origin == Origin::File)
}

fn by_origin(scene: &Scene, wanted: fn(&Origin) -> bool) -> Vec<String> {
    let secrets = SETTINGS.iter().filter(|setting| setting.secret);
    secrets
        .filter(|setting| {
            let (value, origin) = scene.values.get(setting);
            !value.is_empty() && wanted(&origin)
        })
        .map(|setting| setting.key.to_owned())
        .collect()
}

/// Credentials by their looks, in lines of the file that are not those of a secret setting.
pub(super) fn leaked(scene: &Scene) -> Vec<String> {
    let Some((_, text)) = &scene.config else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ends: Vec<usize> = lines
        .iter()
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    let mut places = BTreeSet::new();
    for finding in scene.scanner.scan_with(text, Scope::CREDENTIALS) {
        let number = ends.partition_point(|end| *end <= finding.start);
        let line = lines.get(number).copied().unwrap_or_default();
        let name = line.split('=').next().unwrap_or_default().trim();
        let known = SETTINGS
            .iter()
            .any(|setting| setting.secret && setting.key.rsplit('.').next() == Some(name));
        if !known {
            places.insert((number + 1, finding.rule));
        }
    }
    let told = places.into_iter();
    told.map(|(line, rule)| format!("{rule} in line {line}"))
        .collect()
}

fn foreign(scene: &Scene) -> Outcome {
    let ours = |name: &str| {
        name.starts_with("BLASTSHIELD_")
            || name.starts_with("CLAWRUBBER_")
            || SETTINGS
                .iter()
                .any(|setting| setting.variables.contains(&name))
    };
    let named = |name: &str| {
        let last = name.rsplit('_').next().unwrap_or_default().to_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"].contains(&last.as_str())
    };
    let theirs = scene.variables.iter().filter(|(name, value)| {
        let plain = value.len() < 8 || value.len() > 4096 || value.starts_with('/');
        !ours(name)
            && !plain
            && (named(name)
                || !scene
                    .scanner
                    .scan_with(value, Scope::CREDENTIALS)
                    .is_empty())
    });
    found_any(
        theirs
            .map(|(name, _)| name.chars().take(60).collect())
            .collect(),
    )
}

/// Addresses of the settings by key.
fn addresses(scene: &Scene) -> Vec<(&'static str, &Url)> {
    let settings = &scene.settings;
    let mut list = vec![
        ("search.brave_base_url", &settings.search.brave_base_url),
        ("judge.openai_base_url", &settings.judge.openai_base_url),
        ("judge.ollama_base_url", &settings.judge.ollama_base_url),
        (
            "renderer.browserless_url",
            &settings.renderer.browserless_url,
        ),
        ("telegram.base_url", &settings.telegram.base_url),
    ];
    list.extend(settings.web.proxy.as_ref().map(|url| ("web.proxy", url)));
    list.extend(
        settings
            .search
            .searxng_base_url
            .as_ref()
            .map(|url| ("search.searxng_base_url", url)),
    );
    list.extend(
        settings
            .alerts
            .webhook
            .as_ref()
            .map(|url| ("alerts.webhook_url", url)),
    );
    list
}

fn in_addresses(scene: &Scene) -> Outcome {
    let with = addresses(scene)
        .into_iter()
        .filter(|(_, url)| url.password().is_some());
    found_any(with.map(|(key, _)| key.to_owned()).collect())
}

/// The tokens that open the gateway; the owner's may lie in its file.
fn tokens(scene: &Scene) -> Vec<(&'static str, Secret)> {
    let server = &scene.settings.server;
    let mut list = Vec::new();
    list.extend(
        server
            .agent_token
            .clone()
            .map(|token| ("server.agent_token", token)),
    );
    match &server.owner_token {
        Some(token) => list.push(("server.owner_token", token.clone())),
        None => {
            let file = bounded(&scene.settings.data_dir.join("owner-token"));
            list.extend(file.map(|text| ("owner-token", Secret::new(text.trim().to_owned()))));
        }
    }
    list
}

fn same(scene: &Scene) -> Outcome {
    match tokens(scene).as_slice() {
        [(agent, one), (owner, other)] if one == other => {
            found_any(vec![format!("{agent} and {owner}")])
        }
        [_, _] => Outcome::Fine,
        _ => Outcome::NotHere,
    }
}

fn reused(scene: &Scene) -> Outcome {
    let settings = &scene.settings;
    let mut list = tokens(scene);
    list.extend(
        settings
            .alerts
            .webhook_secret
            .clone()
            .map(|secret| ("alerts.webhook_secret", secret)),
    );
    list.extend(
        settings
            .renderer
            .browserless_token
            .clone()
            .map(|secret| ("renderer.browserless_token", secret)),
    );
    list.extend(
        settings
            .search
            .brave_api_key
            .clone()
            .map(|secret| ("search.brave_api_key", secret)),
    );
    list.extend(
        settings
            .judge
            .openai_api_key
            .clone()
            .map(|secret| ("judge.openai_api_key", secret)),
    );
    let tokens = ["server.agent_token", "server.owner_token", "owner-token"];
    let mut pairs = Vec::new();
    for (place, (name, secret)) in list.iter().enumerate() {
        for (other, same) in list.iter().skip(place + 1) {
            let both = tokens.contains(name) && tokens.contains(other);
            if secret == same && !both {
                pairs.push(format!("{name} and {other}"));
            }
        }
    }
    found_any(pairs)
}

fn weak(scene: &Scene, wrong: fn(&str) -> bool) -> Outcome {
    let mut list = tokens(scene);
    list.extend(
        scene
            .settings
            .alerts
            .webhook_secret
            .clone()
            .map(|secret| ("alerts.webhook_secret", secret)),
    );
    if list.is_empty() {
        return Outcome::NotHere;
    }
    let weak = list.into_iter().filter(|(_, token)| wrong(token.reveal()));
    found_any(weak.map(|(name, _)| name.to_owned()).collect())
}

/// Fewer than 128 bits in hexadecimal digits.
pub(super) fn is_short(token: &str) -> bool {
    token.len() < 32
}

/// Made of few characters, of a run of neighbours, or around a word that is tried first.
pub(super) fn is_guessable(token: &str) -> bool {
    const WORDS: [&str; 14] = [
        "changeme",
        "change-me",
        "change_me",
        "password",
        "passw0rd",
        "secret",
        "example",
        "default",
        "qwerty",
        "letmein",
        "12345678",
        "abcdefgh",
        "your-token",
        "placeholder",
    ];
    let lower = token.to_lowercase();
    let different: BTreeSet<char> = lower.chars().collect();
    different.len() < 8 || WORDS.iter().any(|word| lower.contains(word))
}
