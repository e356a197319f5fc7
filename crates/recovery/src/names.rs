//! Names that may become paths: nothing in them leads anywhere but down.

use std::fmt;

/// What no service's name may hold, because it marks a workspace that was put aside.
pub(crate) const ASIDE: &str = "-quarantine-";
const MAX_SERVICE: usize = 40;
const MAX_STEP: usize = 120;
const MAX_STEPS: usize = 4;

/// A name or path that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not the name of a service.
    #[error("a service is named by 1 to 40 lower-case letters, digits, `-` or `_`")]
    Service,
    /// Not a path inside a workspace.
    #[error("a path in a workspace is relative, plain and at most four steps deep")]
    Path,
}

/// The name of a service, and of its workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceName(String);

impl ServiceName {
    /// Lower-case letters, digits, `-` and `_`, a letter or digit first; 40 at most.
    ///
    /// # Errors
    /// [`NameError::Service`] for anything else.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        let starts = name
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric());
        if !starts || name.len() > MAX_SERVICE || !name.bytes().all(plain) || name.contains(ASIDE) {
            return Err(NameError::Service);
        }
        Ok(Self(name.to_owned()))
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A file in a workspace: relative, without `..`, hidden or odd names, at most four steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

impl RelPath {
    /// Steps of letters, digits, `.`, `_`, `-`, `:` and `+` that do not begin with `.`, joined by `/`.
    ///
    /// # Errors
    /// [`NameError::Path`] for anything else.
    pub fn new(path: &str) -> Result<Self, NameError> {
        let steps = path.split('/');
        if steps.clone().count() > MAX_STEPS || !steps.clone().all(is_step) {
            return Err(NameError::Path);
        }
        Ok(Self(path.to_owned()))
    }

    /// A path of whose form the caller is sure.
    pub(crate) const fn trusted(path: String) -> Self {
        Self(path)
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder it is in, if not the workspace itself, and its name there.
    #[must_use]
    pub fn split(&self) -> (Option<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => (Some(folder), name),
            None => (None, &self.0),
        }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Whether a name is plain enough to be a step of a path.
pub(crate) fn is_step(step: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-:+".contains(&b);
    !step.is_empty() && step.len() <= MAX_STEP && !step.starts_with('.') && step.bytes().all(plain)
}

/// A name that a hostile process chose, fit to be shown: what is not plain stands as `%` and two digits, long names are cut.
pub(crate) fn shown(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len().min(MAX_STEP));
    for &byte in name {
        if out.len() >= MAX_STEP {
            out.push_str("%..");
            break;
        }
        let first = out.is_empty();
        if byte.is_ascii_alphanumeric() || b"_-:+".contains(&byte) || (byte == b'.' && !first) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_plain_words() {
        for good in ["moltbook", "a", "x-1_y", &"a".repeat(40)] {
            assert!(ServiceName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "A",
            "a/b",
            "..",
            "a.b",
            "é",
            "a-quarantine-1",
            &"a".repeat(41),
        ] {
            assert_eq!(ServiceName::new(bad), Err(NameError::Service), "{bad}");
        }
    }

    #[test]
    fn paths_lead_down_only() {
        for good in [
            "a",
            "posts/thread-4829-clean.json",
            "logs/crash-2026-02-23T14:32:01.443Z.json",
            "a/b/c/d",
        ] {
            assert!(RelPath::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "a/",
            "a//b",
            "..",
            "a/../b",
            "./a",
            ".hidden",
            "a/.b",
            "a\\b",
            "a b",
            "a\0",
            "é",
            "a/b/c/d/e",
            &"a".repeat(121),
        ] {
            assert_eq!(RelPath::new(bad), Err(NameError::Path), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_is_plain_and_bounded() {
        assert_eq!(shown(b"../a\n\xff"), "%2e.%2fa%0a%ff");
        assert!(shown(&[0; 4000]).len() < 130);
        assert_eq!(shown(b"plain-1.json"), "plain-1.json");
    }
}
