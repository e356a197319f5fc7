//! What the guard promises, seen from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod answers;
mod exfiltration;
mod forgery;
mod memory;
mod secrets;
mod streams;

use base64::encode;
use blastshield_guard::output::{Context, PromptShingles, Rules, Validation, Validator};
use blastshield_leak::Scanner;
use std::sync::Arc;

/// A system prompt that nobody else has.
const PROMPT: &str = "You are Ada, the travel desk of Northwind Tours. Never offer first class before the guest has \
    asked twice. The standing discount for returning guests is eleven percent. If a guest is angry, offer the lounge.";

fn validator() -> Validator {
    Validator::new(
        Rules::default(),
        Scanner::shipped(),
        Arc::new(PromptShingles::of([PROMPT])),
    )
}

/// After a tool ran: the situation in which answers are steered.
fn steered() -> Context {
    Context {
        session_key: Some("s1".to_owned()),
        tools_called: vec!["web_fetch".to_owned()],
    }
}

fn check(answer: &str) -> Validation {
    validator().validate(answer, &steered())
}

mod base64 {
    /// Standard base64 with padding.
    pub(crate) fn encode(text: &str) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in text.as_bytes().chunks(3) {
            let mut bits = 0_u32;
            for at in 0..3 {
                bits = bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0));
            }
            for at in 0..4 {
                if at <= chunk.len() {
                    out.push(char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]));
                } else {
                    out.push('=');
                }
            }
        }
        out
    }
}
