//! Which layers must hold for one confinement, by what it promises.

use crate::confinement::{Confinement, Missing, Network};
use crate::layers::{Layer, Layers};

/// The layers without which this confinement may not start; empty when it may.
pub fn lacking(confinement: &Confinement, layers: &Layers) -> Vec<Layer> {
    let mut needed = last_wall(confinement, layers);
    if confinement.missing == Missing::Refuse {
        needed.extend([
            Layer::UserNamespace,
            Layer::MountNamespace,
            Layer::PidNamespace,
            Layer::IpcNamespace,
            Layer::UtsNamespace,
            Layer::LandlockFiles,
            Layer::ResourceLimits,
            Layer::ProcessLimit,
            Layer::ParentDeath,
        ]);
        match confinement.network {
            Network::None | Network::Proxied => needed.push(Layer::NetworkNamespace),
            // It shares the network, and with it the abstract sockets of everybody.
            Network::Full => needed.push(Layer::LandlockScope),
        }
    }
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|layer| !layers.holds(*layer));
    needed
}

/// What nothing starts without.
fn last_wall(confinement: &Confinement, layers: &Layers) -> Vec<Layer> {
    let mut wall = vec![Layer::NoNewPrivs, Layer::Seccomp, Layer::Capabilities];
    if !layers.holds(Layer::MountNamespace) {
        wall.push(Layer::LandlockFiles);
    }
    // Without its own network nothing would lead its connections to the proxy.
    if confinement.network == Network::Proxied {
        wall.push(Layer::NetworkNamespace);
    }
    wall
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(missing: &[Layer]) -> Layers {
        let mut layers = Layers::default();
        for layer in Layer::ALL {
            if missing.contains(&layer) {
                layers.miss(layer, "as this test says");
            } else {
                layers.hold(layer, "");
            }
        }
        layers
    }

    #[test]
    fn everything_there_is_enough() {
        assert!(lacking(&Confinement::worker(), &with(&[])).is_empty());
    }

    #[test]
    fn refusing_names_what_is_missing() {
        let layers = with(&[Layer::PidNamespace, Layer::CgroupMemory]);
        assert_eq!(
            lacking(&Confinement::worker(), &layers),
            [Layer::PidNamespace]
        );
    }

    #[test]
    fn degrading_keeps_the_last_wall() {
        let plugin = Confinement::plugin().missing(Missing::Degrade);
        let without_namespaces = with(&[
            Layer::UserNamespace,
            Layer::MountNamespace,
            Layer::NetworkNamespace,
            Layer::PidNamespace,
        ]);
        assert!(lacking(&plugin, &without_namespaces).is_empty());
        assert_eq!(lacking(&plugin, &with(&[Layer::Seccomp])), [Layer::Seccomp]);
        assert_eq!(
            lacking(
                &plugin,
                &with(&[Layer::MountNamespace, Layer::LandlockFiles])
            ),
            [Layer::LandlockFiles]
        );
        assert_eq!(
            lacking(&plugin.network(Network::Proxied), &without_namespaces),
            [Layer::NetworkNamespace]
        );
    }

    #[test]
    fn a_shared_network_needs_the_scope() {
        let full = Confinement::plugin().network(Network::Full);
        let layers = with(&[Layer::LandlockScope, Layer::NetworkNamespace]);
        assert_eq!(lacking(&full, &layers), [Layer::LandlockScope]);
    }
}
