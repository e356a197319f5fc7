//! What the attempts are made on: files, sockets, a process, a leaking descriptor.

use crate::PROGRAM;
use blastshield_sandbox::Confinement;
use serde_json::json;
use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// What the attempts are made on. Dropping it ends everything.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    victim: Child,
    port: u16,
    abstract_name: String,
    _held: (TcpListener, UdpSocket, UnixListener, UnixListener),
    /// The secret, open, and not closed when something is executed.
    _leak: File,
}

const SECRET: &str = "the key to everything";

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["outside/.ssh", "read", "write"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("outside/.ssh/id_ed25519"), SECRET).unwrap();
        std::fs::write(at("outside/movable"), "a file").unwrap();
        std::fs::write(at("read/given"), "given").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        let socket = UnixListener::bind(at("outside/socket")).unwrap();
        let abstract_name = format!("blastshield-escape-{port}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let abstract_socket = UnixListener::bind_addr(&address).unwrap();
        let victim = Command::new(PROGRAM)
            .arg("victim")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let leak = File::open(at("outside/.ssh/id_ed25519")).unwrap();
        rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
        Self {
            folder,
            victim,
            port,
            abstract_name,
            _held: (tcp, udp, socket, abstract_socket),
            _leak: leak,
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn facts(&self, limited: bool, control: bool) -> String {
        json!({
            "outside": self.at("outside"),
            "secret": SECRET,
            "read": self.at("read"),
            "write": self.at("write"),
            "victim": self.victim.id(),
            "port": self.port,
            "abstract_name": self.abstract_name,
            "limited": limited,
            "control": control,
        })
        .to_string()
    }

    /// Small, so that the hogs are soon stopped.
    pub(crate) fn confined(&self, base: Confinement) -> Confinement {
        let mut confinement = base.read(self.at("read")).write(self.at("write"));
        confinement.limits.memory = 64 << 20;
        confinement.limits.cpu = 1;
        confinement.limits.file_size = 1 << 20;
        confinement.limits.scratch = confinement.limits.scratch.min(1 << 20);
        confinement
    }

    /// Nothing outside was touched.
    pub(crate) fn assert_intact(&mut self) {
        let outside = std::fs::read_dir(self.at("outside")).unwrap();
        let mut names: Vec<_> = outside
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".ssh", "movable", "socket"]);
        assert_eq!(
            std::fs::read(self.at("outside/movable")).unwrap(),
            b"a file"
        );
        assert_eq!(std::fs::read(self.at("read/given")).unwrap(), b"given");
        assert_eq!(std::fs::read_dir(self.at("read")).unwrap().count(), 1);
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim died");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}
