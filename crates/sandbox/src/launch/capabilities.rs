//! No capability now, and none to gain.

use crate::error::SandboxError;
use crate::layers::{Layer, Layers};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

/// Gives up every capability for good, and the right to gain any by executing something.
pub(super) fn drop_all(layers: &mut Layers) -> Result<(), SandboxError> {
    let failed = |e| SandboxError::step("give up rights", e);
    rustix::thread::set_no_new_privs(true).map_err(failed)?;
    if rustix::thread::no_new_privs().map_err(failed)? {
        layers.hold(Layer::NoNewPrivs, "on");
    }
    let mut bounded = true;
    for bit in 0..64 {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // Beyond the last one that this kernel knows.
            Err(rustix::io::Errno::INVAL) => break,
            // Without the right to: then there is nothing to give up, and no_new_privs keeps it so.
            Err(_) => bounded = false,
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let secure = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    let _ = rustix::thread::set_capabilities_secure_bits(secure);
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(failed)?;
    let left = rustix::thread::capabilities(None).map_err(failed)?;
    if left.effective.is_empty() && left.permitted.is_empty() && left.inheritable.is_empty() {
        let detail = if bounded {
            "none, and none to gain"
        } else {
            "none"
        };
        layers.hold(Layer::Capabilities, detail);
    }
    Ok(())
}
