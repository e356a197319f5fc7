//! The commented definition from which a new one starts.

use super::is_name;

const TEMPLATE: &str = include_str!("template.toml");

/// A definition to fill in; nothing when the name cannot be a service's.
#[must_use]
pub fn template(name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    let variable = name.to_ascii_uppercase().replace('-', "_");
    let mut title = name.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some(
        TEMPLATE
            .replace("{name}", name)
            .replace("{Name}", &title)
            .replace("{VARIABLE}", &variable),
    )
}
