//! What was given, as the kernel will see it: whole, existing, and nothing that opens the rest of the machine.

use crate::confinement::Confinement;
use crate::error::SandboxError;
use std::path::{Path, PathBuf};

/// Most paths of each kind.
const MOST: usize = 64;

/// The same confinement with every path resolved.
pub(crate) fn resolved(confinement: &Confinement) -> Result<Confinement, SandboxError> {
    let all = |paths: &[PathBuf]| -> Result<Vec<PathBuf>, SandboxError> {
        if paths.len() > MOST {
            return Err(invalid("too many folders are given"));
        }
        paths.iter().map(|path| real(path)).collect()
    };
    Ok(Confinement {
        read: all(&confinement.read)?,
        write: all(&confinement.write)?,
        folder: confinement.folder.as_deref().map(real).transpose()?,
        ..confinement.clone()
    })
}

fn real(path: &Path) -> Result<PathBuf, SandboxError> {
    let path = path
        .canonicalize()
        .map_err(|_| invalid("a folder that is given does not exist or cannot be read"))?;
    // These hold the machine itself: other processes, devices, the kernel.
    let opens_all = path.parent().is_none()
        || ["/proc", "/sys", "/dev"]
            .iter()
            .any(|own| path.starts_with(own));
    if opens_all {
        return Err(invalid("the root, /proc, /sys and /dev cannot be given"));
    }
    Ok(path)
}

fn invalid(text: &str) -> SandboxError {
    SandboxError::Invalid(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_itself_cannot_be_given() {
        for path in [
            "/",
            "/proc",
            "/proc/self",
            "/sys",
            "/dev",
            "/usr/..",
            "/no/such/folder",
        ] {
            assert!(
                resolved(&Confinement::plugin().read(path)).is_err(),
                "{path}"
            );
            assert!(
                resolved(&Confinement::plugin().write(path)).is_err(),
                "{path}"
            );
        }
        assert!(resolved(&Confinement::plugin().read("/usr")).is_ok());
    }
}
