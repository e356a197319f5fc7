//! A certificate authority of this machine, for hosts whose TLS the owner wants opened. Made once; its key is readable by
//! its owner alone. Certificates for hosts are made when needed and kept for a while.

use blastshield_policy::Host;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::NoServerSessionStorage;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

const KEY_FILE: &str = "egress-ca.key";
const CERTIFICATE_FILE: &str = "egress-ca.pem";
const DAY: Duration = Duration::from_secs(86_400);
/// How long the authority is valid.
const YEARS: u32 = 10;
/// Certificates of hosts are valid for longer than they are kept.
const LEAF_DAYS: u32 = 7;
const KEPT_FOR: Duration = DAY;
/// Certificates that are kept at most.
const MAX_KEPT: usize = 1024;

/// The authority cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CaError {
    /// The files cannot be read or written.
    #[error("the files of the local certificate authority cannot be used: {0}")]
    File(io::ErrorKind),
    /// Others can read the key.
    #[error(
        "egress-ca.key in the data folder can be read by others: chmod 600 it, or delete both egress-ca files to have new ones made"
    )]
    Exposed,
    /// What is in the files is no key or certificate.
    #[error(
        "egress-ca.key or egress-ca.pem in the data folder is damaged: delete both to have new ones made"
    )]
    Damaged,
    /// Nothing could be made.
    #[error("no certificate could be made")]
    Making,
}

/// The authority.
pub struct Ca {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    path: PathBuf,
    /// One key for all hosts; it never leaves this process.
    leaf: KeyPair,
    kept: Mutex<HashMap<Host, (Arc<ServerConfig>, Instant)>>,
}

impl std::fmt::Debug for Ca {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ca")
    }
}

impl Ca {
    /// The authority of this data folder, made if there is none.
    ///
    /// # Errors
    /// When its files cannot be used, or others can read its key.
    pub fn open(folder: &Path) -> Result<Self, CaError> {
        let file = |error: io::Error| CaError::File(error.kind());
        let (key_path, path) = (folder.join(KEY_FILE), folder.join(CERTIFICATE_FILE));
        let key = match fs::read_to_string(&key_path) {
            Ok(text) => {
                let mode = fs::metadata(&key_path).map_err(file)?.permissions().mode();
                if mode & 0o077 != 0 {
                    return Err(CaError::Exposed);
                }
                KeyPair::from_pem(&text).map_err(|_| CaError::Damaged)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(folder)
                    .map_err(file)?;
                let key = KeyPair::generate().map_err(|_| CaError::Making)?;
                write_new(&key_path, &key.serialize_pem(), 0o600).map_err(file)?;
                let certificate = params().self_signed(&key).map_err(|_| CaError::Making)?;
                let _ = fs::remove_file(&path);
                write_new(&path, &certificate.pem(), 0o644).map_err(file)?;
                key
            }
            Err(error) => return Err(file(error)),
        };
        let pem = match fs::read_to_string(&path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = params().self_signed(&key).map_err(|_| CaError::Making)?;
                write_new(&path, &made.pem(), 0o644).map_err(file)?;
                made.pem()
            }
            Err(error) => return Err(file(error)),
        };
        let certificate = certificate_of(&pem)?;
        Ok(Self {
            issuer: Issuer::new(params(), key),
            certificate,
            pem,
            path,
            leaf: KeyPair::generate().map_err(|_| CaError::Making)?,
            kept: Mutex::default(),
        })
    }

    /// The certificate that clients have to trust.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The file that holds it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How to pretend to be a host.
    pub(crate) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, CaError> {
        {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((config, since)) = kept.get(host)
                && since.elapsed() < KEPT_FOR
            {
                return Ok(Arc::clone(config));
            }
        }
        let config = Arc::new(self.mint(host).ok_or(CaError::Making)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (_, since)| since.elapsed() < KEPT_FOR);
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
        }
        kept.insert(host.clone(), (Arc::clone(&config), Instant::now()));
        Ok(config)
    }

    fn mint(&self, host: &Host) -> Option<ServerConfig> {
        let mut params = CertificateParams::default();
        let now = SystemTime::now();
        params.not_before = (now - DAY).into();
        params.not_after = (now + DAY * LEAF_DAYS).into();
        params.subject_alt_names = vec![match host {
            Host::Name(name) => SanType::DnsName(name.to_string().try_into().ok()?),
            Host::Ip(ip) => SanType::IpAddress(*ip),
        }];
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, "blastshield");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.leaf, &self.issuer).ok()?;
        let chain = vec![certificate.der().clone(), self.certificate.clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.leaf.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .ok()?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .ok()?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Some(config)
    }
}

/// Always the same, so that the key alone is enough to go on.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    let now = SystemTime::now();
    params.not_before = (now - DAY).into();
    params.not_after = (now + DAY * 365 * YEARS).into();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, "Blastshield local authority");
    params
}

fn certificate_of(pem: &str) -> Result<CertificateDer<'static>, CaError> {
    use rustls::pki_types::pem::PemObject as _;
    CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| CaError::Damaged)
}

fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let first = Ca::open(folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join(KEY_FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Ca::open(folder.path()).unwrap();
        assert_eq!(first.pem(), again.pem());
        let host = Host::parse("a.test").unwrap();
        let one = again.server(&host).unwrap();
        assert!(Arc::ptr_eq(&one, &again.server(&host).unwrap()));
        assert!(again.server(&Host::parse("10.0.0.1").unwrap()).is_ok());
    }

    #[test]
    fn an_exposed_or_damaged_key_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        Ca::open(folder.path()).unwrap();
        let key = folder.path().join(KEY_FILE);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Ca::open(folder.path()).err(), Some(CaError::Exposed));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&key, "nonsense").unwrap();
        assert_eq!(Ca::open(folder.path()).err(), Some(CaError::Damaged));
    }
}
