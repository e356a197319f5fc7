//! Content types that may be named to an agent.

/// The declared type if it is a common one: others, and all parameters, are words of the origin that nobody scored.
pub(crate) fn known(declared: &str) -> Option<String> {
    const KNOWN: [&str; 16] = [
        "text/html",
        "text/plain",
        "text/markdown",
        "text/csv",
        "text/xml",
        "application/xhtml+xml",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/json",
        "application/ld+json",
        "application/feed+json",
        "application/problem+json",
        "application/ndjson",
        "application/x-ndjson",
        "application/yaml",
    ];
    let essence = declared.split(';').next().unwrap_or_default().trim();
    KNOWN
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(essence))
        .map(str::to_owned)
}
