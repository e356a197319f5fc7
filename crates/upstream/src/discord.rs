//! Posts to a Discord webhook: one text, shown as it is, mentioning nobody.

use crate::error::{CallError, ConfigError};
use crate::webhook::Webhook;
use serde_json::json;
use std::fmt;
use std::time::Duration;
use url::Url;

/// Characters of a post, as Discord counts them.
const MAX_CHARS: usize = 2000;
const FENCE: &str = "```";
const CUT: &str = "\n…[cut]";

/// A channel's webhook.
#[derive(Clone)]
pub struct Discord(Webhook);

impl fmt::Debug for Discord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Discord(…)")
    }
}

impl Discord {
    /// The webhook at this address, which is itself a secret.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn new(url: &Url, timeout: Duration) -> Result<Self, ConfigError> {
        Webhook::new(url, None, timeout).map(Self)
    }

    /// Posts a text, and below it a line of ours such as a link. The text stands in a block in which nothing is markup.
    ///
    /// # Errors
    /// When it was not taken.
    pub async fn post(&self, text: &str, below: Option<&str>, at: u64) -> Result<(), CallError> {
        self.0.post(body(text, below), at).await
    }
}

fn body(text: &str, below: Option<&str>) -> String {
    let below = below.unwrap_or_default();
    // A fence in the text would end the block; apart, its signs mean nothing.
    let mut text = text.replace('`', "'");
    let room = MAX_CHARS.saturating_sub(below.chars().count() + 2 * FENCE.len() + 4);
    if text.chars().count() > room {
        text = text
            .chars()
            .take(room.saturating_sub(CUT.chars().count()))
            .chain(CUT.chars())
            .collect();
    }
    let content = format!("{FENCE}\n{text}\n{FENCE}\n{below}");
    json!({"content": content.trim_end(), "allowed_mentions": {"parse": []}, "flags": 4})
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str, below: Option<&str>) -> String {
        let value: serde_json::Value = serde_json::from_str(&body(text, below)).unwrap();
        value["content"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_address_is_a_secret() {
        let url = "https://discord.com/api/webhooks/1/very-secret";
        let discord = Discord::new(&url.parse().unwrap(), Duration::from_secs(1)).unwrap();
        assert!(!format!("{discord:?}").contains("secret"));
    }

    #[test]
    fn a_text_cannot_leave_its_block() {
        let shown = content(
            "a ``` @everyone [x](https://evil.example)",
            Some("https://me/1"),
        );
        assert_eq!(shown.matches(FENCE).count(), 2);
        assert!(shown.ends_with("```\nhttps://me/1"), "{shown}");
    }

    #[test]
    fn a_long_text_is_cut_and_the_link_stays() {
        let shown = content(&"ä".repeat(5000), Some("https://me/1"));
        assert!(shown.chars().count() <= MAX_CHARS && shown.ends_with("https://me/1"));
        assert!(shown.contains("…[cut]\n```"));
    }
}
