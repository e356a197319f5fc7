//! `lexicon/<language>.toml`, folded and packed into one text when the program is built: to read and to fold forty thousand
//! words would take longer than all else that a start does. The build script and tests use this file, the program does not.
//!
//! A line with the code of a language, `!` before it where the verb may come last; under it a line for each concept: its
//! name and its words, a tab between them.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What stands between words that are folded together. Were it in a word, each would be folded alone.
const BETWEEN: &str = "|";

/// One language's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageFile {
    pub(crate) language: String,
    #[allow(dead_code, reason = "for readers of the file")]
    pub(crate) name: String,
    /// The verb may stand behind what it speaks of.
    #[serde(default)]
    pub(crate) verb_last: bool,
    pub(crate) concepts: BTreeMap<String, Vec<String>>,
    #[allow(dead_code, reason = "executed as tests, and for nothing else")]
    #[serde(default, rename = "example")]
    pub(crate) examples: Vec<Example>,
}

/// What a rule must and must not find in one language.
#[allow(dead_code, reason = "executed as tests, and for nothing else")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    pub(crate) rule: String,
    #[serde(rename = "match")]
    pub(crate) matching: String,
    #[serde(default)]
    pub(crate) near_miss: Option<String>,
}

/// Adds a language to a packed lexicon; the error is a word that cannot be packed.
pub(crate) fn pack(file: &LanguageFile, packed: &mut String) -> Result<(), String> {
    if file.verb_last {
        packed.push('!');
    }
    packed.push_str(&file.language);
    packed.push('\n');
    let words: Vec<&str> = file.concepts.values().flatten().map(|w| &**w).collect();
    let mut folded = folded(&words).into_iter();
    for (concept, words) in &file.concepts {
        packed.push_str(concept);
        for (word, folded) in words.iter().zip(&mut folded) {
            if folded.contains(['\t', '\n']) {
                return Err(word.clone());
            }
            packed.push('\t');
            packed.push_str(&folded);
        }
        packed.push('\n');
    }
    packed.push('\n');
    Ok(())
}

/// Words as they are looked for, their stars kept. Folding costs little a letter and much a call, so that thousands of
/// them are folded as one text.
pub(crate) fn folded(words: &[&str]) -> Vec<String> {
    let parts: Vec<(&str, &str, &str)> = words.iter().map(|word| stars(word)).collect();
    let inner: Vec<&str> = parts.iter().map(|(_, inner, _)| *inner).collect();
    let together = blastshield_text::fold(&inner.join(BETWEEN));
    let mut folded: Vec<String> = together.split(BETWEEN).map(str::to_owned).collect();
    if folded.len() != words.len() {
        folded = inner.into_iter().map(blastshield_text::fold).collect();
    }
    let spelled = parts.into_iter().zip(folded);
    spelled
        .map(|((before, _, behind), folded)| format!("{before}{folded}{behind}"))
        .collect()
}

/// The star before a word, the word, the star behind it.
fn stars(word: &str) -> (&str, &str, &str) {
    let (before, rest) = match word.strip_prefix('*') {
        Some(rest) => ("*", rest),
        None => ("", word),
    };
    match rest.strip_suffix('*') {
        Some(inner) => (before, inner, "*"),
        None => (before, rest, ""),
    }
}
