//! What agents may do: commands, sandboxes, models, plugins.

use super::config::{agents, at, entries, text, texts};
use serde_json::Value;

pub(super) fn exec(config: &Value, keys: &[&str], wrong: &str) -> Vec<String> {
    let mut places = vec![("tools".to_owned(), at(config, "tools"))];
    for (name, agent) in agents(config) {
        places.push((format!("{name}.tools"), at(agent, "tools")));
    }
    let mut found = Vec::new();
    for (name, tools) in places {
        for key in keys {
            if tools.and_then(|tools| text(tools, &format!("exec.{key}"))) == Some(wrong) {
                found.push(format!("{name}.exec.{key} is {wrong}"));
            }
        }
    }
    found
}

pub(super) fn elevated(config: &Value) -> Vec<String> {
    let open = entries(config, "tools.elevated.allowFrom")
        .into_iter()
        .filter(|(_, list)| {
            list.as_array()
                .is_some_and(|list| list.iter().any(|one| one.as_str() == Some("*")))
        });
    open.map(|(name, _)| format!("tools.elevated.allowFrom.{name} has *"))
        .collect()
}

pub(super) fn sandbox_off(config: &Value) -> Vec<String> {
    let default = text(config, "agents.defaults.sandbox.mode");
    let mut found = Vec::new();
    // It is off when nobody says otherwise.
    if default.is_none_or(|mode| mode == "off") {
        found.push("agents.defaults.sandbox.mode is off".to_owned());
    }
    for (name, agent) in agents(config) {
        if name != "agents.defaults" && text(agent, "sandbox.mode") == Some("off") {
            found.push(format!("{name}.sandbox.mode is off"));
        }
    }
    found
}

pub(super) fn sandbox_holes(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, agent) in agents(config) {
        let network = text(agent, "sandbox.docker.network").unwrap_or_default();
        if network == "host" || network.starts_with("container:") {
            found.push(format!("{name}.sandbox.docker.network"));
        }
        let holes = texts(agent, "sandbox.docker.binds")
            .into_iter()
            .filter(|bind| {
                let from = bind.split(':').next().unwrap_or_default();
                bind.contains("docker.sock")
                    || [
                        "/", "/etc", "/root", "/home", "/proc", "/sys", "/var/run", "/run",
                    ]
                    .contains(&from)
            });
        if holes.count() > 0 {
            found.push(format!("{name}.sandbox.docker.binds"));
        }
    }
    found
}

pub(super) fn plugins_unlisted(config: &Value) -> Vec<String> {
    let off = at(config, "plugins.enabled").and_then(Value::as_bool) == Some(false);
    let used = !entries(config, "plugins.entries").is_empty()
        || !entries(config, "plugins.installs").is_empty()
        || !texts(config, "plugins.load.paths").is_empty();
    let listed = !texts(config, "plugins.allow").is_empty();
    (used && !listed && !off)
        .then(|| "plugins.allow is empty".to_owned())
        .into_iter()
        .collect()
}

pub(super) fn plugins_unpinned(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for path in ["plugins.installs", "hooks.internal.installs"] {
        for (name, install) in entries(config, path) {
            let spec = text(install, "spec").or(text(install, "npmSpec"));
            let pinned = spec.is_none_or(is_pinned);
            let floating = text(install, "source") == Some("npm") && spec.is_none();
            if !pinned || floating {
                found.push(format!("{path}.{name}"));
            }
        }
    }
    found
}

/// Whether a package is named with one exact version or commit.
fn is_pinned(spec: &str) -> bool {
    let after = spec
        .char_indices()
        .skip(1)
        .filter(|(_, c)| matches!(c, '@' | '#'))
        .last();
    let version = after
        .and_then(|(place, _)| spec.get(place + 1..))
        .unwrap_or_default();
    let commit = version.len() == 40 && version.bytes().all(|b| b.is_ascii_hexdigit());
    let exact = version.split(['-', '+']).next().is_some_and(|numbers| {
        numbers.split('.').count() == 3
            && numbers
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    });
    commit || exact
}

pub(super) fn weak_models(config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, agent) in agents(config) {
        let sandboxed = text(agent, "sandbox.mode")
            .or(text(config, "agents.defaults.sandbox.mode"))
            == Some("all");
        let mut models: Vec<&str> = ["model", "model.primary"]
            .iter()
            .filter_map(|path| text(agent, path))
            .collect();
        models.extend(texts(agent, "model.fallbacks"));
        if !sandboxed && models.into_iter().any(is_weak) {
            found.push(format!("{name}.model"));
        }
    }
    found
}

/// Small and old models by their names: `mini`, `haiku`, or a count of parameters below 300 thousand million.
fn is_weak(model: &str) -> bool {
    const WORDS: [&str; 12] = [
        "mini", "nano", "haiku", "flash", "lite", "tiny", "small", "instant", "phi", "gemma",
        "gpt3", "turbo",
    ];
    let model = model.to_lowercase();
    let mut words = model.split(|c: char| !c.is_ascii_alphanumeric());
    let small = words.any(|word| {
        let size = word
            .strip_suffix('b')
            .and_then(|digits| digits.parse::<u32>().ok());
        WORDS.contains(&word) || size.is_some_and(|size| size <= 300)
    });
    small
        || ["gpt-3", "gpt-4-", "claude-2", "claude-3"]
            .iter()
            .any(|old| model.contains(old))
}

pub(super) fn denied(config: &Value, tool: &str) -> bool {
    let list = texts(config, "tools.deny");
    list.contains(&tool) || list.contains(&"group:web")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_old_models_are_weak() {
        for weak in [
            "openai/gpt-4o-mini",
            "ollama/llama3.1:8b",
            "qwen/qwen3-235b-a22b",
            "anthropic/claude-haiku-4-5",
            "google/gemini-3-flash-preview",
            "gpt-3.5-turbo",
            "anthropic/claude-2.1",
        ] {
            assert!(is_weak(weak), "{weak}");
        }
        for strong in [
            "anthropic/claude-opus-4-6",
            "openai/gpt-5.2",
            "google/gemini-3-pro",
            "meta/llama-3.1-405b",
            "",
        ] {
            assert!(!is_weak(strong), "{strong}");
        }
    }

    #[test]
    fn one_exact_version_is_a_pin() {
        let commit = format!("github:me/a#{}", "0f".repeat(20));
        for pinned in ["a@1.2.3", "@me/a@1.2.3", "@me/a@1.2.3-beta.1", &commit] {
            assert!(is_pinned(pinned), "{pinned}");
        }
        for loose in [
            "",
            "a",
            "@me/a",
            "a@latest",
            "a@^1.2.3",
            "a@1.2",
            "a@1.x.3",
            "a@>=1.2.3",
            "github:me/a#main",
        ] {
            assert!(!is_pinned(loose), "{loose}");
        }
    }
}
