//! An address taken apart, into what can carry data.

/// The parts of an address that can carry data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'u> {
    pub(crate) user: Option<&'u str>,
    pub(crate) host: &'u str,
    pub(crate) segments: Vec<&'u str>,
    /// Name and value.
    pub(crate) query: Vec<(&'u str, &'u str)>,
    pub(crate) fragment: &'u str,
}

/// Most segments or query parameters that are looked at one by one.
const MAX_PARTS: usize = 256;

impl<'u> Parts<'u> {
    pub(crate) fn of(url: &'u str) -> Self {
        let is_slash = |c: char| c == '/' || c == '\\';
        let rest = url
            .find(is_slash)
            .and_then(|at| url.get(at..))
            .unwrap_or(url)
            .trim_start_matches(is_slash);
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest
            .find(['/', '\\'])
            .and_then(|at| rest.split_at_checked(at))
            .unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let segments = path
            .split(['/', '\\', ';', ','])
            .filter(|segment| !segment.is_empty())
            .take(MAX_PARTS)
            .collect();
        let query = query
            .split(['&', ';'])
            .filter(|pair| !pair.is_empty())
            .take(MAX_PARTS)
            .map(|pair| {
                let pair = pair.strip_prefix("amp;").unwrap_or(pair);
                pair.split_once('=').unwrap_or(("", pair))
            })
            .collect();
        Self {
            user,
            host,
            segments,
            query,
            fragment,
        }
    }

    /// The host without port, or the domain of one of its parents.
    pub(crate) fn is_under(&self, domain: &str) -> bool {
        let host = self.host.split(':').next().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        host == domain
            || host
                .strip_suffix(domain)
                .is_some_and(|rest| rest.ends_with('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parts = Parts::of("https://u:p@h.example:8/a/b;c?x=1&amp;y=2&z#f");
        assert_eq!(parts.user, Some("u:p"));
        assert_eq!(parts.host, "h.example:8");
        assert_eq!(parts.segments, ["a", "b", "c"]);
        assert_eq!(
            parts.query,
            [("x", "1"), ("", "amp"), ("y", "2"), ("", "z")]
        );
        assert_eq!(parts.fragment, "f");
        assert!(parts.is_under("example") && !parts.is_under("ample"));
    }
}
