//! From a host to a connection: resolved once, every answer checked, and only what was checked is dialled.

use crate::options::Limits;
use crate::refusal::Refusal;
use blastshield_policy::{AddressGuard, Host, Ports};
use blastshield_web::{Connector, FetchError, Phase, Resolver};
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Dials hosts.
#[derive(Debug)]
pub struct Dialer {
    /// Where names are looked up.
    pub resolver: Resolver,
    /// Opens connections.
    pub connector: Connector,
    /// Which addresses may be reached.
    pub guard: AddressGuard,
    /// Which ports.
    pub ports: Ports,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Dialled {
    pub(crate) stream: TcpStream,
    pub(crate) address: SocketAddr,
    /// Only an exception made it admissible.
    pub(crate) by_exception: bool,
}

impl Dialer {
    /// What can be said without asking anybody: port, local names, literal addresses.
    pub(crate) fn check(&self, host: &Host, port: u16) -> Result<(), Refusal> {
        if !self.ports.allow(port) {
            return Err(Refusal::Address(blastshield_policy::Refusal::Port(port)));
        }
        let known = match host {
            Host::Name(_) => self.guard.check_name(host),
            Host::Ip(_) => self.guard.admit(host, &[], port).map(drop),
        };
        known.map_err(Refusal::Address)
    }

    pub(crate) async fn dial(
        &self,
        host: &Host,
        port: u16,
        limits: &Limits,
    ) -> Result<Dialled, Refusal> {
        let answers = self
            .resolver
            .resolve(host, limits.resolve)
            .await
            .map_err(|error| Refusal::Unreachable(FetchError::Dns(error)))?;
        let admitted = self
            .guard
            .admit(host, &answers, port)
            .map_err(Refusal::Address)?;
        let stream = timeout(limits.connect, self.connector.dial(&admitted))
            .await
            .map_err(|_| Refusal::Unreachable(FetchError::Timeout(Phase::Connect)))?
            .map_err(Refusal::Unreachable)?;
        let address = stream.peer_addr().map_err(|_| Refusal::Gone)?;
        let by_exception = admitted
            .iter()
            .any(|one| one.by_exception() && one.socket_addr() == address);
        Ok(Dialled {
            stream,
            address,
            by_exception,
        })
    }
}
