//! Streams and the line of a confined process, from both sides.

use crate::confinement::Streams;
use std::io::{PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Both ends of everything that the process gets.
pub(crate) struct Ends {
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: Option<PipeReader>,
    pub(crate) stderr: Option<PipeReader>,
    pub(crate) line: Option<UnixStream>,
    pub(crate) theirs: Vec<OwnedFd>,
}

impl Ends {
    pub(crate) fn new(streams: Streams, worker: bool) -> std::io::Result<Self> {
        let mut ends = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            line: None,
            theirs: Vec::new(),
        };
        match streams {
            Streams::Nowhere => {
                let nowhere = std::fs::File::options()
                    .read(true)
                    .write(true)
                    .open("/dev/null")?;
                for _ in 0..3 {
                    ends.theirs.push(nowhere.as_fd().try_clone_to_owned()?);
                }
            }
            Streams::Pipes => {
                let (input, stdin) = std::io::pipe()?;
                let (stdout, output) = std::io::pipe()?;
                let (stderr, errors) = std::io::pipe()?;
                ends.stdin = Some(stdin);
                ends.stdout = Some(stdout);
                ends.stderr = Some(stderr);
                ends.theirs = vec![input.into(), output.into(), errors.into()];
            }
            Streams::Inherit => {
                ends.theirs = vec![
                    std::io::stdin().as_fd().try_clone_to_owned()?,
                    std::io::stdout().as_fd().try_clone_to_owned()?,
                    std::io::stderr().as_fd().try_clone_to_owned()?,
                ];
            }
        }
        if worker {
            let (ours, theirs) = UnixStream::pair()?;
            ends.line = Some(ours);
            ends.theirs.push(theirs.into());
        }
        Ok(ends)
    }
}
