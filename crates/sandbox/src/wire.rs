//! What the launcher and the one who started it say to each other: whole messages, with descriptors.

use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::layers::Layers;
use crate::spawn::Exit;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Largest message. The kernel's buffer of such a socket holds a little more.
const MOST: usize = 160 * 1024;
/// Most descriptors in a message.
const DESCRIPTORS: usize = 4;

/// The one message to the launcher. With it come standard input, output, error and, for a worker, its line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) confinement: Confinement,
    pub(crate) job: Job,
    /// Who must live.
    pub(crate) parent: i32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    Worker(String),
    Command(Vec<Argument>),
    Probe,
}

/// An argument: as text where it is text, which is a quarter as long.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Argument {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&OsString> for Argument {
    fn from(argument: &OsString) -> Self {
        match argument.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(argument.as_bytes().to_owned()),
        }
    }
}

impl AsRef<OsStr> for Argument {
    fn as_ref(&self) -> &OsStr {
        match self {
            Self::Text(text) => OsStr::new(text),
            Self::Bytes(bytes) => OsStr::from_bytes(bytes),
        }
    }
}

/// The first message to a template: what its workers are for, and how it prepares for that.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) job: String,
    pub(crate) how: String,
    /// Who must live.
    pub(crate) parent: i32,
}

/// The further ones: fork. With it comes the control line of the new process, whose order is in it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fork;

/// What a template answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Told {
    Prepared,
    /// With it comes a handle on the process of this number.
    Forked(u32),
    NotForked,
}

/// Messages of the launcher, in this order; the last one comes from what outlives the confined process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Word {
    /// With it comes the listener on the inner loopback.
    Listening,
    Ready(Layers),
    Failed(SandboxError),
    Ended(Exit),
}

/// Two connected ends that keep messages apart and are closed on exec.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

pub(crate) fn send<T: Serialize>(
    to: impl AsFd,
    message: &T,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !with.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&to, &[IoSlice::new(&text)], &mut with, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// The next message, or `None` when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(
    from: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut text = vec![0; MOST + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(
            &from,
            &mut [IoSliceMut::new(&mut text)],
            &mut with,
            RecvFlags::CMSG_CLOEXEC,
        )
    })?;
    let mut descriptors = Vec::new();
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    if got.bytes == 0 {
        return Ok(None);
    }
    let text = text.get(..got.bytes.min(MOST)).unwrap_or_default();
    Ok(Some((serde_json::from_slice(text)?, descriptors)))
}
