//! The one way out of a network namespace: a listener on its loopback that the outside holds.

use crate::error::SandboxError;
use crate::wire::{self, Word};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

/// Brings loopback up, listens on it, and hands the listener out. Returns its port.
pub(super) fn listen(control: &OwnedFd) -> Result<u16, SandboxError> {
    up().map_err(|e| SandboxError::step("bring loopback up", e))?;
    let failed = |e| SandboxError::step("listen on loopback", e);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    wire::send(control, &Word::Listening, &[listener.as_fd()]).map_err(failed)?;
    Ok(port)
}

/// Asks the kernel to bring device 1 up, which is loopback in every new namespace.
fn up() -> std::io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 1 | 4;
    const UP: u32 = 1;
    const LENGTH: u32 = 32;
    let mut message = Vec::with_capacity(32);
    // The header: length, type, flags, sequence, port.
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend([0; 8]);
    // The link: family and type (none), index, flags, which flags are meant.
    message.extend([0; 4]);
    message.extend(1i32.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 256];
    let (got, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    // After the header of the answer stands the error, 0 for none.
    match answer.get(16..20).filter(|_| got >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(code) => {
            let code = i32::from_ne_bytes(code.try_into().unwrap_or_default());
            Err(std::io::Error::from_raw_os_error(-code))
        }
        None => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
