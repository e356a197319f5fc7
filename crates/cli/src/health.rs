//! `blastshield health`: the health check of containers, without another program.

use crate::args::HealthOptions;
use crate::remote::reachable;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(options: &HealthOptions) -> anyhow::Result<u8> {
    let address = reachable(settings(&options.settings)?.server.address);
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)
        .with_context(|| format!("no gateway answers on {address}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream
        .take(64 * 1024)
        .read_to_string(&mut answer)
        .context("the gateway did not finish its answer")?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .context("the answer is not HTTP")?;
    println!("{body}");
    let ready = head.split_whitespace().nth(1) == Some("200");
    Ok(if ready { CLEAN } else { FINDINGS })
}
