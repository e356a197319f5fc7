//! What the environment must hold, looked at when the gateway starts, when it is told to, and every so often. What
//! changed is in the audit log; what stays as it was is not told again.

use super::lock;
use crate::state::App;
use blastshield_audit::{Category, Event, Severity, status};
use blastshield_config::{Secret, Settings};
use blastshield_requirements::{
    Change, EnvFile, EnvFileError, MAX_ENV_FILE_BYTES, MAX_SCHEMA_BYTES, Problem, Report,
    Requirements, SchemaError, Severity as Gravity,
};
use serde_json::json;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The environment's requirements, or the file with its variables, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// A file cannot be read.
    #[error("the file that {setting} names cannot be read: {kind}")]
    File {
        /// The setting.
        setting: &'static str,
        /// Why not.
        kind: ErrorKind,
    },
    /// No requirements.
    #[error("the file that environment.schema_file names cannot be used: {0}")]
    Schema(#[from] SchemaError),
    /// No variables.
    #[error("the file that environment.file names cannot be used: {0}")]
    Variables(#[from] EnvFileError),
}

/// The latest look at the environment.
pub(super) struct Environment {
    latest: Mutex<(Arc<Report>, Option<EnvironmentError>)>,
    again: Arc<Notify>,
}

impl Environment {
    /// Looks for the first time.
    ///
    /// # Errors
    /// When a file that the settings name cannot be used: the operator must mend that first.
    pub(super) fn read(settings: &Settings) -> Result<Self, EnvironmentError> {
        let report = Arc::new(look(settings)?);
        Ok(Self {
            latest: Mutex::new((report, None)),
            again: Arc::default(),
        })
    }

    pub(super) fn report(&self) -> Arc<Report> {
        Arc::clone(&lock(&self.latest).0)
    }

    /// Why the latest look saw nothing.
    pub(super) fn fault(&self) -> Option<String> {
        lock(&self.latest).1.as_ref().map(ToString::to_string)
    }

    pub(super) fn again(&self) -> Arc<Notify> {
        Arc::clone(&self.again)
    }
}

/// A variable counts as the file has it, then as this process has it, then as the settings say what it would.
fn look(settings: &Settings) -> Result<Report, EnvironmentError> {
    let requirements = match &settings.environment.schema {
        Some(path) => {
            Requirements::parse(&text(path, "environment.schema_file", MAX_SCHEMA_BYTES)?)?
        }
        None => Requirements::shipped()?,
    };
    let file = match &settings.environment.file {
        Some(path) => EnvFile::parse(&text(path, "environment.file", MAX_ENV_FILE_BYTES)?)?,
        None => EnvFile::default(),
    };
    Ok(requirements.check(|name| {
        let own = || std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let given = file.get(name).map(str::to_owned).or_else(own);
        given.or_else(|| configured(settings, name))
    }))
}

/// What a setting says that has this variable.
fn configured(settings: &Settings, variable: &str) -> Option<String> {
    let text = |secret: &Option<Secret>| Some(secret.as_ref()?.reveal().to_owned());
    let (telegram, wallet) = (&settings.telegram, &settings.wallet);
    match variable {
        "TELEGRAM_BOT_TOKEN" => text(&telegram.bot_token),
        "TELEGRAM_OWNER_ID" => telegram.owner_id.map(|id| id.to_string()),
        "REQUIRE_POST_APPROVAL" => (!settings.approvals.posts).then(|| "false".to_owned()),
        "LNBITS_URL" => wallet.lnbits_url.as_ref().map(ToString::to_string),
        "LNBITS_ADMIN_KEY" => text(&wallet.admin_key),
        "LNBITS_INVOICE_KEY" => text(&wallet.invoice_key),
        "WALLET_DAILY_LIMIT_SATS" => wallet.daily_limit_sats.map(|sats| sats.to_string()),
        "WALLET_APPROVAL_THRESHOLD_SATS" => {
            wallet.approval_threshold_sats.map(|sats| sats.to_string())
        }
        _ => None,
    }
}

fn text(path: &Path, setting: &'static str, most: usize) -> Result<String, EnvironmentError> {
    let cannot = |kind| EnvironmentError::File { setting, kind };
    // Before it is opened, since a pipe would wait for somebody to write to it.
    let about = std::fs::metadata(path).map_err(|error| cannot(error.kind()))?;
    if !about.is_file() {
        return Err(cannot(ErrorKind::InvalidInput));
    }
    let file = std::fs::File::open(path).map_err(|error| cannot(error.kind()))?;
    let mut text = String::new();
    let read = file.take(most as u64 + 1).read_to_string(&mut text);
    let length = read.map_err(|error| cannot(error.kind()))?;
    if length > most {
        return Err(cannot(ErrorKind::FileTooLarge));
    }
    Ok(text)
}

/// Looks again whenever it is time or somebody says so, for ever.
pub(super) async fn keep_checking(app: Arc<App>) {
    let environment = &app.owner.environment;
    let mut ticks = tokio::time::interval(app.settings.environment.every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = environment.again.notified() => {}
        }
        let looking = Arc::clone(&app);
        let Ok(seen) = tokio::task::spawn_blocking(move || look(&looking.settings)).await else {
            continue;
        };
        compare(&app, seen);
    }
}

/// Tells what was found at the start, unless the status of an earlier run says the same.
pub(super) fn first(app: &App) {
    let report = app.owner.requirements();
    let before: Option<Report> = status::read(&app.settings.status.dir)
        .ok()
        .and_then(|mut status| serde_json::from_value(status.get_mut("environment")?.take()).ok());
    if before.is_some_and(|before| before == *report) {
        let details = json!({"gravest": report.gravest.map(Gravity::name)});
        app.guard.note(&Event::Note {
            severity: Severity::Info,
            category: Category::Env,
            name: "env_unchanged",
            message: "The environment is as it was before the restart",
            details: details.as_object().cloned().unwrap_or_default(),
        });
        return;
    }
    tell(app, &report, report.gravest);
}

fn tell(app: &App, report: &Report, gravest: Option<Gravity>) {
    let with = |malformed: bool| -> Vec<&str> {
        let findings = report.findings.iter();
        findings
            .filter(|found| (found.problem == Problem::Malformed) == malformed)
            .map(|found| found.variable.as_str())
            .collect()
    };
    app.guard.note(&Event::EnvChecked {
        severity: severity(gravest.unwrap_or(Gravity::Info)),
        missing: &with(false),
        malformed: &with(true),
    });
}

fn compare(app: &App, seen: Result<Report, EnvironmentError>) {
    let environment = &app.owner.environment;
    let (before, fault) = lock(&environment.latest).clone();
    let report = match seen {
        Ok(report) => report,
        Err(error) => {
            // What was seen last still counts; that it may be out of date is told once.
            if fault.as_ref() != Some(&error) {
                note(
                    app,
                    Severity::Critical,
                    "env_unreadable",
                    &error.to_string(),
                );
                lock(&environment.latest).1 = Some(error);
                app.owner.again.notify_one();
            }
            return;
        }
    };
    if fault.is_some() {
        note(
            app,
            Severity::Info,
            "env_readable",
            "The environment can be looked at again",
        );
    }
    let changes = report.differs_from(&before);
    *lock(&environment.latest) = (Arc::new(report), None);
    if changes.is_empty() && fault.is_none() {
        return;
    }
    for change in &changes {
        note(app, Severity::Info, "env_changed", &change.to_string());
    }
    // Only what came now is told as grave as it is: the rest was told before.
    if let Some(worst) = changes
        .iter()
        .filter(|change| is_new(change))
        .map(|change| change.severity)
        .max()
    {
        tell(app, &app.owner.requirements(), Some(worst));
    }
    app.owner.again.notify_one();
}

fn is_new(change: &Change) -> bool {
    change.to.is_some() && change.severity > Gravity::Info
}

fn note(app: &App, severity: Severity, name: &str, message: &str) {
    app.guard.note(&Event::Note {
        severity,
        category: Category::Env,
        name,
        message,
        details: serde_json::Map::new(),
    });
}

const fn severity(gravity: Gravity) -> Severity {
    match gravity {
        Gravity::Info => Severity::Info,
        Gravity::Warn => Severity::Warn,
        Gravity::Critical => Severity::Critical,
    }
}
