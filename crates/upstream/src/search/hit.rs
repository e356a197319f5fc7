//! One search result, bounded, pointing to the web and nowhere else.

use super::loose::Text;
use url::Url;

const TITLE_CHARS: usize = 300;
const SNIPPET_CHARS: usize = 2_000;
const PUBLISHED_CHARS: usize = 64;
const URL_BYTES: usize = 4_096;

/// A search result. Title, snippet and date are an outsider's words: tags and entities are still in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// An http or https address without user or password.
    pub url: Url,
    /// At most 300 characters.
    pub title: String,
    /// At most 2,000 characters.
    pub snippet: String,
    /// The address's host.
    pub source: String,
    /// When it was published, as the provider says it; at most 64 characters.
    pub published: Option<String>,
    /// Its place, from 1.
    pub rank: u32,
}

/// A result as providers give it, before it is known to be one.
pub(crate) struct Candidate {
    pub(crate) url: Text,
    pub(crate) title: Text,
    pub(crate) snippet: Text,
    pub(crate) published: Text,
}

impl Candidate {
    fn into_hit(self) -> Option<Hit> {
        let url = self.url.0.filter(|text| text.len() <= URL_BYTES)?;
        let url = Url::parse(&url).ok()?;
        let web = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none();
        let source = url
            .host_str()
            .filter(|host| web && !host.is_empty())?
            .to_owned();
        Some(Hit {
            url,
            title: bounded(&self.title.0?, TITLE_CHARS),
            snippet: bounded(&self.snippet.0.unwrap_or_default(), SNIPPET_CHARS),
            source,
            published: self
                .published
                .0
                .filter(|text| !text.is_empty())
                .map(|text| bounded(&text, PUBLISHED_CHARS)),
            rank: 0,
        })
    }
}

/// The first `count` usable results with their ranks; nothing if there were candidates and none is usable.
pub(crate) fn hits(
    candidates: impl IntoIterator<Item = Option<Candidate>>,
    count: u32,
) -> Option<Vec<Hit>> {
    let mut seen = false;
    let hits: Vec<Hit> = candidates
        .into_iter()
        .inspect(|_| seen = true)
        .filter_map(|candidate| candidate?.into_hit())
        .zip(1..=count)
        .map(|(hit, rank)| Hit { rank, ..hit })
        .collect();
    (!seen || !hits.is_empty()).then_some(hits)
}

fn bounded(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(url: &str) -> Option<Candidate> {
        Some(Candidate {
            url: Text(Some(url.into())),
            title: Text(Some("t".repeat(1_000))),
            snippet: Text(Some("ß".repeat(5_000))),
            published: Text(Some("2026".repeat(100))),
        })
    }

    #[test]
    fn texts_are_bounded_and_ranks_have_no_gaps() {
        let found = hits(
            [
                candidate("https://a.example/1"),
                None,
                candidate("javascript:alert(1)"),
                candidate("ftp://a.example/"),
                candidate("https://user:pw@a.example/"),
                candidate(&format!("https://a.example/{}", "x".repeat(5_000))),
                candidate("http://B.example:8080/2"),
                candidate("https://c.example/3"),
            ],
            2,
        )
        .unwrap();
        assert_eq!(
            found
                .iter()
                .map(|hit| (hit.rank, hit.source.as_str()))
                .collect::<Vec<_>>(),
            [(1, "a.example"), (2, "b.example")]
        );
        assert_eq!(found[0].title.chars().count(), 300);
        assert_eq!(found[0].snippet.chars().count(), 2_000);
        assert_eq!(found[0].published.as_ref().unwrap().len(), 64);
    }

    #[test]
    fn no_candidates_is_an_answer_but_only_broken_ones_is_not() {
        assert_eq!(hits([], 5), Some(Vec::new()));
        assert_eq!(hits([None, candidate("data:text/html,x")], 5), None);
    }
}
