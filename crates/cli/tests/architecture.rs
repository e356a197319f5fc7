//! The map holds: no crate depends on one that it must not, and pure crates do no I/O.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each crate may use of ours. A crate that is missing here is a decision that is missing.
const EDGES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("detect", &["text"]),
    ("train", &["detect"]),
    ("leak", &[]),
    ("content", &["text"]),
    ("pipeline", &["content", "detect", "text"]),
    ("guard", &["detect", "leak", "text"]),
    ("policy", &[]),
    ("limits", &[]),
    ("sandbox", &[]),
    ("config", &["detect", "policy"]),
    ("requirements", &[]),
    ("web", &["policy"]),
    ("render", &["policy", "web"]),
    ("upstream", &[]),
    ("store", &[]),
    ("audit", &["leak"]),
    ("skills", &["detect", "leak"]),
    ("owner", &["audit", "leak", "store", "text", "upstream"]),
    ("recovery", &["audit", "leak", "store"]),
    (
        "wallet",
        &[
            "audit",
            "leak",
            "owner",
            "requirements",
            "store",
            "upstream",
        ],
    ),
    (
        "proxies",
        &[
            "audit", "detect", "leak", "limits", "owner", "pipeline", "policy", "recovery",
            "sandbox", "store", "web",
        ],
    ),
    (
        "egress",
        &[
            "audit", "detect", "leak", "owner", "pipeline", "policy", "store", "web",
        ],
    ),
    (
        "gateway",
        &[
            "audit",
            "config",
            "detect",
            "egress",
            "guard",
            "leak",
            "limits",
            "owner",
            "pipeline",
            "policy",
            "proxies",
            "recovery",
            "sandbox",
            "render",
            "requirements",
            "skills",
            "store",
            "upstream",
            "wallet",
            "web",
        ],
    ),
    (
        "cli",
        &[
            "audit",
            "config",
            "detect",
            "egress",
            "gateway",
            "guard",
            "leak",
            "pipeline",
            "policy",
            "proxies",
            "recovery",
            "requirements",
            "skills",
            "sandbox",
            "store",
            "train",
            "web",
        ],
    ),
];

const PURE: &[&str] = &[
    "text",
    "detect",
    "train",
    "leak",
    "content",
    "pipeline",
    "guard",
    "policy",
    "limits",
    "config",
    "requirements",
    "skills",
];

/// What a pure crate may not touch.
const IMPURE: &[&str] = &[
    "std::fs",
    "TcpStream",
    "UdpSocket",
    "ToSocketAddrs",
    "std::process",
    "std::env",
    "std::io",
    "SystemTime",
    "Instant::now",
    "tokio",
    "reqwest",
    "hyper",
    "sqlx",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Each crate's folder with the folders of ours that it depends on.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let manifest: toml::Table = manifest.parse().unwrap();
        let names = ["dependencies", "build-dependencies"]
            .into_iter()
            .filter_map(|table| manifest.get(table)?.as_table())
            .flat_map(toml::Table::keys);
        let ours = names
            .filter_map(|name| name.strip_prefix("blastshield-"))
            .map(str::to_owned)
            .collect();
        found.insert(
            folder.file_name().unwrap().to_string_lossy().into_owned(),
            ours,
        );
    }
    found
}

#[test]
fn no_forbidden_edge() {
    let allowed: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    for (name, uses) in dependencies() {
        let Some(may) = allowed.get(name.as_str()) else {
            panic!("crates/{name} is not on the map: say in this test what it may use");
        };
        for used in uses {
            assert!(
                may.contains(&used.as_str()),
                "crates/{name} must not depend on crates/{used}"
            );
        }
    }
}

#[test]
fn nothing_depends_on_the_command_line() {
    for (name, uses) in dependencies() {
        assert!(
            !uses.contains("cli") && !uses.contains(""),
            "crates/{name} depends on the command line"
        );
    }
}

#[test]
fn edges_point_downward() {
    let order: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    for (place, (name, uses)) in EDGES.iter().enumerate() {
        for used in *uses {
            let below = order.iter().position(|other| other == used).unwrap();
            assert!(below < place, "{name} -> {used} points upward");
        }
    }
}

#[test]
fn pure_crates_do_no_io() {
    for name in PURE {
        for file in sources(&crates().join(name).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            // Tests may read files; they stand last.
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for word in IMPURE {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}

#[test]
fn unsafe_code_is_forbidden() {
    for name in dependencies().keys() {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        // Confinement needs system calls that nobody wraps: denied there, and allowed by name in one file.
        if name == "sandbox" {
            assert!(manifest.contains("unsafe_code = \"deny\""));
            continue;
        }
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "crates/{name} does not use the shared lints"
        );
    }
}

#[test]
fn the_image_is_built_from_all_that_the_program_is_made_of() {
    let root = crates().join("..").canonicalize().unwrap();
    let read = |name: &str| std::fs::read_to_string(root.join("deploy").join(name)).unwrap();
    let (image, context) = (read("Dockerfile"), read("Dockerfile.dockerignore"));
    let copied: BTreeSet<&str> = image
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"))
        .flat_map(|line| line.split(' ').rev().skip(1))
        .collect();
    let admitted: BTreeSet<&str> = context
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    assert_eq!(copied, admitted, "what is copied is what the context holds");
    let program = |file: &PathBuf| {
        let parts: Vec<_> = file.strip_prefix(crates()).unwrap().iter().collect();
        parts.get(1).is_some_and(|part| *part == "src") && !parts.iter().any(|p| *p == "tests")
    };
    for file in sources(&crates()).into_iter().filter(program) {
        let text = std::fs::read_to_string(&file).unwrap();
        for part in text.split("include_str!(\"").skip(1) {
            let Some((name, _)) = part.split_once('"') else {
                continue;
            };
            let place = file.parent().unwrap().join(name).canonicalize().unwrap();
            let first = place.strip_prefix(&root).unwrap().iter().next().unwrap();
            assert!(
                copied.contains(first.to_str().unwrap()),
                "{} includes {name}, which the image lacks",
                file.display()
            );
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}
