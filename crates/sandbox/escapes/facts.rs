//! What the test made for the attempts.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// A folder that was not given, with a secret in `.ssh/id_ed25519`, a socket `socket` and room to write.
    pub(crate) outside: PathBuf,
    /// What the secret says.
    pub(crate) secret: String,
    /// A folder that may be read.
    pub(crate) read: PathBuf,
    /// A folder that may be written, beside `outside`.
    pub(crate) write: PathBuf,
    /// A process of the same user.
    pub(crate) victim: i32,
    /// Where something listens on the loopback outside, by TCP and UDP.
    pub(crate) port: u16,
    /// The name of an abstract socket outside.
    pub(crate) abstract_name: String,
    /// A limit is on: hogs may run.
    pub(crate) limited: bool,
    /// Unconfined, to show that an attempt works.
    pub(crate) control: bool,
}

impl Facts {
    pub(crate) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    pub(crate) fn secret_file(&self) -> PathBuf {
        self.outside.join(".ssh/id_ed25519")
    }
}
