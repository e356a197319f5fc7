//! The services that are defined, each with what core keeps for it.

use super::hands::{Ready, Recipe};
use super::{Config, OpenError};
use crate::broker::{Limiter, Token, wall_ms};
use crate::capability::random_hex;
use crate::definition::{Definition, DefinitionError, MAX_BYTES, MOLTBOOK};
use crate::protocol::ServiceText;
use crate::state::{Seen, StateFile};
use blastshield_audit::Digest;
use blastshield_recovery::ServiceName;
use blastshield_sandbox::Template;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Definitions in a folder at most.
const MAX_SERVICES: usize = 64;
const DAY_MS: u64 = 86_400_000;

/// One service.
pub(super) struct Service {
    pub(super) definition: Definition,
    pub(super) name: ServiceName,
    pub(super) token: Option<Token>,
    pub(super) limiter: Limiter,
    pub(super) recipe: Recipe,
    pub(super) ready: Arc<Ready>,
    /// One session at a time: what changed in the workspace is then attributable.
    pub(super) turn: Mutex<()>,
}

/// Definitions by name, each with where it comes from.
pub type Definitions = BTreeMap<String, (Definition, String)>;

/// Reads the shipped definition and those of a folder; one in the folder replaces the shipped one of its name.
///
/// # Errors
/// When the folder cannot be read, or a definition in it cannot be used.
pub fn definitions(folder: &Path, loopback: bool) -> Result<Definitions, OpenError> {
    let mut all = Definitions::new();
    let shipped = Definition::parse(MOLTBOOK, loopback).map_err(|error| bad("shipped", error))?;
    all.insert(shipped.name.clone(), (shipped, "shipped".to_owned()));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
        Err(error) => return Err(OpenError::Folder(error.kind())),
    };
    for entry in entries {
        let entry = entry.map_err(|error| OpenError::Folder(error.kind()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".toml") else {
            continue;
        };
        let definition = read(&entry.path(), &name, loopback)?;
        if definition.name != stem {
            let error = DefinitionError::Value {
                field: "name".to_owned(),
                expected: format!("{stem}, as the file is called"),
            };
            return Err(bad(&name, error));
        }
        all.insert(definition.name.clone(), (definition, name));
        if all.len() > MAX_SERVICES {
            return Err(OpenError::TooMany);
        }
    }
    Ok(all)
}

fn bad(file: &str, error: DefinitionError) -> OpenError {
    OpenError::Definition {
        file: file.chars().filter(|c| !c.is_control()).take(80).collect(),
        error,
    }
}

fn read(path: &Path, name: &str, loopback: bool) -> Result<Definition, OpenError> {
    let file = fs::File::open(path).map_err(|error| OpenError::Folder(error.kind()))?;
    let mut text = String::new();
    file.take(MAX_BYTES as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| OpenError::Folder(error.kind()))?;
    Definition::parse(&text, loopback).map_err(|error| bad(name, error))
}

impl Service {
    pub(super) fn new(
        definition: Definition,
        config: &Config,
        template: &Arc<Template>,
    ) -> Result<Self, OpenError> {
        let name = ServiceName::new(&definition.name).map_err(|_| OpenError::Name)?;
        let state = |error: io::Error| OpenError::State(error.kind());
        let file = StateFile::at(&config.data, &definition.name).map_err(state)?;
        let limiter = Limiter::open(file, definition.limits).map_err(state)?;
        let token = definition
            .credential
            .as_ref()
            .and_then(|credential| (config.credential)(&credential.variable));
        let workspace = std::path::absolute(&config.data)
            .map_err(state)?
            .join("proxies")
            .join("workspaces")
            .join(&definition.name);
        let service = ServiceText {
            definition: definition.source.clone(),
            loopback: config.loopback,
            how: config.how(),
            #[cfg(debug_assertions)]
            fault: crate::fault::from_environment(),
        };
        let recipe = Recipe::new(template, &definition, &workspace, config.missing, service);
        Ok(Self {
            definition,
            name,
            token,
            limiter,
            recipe,
            ready: Arc::default(),
            turn: Mutex::default(),
        })
    }

    /// Whether a task of it could run: it needs no credential, or has it.
    pub(super) fn is_usable(&self) -> bool {
        self.definition.credential.is_none() || self.token.is_some()
    }

    /// Days since which the credential is the same, if it is time to say so. It is said once for each period.
    pub(super) fn rotation_due(&self) -> io::Result<Option<u64>> {
        let (Some(credential), Some(token)) = (&self.definition.credential, &self.token) else {
            return Ok(None);
        };
        let period = u64::from(credential.rotate_days) * DAY_MS;
        let now = wall_ms();
        let salt = random_hex::<8>().map_err(|_| io::ErrorKind::Other)?;
        let print_with = |salt: &str| {
            let print = Digest::of(format!("{salt}:{}", token.reveal()).as_bytes());
            print.to_string().chars().take(16).collect::<String>()
        };
        self.limiter.credential(|seen| match seen {
            Some(known) if known.print == print_with(&known.salt) => {
                let last = known.since_ms.max(known.reminded_ms);
                if now.saturating_sub(last) < period {
                    return (None, false);
                }
                known.reminded_ms = now;
                (Some(now.saturating_sub(known.since_ms) / DAY_MS), true)
            }
            _ => {
                *seen = Some(Seen {
                    print: print_with(&salt),
                    salt,
                    since_ms: now,
                    reminded_ms: 0,
                });
                (None, true)
            }
        })
    }
}
