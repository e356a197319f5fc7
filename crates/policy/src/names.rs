//! Names that lead inside by convention, whatever a resolver says about them.

/// The last labels of names that never belong to the public internet.
const LOCAL_SUFFIXES: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "localdomain",
    "home.arpa",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
    "onion",
    "invalid",
];

/// Public-looking names at which a cloud answers its own guests.
const METADATA_NAMES: &[&str] = &[
    "metadata.goog",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];

/// Whether a normalised name is local: reserved for it, without a dot, or a cloud's metadata service.
#[must_use]
pub fn is_local_name(name: &str) -> bool {
    !name.contains('.')
        || LOCAL_SUFFIXES.iter().any(|suffix| is_under(name, suffix))
        || METADATA_NAMES.iter().any(|suffix| is_under(name, suffix))
}

/// Whether `name` is `parent` or below it, on label borders.
fn is_under(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_are_known() {
        for name in [
            "localhost",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "localhost.localdomain",
            "router.home.arpa",
            "intranet",
            "instance-data",
            "metadata.goog",
            "x.metadata.tencentyun.com",
        ] {
            assert!(is_local_name(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_not_local() {
        for name in [
            "example.com",
            "notlocal.example",
            "local.example.com",
            "mylocalhost.com",
            "10.example.com",
            "metadata.example",
            "internal.io",
        ] {
            assert!(!is_local_name(name), "{name}");
        }
    }
}
