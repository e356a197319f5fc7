//! The address of a service as an operator configured it, checked once.

use crate::error::ConfigError;
use std::str::FromStr;
use url::Url;

/// An http or https address to which a service's paths are appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// The address with these path segments after whatever path it already has.
    pub(crate) fn join(&self, segments: &[&str]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

impl FromStr for BaseUrl {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let url = Url::parse(text.trim()).map_err(|_| ConfigError::BaseUrl)?;
        let plain = matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        plain.then_some(Self(url)).ok_or(ConfigError::BaseUrl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_appended_with_or_without_a_final_slash() {
        for text in ["https://a.example/res/v1", "https://a.example/res/v1/"] {
            let base: BaseUrl = text.parse().unwrap();
            assert_eq!(
                base.join(&["web", "search"]).as_str(),
                "https://a.example/res/v1/web/search"
            );
        }
        let bare: BaseUrl = "http://127.0.0.1:8080".parse().unwrap();
        assert_eq!(
            bare.join(&["search"]).as_str(),
            "http://127.0.0.1:8080/search"
        );
    }

    #[test]
    fn anything_but_a_plain_web_address_is_refused() {
        for text in [
            "",
            "a.example",
            "ftp://a.example",
            "file:///etc/passwd",
            "https://user:pass@a.example",
            "https://a.example/?key=1",
            "https://a.example/#x",
        ] {
            assert_eq!(text.parse::<BaseUrl>(), Err(ConfigError::BaseUrl), "{text}");
        }
    }
}
