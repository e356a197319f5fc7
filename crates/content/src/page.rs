//! What an agent gets: a page as text, and what was kept from it.

use std::collections::BTreeSet;

use crate::{Flag, Kind};

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Plain text without any markup.
    Text,
    /// Markdown with links, headings, lists, tables and code.
    #[default]
    Markdown,
}

/// A document as an agent may read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    /// What the document is.
    pub kind: Kind,
    /// The title a person sees, or nothing.
    pub title: String,
    /// The readable text.
    pub content: String,
    /// The lead of the content in one to three sentences.
    pub summary: String,
    /// The language the document declares.
    pub lang: Option<String>,
    /// What was noticed, removed or changed.
    pub flags: BTreeSet<Flag>,
    /// Text that a person cannot see: for a detector, never for an agent. Bounded in number and size.
    pub hidden: Vec<String>,
}

impl Page {
    pub(crate) fn empty(kind: Kind) -> Self {
        Self {
            kind,
            title: String::new(),
            content: String::new(),
            summary: String::new(),
            lang: None,
            flags: BTreeSet::new(),
            hidden: Vec::new(),
        }
    }
}

// Content may be an attack and may be private: a debug line shows sizes only.
impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page")
            .field("kind", &self.kind)
            .field("title_len", &self.title.len())
            .field("content_len", &self.content.len())
            .field("flags", &self.flags)
            .field("hidden", &self.hidden.len())
            .finish_non_exhaustive()
    }
}

/// Cuts the content to at most `max_chars` characters and says whether anything was cut.
pub fn truncate(page: &mut Page, max_chars: usize) -> bool {
    let Some((cut, _)) = page.content.char_indices().nth(max_chars) else {
        return false;
    };
    page.content.truncate(cut);
    page.flags.insert(Flag::Truncated);
    true
}

/// Text out of sight, gathered up to a limit so that a hostile page cannot fill memory or the detector's time.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) texts: Vec<String>,
    pub(crate) flags: BTreeSet<Flag>,
    bytes: usize,
}

impl Hidden {
    const MAX_BYTES: usize = 128 * 1024;
    const MAX_TEXTS: usize = 512;

    /// Takes over what another gathered.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.flags.extend(other.flags);
        self.bytes += other.bytes;
        self.texts.extend(other.texts);
    }

    /// Keeps a text if it has a letter in it, with the reason why nobody sees it.
    pub(crate) fn add(&mut self, flag: Flag, text: &str) {
        let text = text.trim();
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        self.flags.insert(flag);
        let room = Self::MAX_BYTES.saturating_sub(self.bytes);
        if room == 0 || self.texts.len() >= Self::MAX_TEXTS {
            self.flags.insert(Flag::HiddenLimit);
            return;
        }
        let cut = text.floor_char_boundary(room);
        if cut < text.len() {
            self.flags.insert(Flag::HiddenLimit);
        }
        self.bytes += cut;
        self.texts
            .push(text.get(..cut).unwrap_or_default().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_counts_characters_not_bytes() {
        let mut page = Page::empty(Kind::Text);
        page.content = "äöü€x".into();
        assert!(!truncate(&mut page, 5));
        assert!(truncate(&mut page, 4));
        assert_eq!(page.content, "äöü€");
        assert!(page.flags.contains(&Flag::Truncated));
    }

    #[test]
    fn hidden_text_is_bounded() {
        let mut hidden = Hidden::default();
        for _ in 0..10_000 {
            hidden.add(Flag::Comment, &"ä".repeat(1000));
        }
        assert!(hidden.texts.iter().map(String::len).sum::<usize>() <= Hidden::MAX_BYTES);
        assert!(hidden.flags.contains(&Flag::HiddenLimit));
    }
}
