//! `blastshield serve`: the gateway.

use crate::args::ServeOptions;
use crate::settings::values;
use anyhow::Context;
use blastshield_config::Settings;
use blastshield_gateway::{Gateway, logs};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) fn run(options: &ServeOptions) -> anyhow::Result<()> {
    let mut values = values(&options.settings)?;
    if let Some(host) = &options.host {
        values.set_flag("server.host", host.clone())?;
    }
    if let Some(port) = options.port {
        values.set_flag("server.port", port.to_string())?;
    }
    let settings = Settings::from_values(&values)?;
    logs::set_up(
        &settings.logs.dir,
        settings.logs.max_bytes,
        settings.store.retention_days,
    )
    .map_err(|error| anyhow::anyhow!("cannot write log files: {}", error.kind()))?;
    runtime()?.block_on(async {
        let gateway = Gateway::bind(settings).await?;
        let mut term = signal(SignalKind::terminate()).context("cannot listen for signals")?;
        let mut int = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
        let mut hup = signal(SignalKind::hangup()).context("cannot listen for signals")?;
        let recheck = gateway.recheck();
        tokio::spawn(async move {
            while hup.recv().await.is_some() {
                recheck.now();
            }
        });
        eprintln!("listening on http://{}", gateway.address());
        if let Some(address) = gateway.egress_address() {
            eprintln!("forward proxy on http://{address}");
        }
        gateway
            .serve(async move {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
                eprintln!("ending; requests in flight are finished first");
            })
            .await;
        Ok(())
    })
}

/// The runtime of commands that use the network.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}
