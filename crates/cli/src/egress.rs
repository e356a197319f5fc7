//! `blastshield egress`: the forward proxy alone, and the authority that clients of opened TLS have to trust.

use crate::args::SettingsOptions;
use crate::serve::runtime;
use crate::settings::settings;
use anyhow::Context;
use blastshield_config::Settings;
use blastshield_egress::Ca;
use blastshield_gateway::{Exit, logs};
use blastshield_policy::DomainList;
use clap::{Args, Subcommand};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Where it listens unless the settings say otherwise.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 3128);

const EXAMPLES: &str = "\
Examples:
  blastshield egress                                     on 127.0.0.1:3128
  HTTPS_PROXY=http://127.0.0.1:3128 curl https://api.openai.com/v1/models
  blastshield egress --set egress.mode=report            let unlisted hosts pass, and log them
  blastshield egress ca                                  what clients of opened TLS have to trust

Exit codes: 0 ended by a signal, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EgressOptions {
    #[command(subcommand)]
    command: Option<EgressCommand>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<SocketAddr>,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Subcommand)]
enum EgressCommand {
    /// Print the certificate of the local authority, made if there is none
    Ca(CaOptions),
}

#[derive(Debug, Args)]
struct CaOptions {
    /// Print the path of its file instead
    #[arg(long)]
    path: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn run(options: &EgressOptions) -> anyhow::Result<()> {
    if let Some(EgressCommand::Ca(options)) = &options.command {
        let ca = Ca::open(&settings(&options.settings)?.data_dir)?;
        if options.path {
            println!("{}", ca.path().display());
        } else {
            print!("{}", ca.pem());
        }
        return Ok(());
    }
    let settings = settings(&options.settings)?;
    let address = options
        .address
        .or(settings.egress.address)
        .unwrap_or(ADDRESS);
    set_up_logs(&settings)?;
    runtime()?.block_on(async {
        let exit = Exit::bind(settings, address).await?;
        let mut term = signal(SignalKind::terminate()).context("cannot listen for signals")?;
        let mut int = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
        if let Some(address) = exit.address() {
            eprintln!("forward proxy on http://{address}");
        }
        exit.serve(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        })
        .await;
        Ok(())
    })
}

fn set_up_logs(settings: &Settings) -> anyhow::Result<()> {
    logs::set_up(
        &settings.logs.dir,
        settings.logs.max_bytes,
        settings.store.retention_days,
    )
    .map_err(|error| anyhow::anyhow!("cannot write log files: {}", error.kind()))
}

/// The proxy of one confined command.
pub(crate) struct WayOut {
    runtime: Runtime,
    exit: Option<Exit>,
    name: &'static str,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl WayOut {
    /// Prepares a proxy for a command that may reach these domains beside the allowlist.
    pub(crate) fn open(
        name: &'static str,
        domains: &[String],
        settings: Settings,
    ) -> anyhow::Result<Self> {
        let allow = DomainList::from_entries(domains.iter().map(String::as_str))?;
        set_up_logs(&settings)?;
        let runtime = runtime()?;
        let exit = runtime.block_on(Exit::for_guest(settings, name, allow))?;
        Ok(Self {
            runtime,
            exit: Some(exit),
            name,
            serving: None,
        })
    }

    /// Serves this listener from now on.
    pub(crate) fn serve(&mut self, listener: std::net::TcpListener) -> anyhow::Result<()> {
        let exit = self.exit.take().context("the proxy serves one listener")?;
        listener.set_nonblocking(true)?;
        let _inside = self.runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (end, ended) = oneshot::channel();
        let name = self.name;
        let task = self.runtime.spawn(async move {
            let ended = async {
                let _ = ended.await;
            };
            exit.serve_guest(listener, name, ended).await;
            exit.close().await;
        });
        self.serving = Some((end, task));
        Ok(())
    }

    /// Ends it, and writes what is left to write.
    pub(crate) fn close(self) {
        let Self {
            runtime,
            exit,
            serving,
            ..
        } = self;
        if let Some(exit) = exit {
            runtime.block_on(exit.close());
        }
        if let Some((end, task)) = serving {
            let _ = end.send(());
            let _ = runtime.block_on(task);
        }
    }
}
