//! `blastshield sandbox run`: a command of somebody else, confined.

use super::way_out;
use crate::args::SettingsOptions;
use crate::settings::settings;
use anyhow::{Context, bail};
use blastshield_sandbox::{
    Bounds, Confinement, Exit, Finished, Launcher, Layer, Missing, Network, Source,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

/// It was ended for taking too long, as `timeout` has it.
const TIMED_OUT: u8 = 124;
/// It was not started, or its output was too much.
const FAILED: u8 = 125;
/// Largest input.
const MOST_INPUT: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  blastshield sandbox run -- python3 -c 'print(1)'
  blastshield sandbox run --read ./plugin --write ./work --json -- ./plugin/main
  blastshield sandbox run --network allowlist --allow-domain api.example.org -- curl https://api.example.org/

The command sees programs and libraries of this system, the folders given, and an empty /tmp. Its environment is PATH,
HOME=/tmp, TMPDIR=/tmp, LANG and what --env gives. With --json one document is printed: {result?, error?, timedOut}.
Exit codes: the command's own; 124 timed out, 125 not started or too much output, 128+n ended by signal n";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunOptions {
    /// What it reaches: nothing, named domains through our guarded proxy, or everything
    #[arg(long, value_enum, default_value = "none")]
    network: NetworkName,
    /// With --network allowlist: a domain that it reaches, with everything below it; may be repeated. Without any, the
    /// domains of egress.allowed_domains
    #[arg(long, value_name = "DOMAIN")]
    allow_domain: Vec<String>,
    /// Most memory of a process, such as 256M or 1G
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    memory: u64,
    /// Longest time, such as 500ms, 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    timeout: Duration,
    /// Most bytes of its output, and of its errors
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    output: u64,
    /// Most processes and threads
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=4096))]
    processes: u64,
    /// A folder or file that it may read; may be repeated
    #[arg(long, value_name = "DIR")]
    read: Vec<PathBuf>,
    /// A folder that it may write; may be repeated. It starts in the first one
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// A variable that it gets; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Its input, from a file or `-` for ours; none by default
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// What happens when this machine cannot hold a layer
    #[arg(long, value_enum, default_value = "refuse")]
    missing: MissingName,
    /// Print one JSON document instead of its output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NetworkName {
    None,
    Allowlist,
    Full,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MissingName {
    /// Nothing is started
    Refuse,
    /// Start with what there is, and say what is missing
    Degrade,
}

/// Ends with a code of its own also when it fails, so that nobody takes it for the command's.
pub(super) fn run(options: &RunOptions) -> u8 {
    let outcome = start(options);
    if options.json {
        println!("{}", document(&outcome));
    }
    match outcome {
        Ok(finished) => {
            if !options.json {
                tell(&finished);
            }
            code(&finished)
        }
        Err(error) => {
            if !options.json {
                crate::said::error(&error);
            }
            FAILED
        }
    }
}

fn start(options: &RunOptions) -> anyhow::Result<Finished> {
    if options.network != NetworkName::Allowlist && !options.allow_domain.is_empty() {
        bail!("--allow-domain needs --network allowlist");
    }
    let settings = settings(&options.settings)?;
    for path in options.read.iter().chain(&options.write) {
        if crate::run::holds(path, &settings.data_dir) {
            bail!(
                "a folder that is given holds the data folder of Blastshield, with the owner's token in it: give others"
            );
        }
    }
    let confinement = confinement(options)?;
    let input = input(options)?;
    let way_out = match options.network {
        NetworkName::Allowlist => Some(way_out::open(&options.allow_domain, settings)?),
        NetworkName::None | NetworkName::Full => None,
    };
    let bounds = Bounds {
        time: options.timeout,
        output: usize::try_from(options.output)?,
    };
    let mut show = |source, piece: &[u8]| {
        if !options.json {
            // A reader that went away does not end the command.
            let _ = match source {
                Source::Output => std::io::stdout().write_all(piece),
                Source::Errors => std::io::stderr().write_all(piece),
            };
        }
    };
    let launcher = Launcher::this_program();
    let finished = launcher.run_and_show(
        &options.command,
        &confinement,
        bounds,
        &input,
        |listener| {
            if let Some(way_out) = &way_out {
                way_out.serve(listener);
            }
        },
        &mut show,
    )?;
    let _ = std::io::stdout().flush();
    if let Some(way_out) = way_out {
        way_out.close();
    }
    Ok(finished)
}

fn confinement(options: &RunOptions) -> anyhow::Result<Confinement> {
    let mut confinement = Confinement::plugin()
        .memory(options.memory)
        .network(match options.network {
            NetworkName::None => Network::None,
            NetworkName::Allowlist => Network::Proxied,
            NetworkName::Full => Network::Full,
        })
        .missing(match options.missing {
            MissingName::Refuse => Missing::Refuse,
            MissingName::Degrade => Missing::Degrade,
        });
    confinement.limits.processes = options.processes;
    // Processor time ends a loop also where the clock is not asked.
    confinement.limits.cpu = options.timeout.as_secs().saturating_add(1);
    confinement.read.clone_from(&options.read);
    confinement.write.clone_from(&options.write);
    if options.network == NetworkName::Full {
        for path in ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"] {
            if std::fs::exists(path).unwrap_or(false) {
                confinement = confinement.read(path);
            }
        }
    }
    for pair in &options.env {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            bail!("--env takes NAME=VALUE");
        };
        confinement = confinement.env(name, value);
    }
    Ok(confinement)
}

fn input(options: &RunOptions) -> anyhow::Result<Vec<u8>> {
    let mut input = Vec::new();
    let read = match options.input.as_deref() {
        None => return Ok(input),
        Some(path) if path.as_os_str() == "-" => std::io::stdin()
            .take(MOST_INPUT + 1)
            .read_to_end(&mut input),
        Some(path) => std::fs::File::open(path)
            .and_then(|file| file.take(MOST_INPUT + 1).read_to_end(&mut input)),
    };
    read.context("cannot read its input")?;
    if input.len() as u64 > MOST_INPUT {
        bail!("its input is larger than 16 MiB");
    }
    Ok(input)
}

/// `{result?, error?, timedOut}`, and `missingLayers` where it ran without some that were promised.
fn document(outcome: &anyhow::Result<Finished>) -> Value {
    match outcome {
        Err(error) => json!({ "error": format!("{error:#}"), "timedOut": false }),
        Ok(finished) => {
            let mut document = json!({
                "result": {
                    "exitCode": match finished.exit { Exit::Code(code) => Some(code), Exit::Signal(_) => None },
                    "stdout": String::from_utf8_lossy(&finished.stdout),
                    "stderr": String::from_utf8_lossy(&finished.stderr),
                },
                "timedOut": finished.timed_out,
            });
            if let Some(document) = document.as_object_mut() {
                if let Some(error) = problem(finished) {
                    document.insert("error".to_owned(), error.into());
                }
                let missing = missing(finished);
                if !missing.is_empty() {
                    document.insert("missingLayers".to_owned(), missing.into());
                }
            }
            document
        }
    }
}

/// Why it did not come to its own end.
fn problem(finished: &Finished) -> Option<String> {
    match finished.exit {
        _ if finished.timed_out => Some("it took too long and was ended".to_owned()),
        _ if finished.too_much => Some("it said too much and was ended".to_owned()),
        Exit::Signal(signal) => Some(format!("it was ended by signal {signal}")),
        Exit::Code(_) => None,
    }
}

/// Layers that were promised and do not hold. The memory of a whole tree is a help where there is one, and no promise.
fn missing(finished: &Finished) -> Vec<&'static str> {
    let missing = finished.layers.missing().into_iter();
    missing
        .filter(|layer| *layer != Layer::CgroupMemory)
        .map(Layer::name)
        .collect()
}

fn tell(finished: &Finished) {
    let missing = missing(finished);
    if !missing.is_empty() {
        eprintln!("blastshield: confined without {}", missing.join(", "));
    }
    if let Some(problem) = problem(finished) {
        eprintln!("blastshield: {problem}");
    }
}

fn code(finished: &Finished) -> u8 {
    match finished.exit {
        _ if finished.timed_out => TIMED_OUT,
        _ if finished.too_much => FAILED,
        Exit::Code(code) => u8::try_from(code).unwrap_or(FAILED),
        Exit::Signal(signal) => u8::try_from(signal.saturating_add(128)).unwrap_or(FAILED),
    }
}

/// A number of bytes: digits, and K, M or G.
fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (text.get(..text.len() - 1), 1 << 10),
        Some(b'M' | b'm') => (text.get(..text.len() - 1), 1 << 20),
        Some(b'G' | b'g') => (text.get(..text.len() - 1), 1 << 30),
        _ => (Some(text), 1),
    };
    digits
        .and_then(|digits| digits.parse::<u64>().ok())
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| (1..=1 << 40).contains(bytes))
        .ok_or_else(|| "a size is a number with K, M or G, up to 1024G".to_owned())
}

/// A time: digits, and ms, s or m.
fn time(text: &str) -> Result<Duration, String> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    let time = if let Some(digits) = text.strip_suffix("ms") {
        number(digits).map(Duration::from_millis)
    } else if let Some(digits) = text.strip_suffix('s') {
        number(digits).map(Duration::from_secs)
    } else if let Some(digits) = text.strip_suffix('m') {
        number(digits)
            .and_then(|minutes| minutes.checked_mul(60))
            .map(Duration::from_secs)
    } else {
        number(text).map(Duration::from_secs)
    };
    let day = Duration::from_secs(24 * 3600);
    time.filter(|time| !time.is_zero() && *time <= day)
        .ok_or_else(|| "a time is a number with ms, s or m, up to a day".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read() {
        assert_eq!(size("256M"), Ok(256 << 20));
        assert_eq!(size("1g"), Ok(1 << 30));
        assert_eq!(size("512"), Ok(512));
        for bad in ["", "M", "0", "-1", "1T", "99999999999G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        for bad in ["", "s", "0s", "1h", "99999m", "-1s"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
