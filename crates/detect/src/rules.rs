//! The rule table: `rules/*.toml`, compiled once.

use crate::category::Category;
use crate::context::Cues;
#[cfg(test)]
use crate::lexicon::LanguageFile;
use crate::lexicon::{Languages, Lexicon, LexiconError, Reading};
use crate::phrase::{Found, Phrase, PhraseError, Phrases};
use crate::shape::{ShapeError, ShapeSource, Shapes};
use serde::Deserialize;
use std::sync::Arc;

/// A rule as it stands in the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, `group.what`.
    pub id: Arc<str>,
    /// What kind of attack it finds; the file's category unless given.
    pub category: Option<Category>,
    /// Points of one plain match; 10 blocks at the strict profile.
    pub weight: f32,
    /// What it means, for a person.
    pub reason: Arc<str>,
    /// Languages it speaks; empty for every language whose lexicon has its concepts.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Patterns of concepts.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Patterns for languages in which the verb may come last.
    #[serde(default)]
    pub verb_last: Vec<String>,
    /// Literals that a shape starts with.
    #[serde(default)]
    pub literals: Vec<String>,
    /// The expression that confirms a literal.
    #[serde(default)]
    pub shape: Option<String>,
    /// Texts in which it must be found.
    #[serde(default, rename = "match")]
    pub matching: Vec<String>,
    /// Texts that look alike and in which it must not be found.
    #[serde(default)]
    pub near_miss: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    category: Category,
    rule: Vec<Rule>,
}

/// The shipped rules and lexicons do not fit together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RuleError {
    /// A file is not what it should be.
    #[error("cannot read {file}: {problem}")]
    File {
        /// Which file.
        file: &'static str,
        /// What the parser says.
        problem: String,
    },
    /// A lexicon is unusable.
    #[error(transparent)]
    Lexicon(#[from] LexiconError),
    /// A pattern is unusable.
    #[error("rule {rule}: {problem}")]
    Phrase {
        /// Which rule.
        rule: String,
        /// What is wrong with it.
        problem: PhraseError,
    },
    /// A rule names a language without a lexicon.
    #[error("rule {rule}: no lexicon for {language:?}")]
    Language {
        /// Which rule.
        rule: String,
        /// The language's code.
        language: String,
    },
    /// An expression is unusable.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../", $folder, "/", $name, ".toml")))),+]
    };
}

const RULE_FILES: &[(&str, &str)] = files!("rules": "override", "extraction", "secrets", "roles", "context", "agents", "persuasion", "shapes");

/// The lexicons as the build packed them.
const LEXICON: &str = include_str!(concat!(env!("OUT_DIR"), "/lexicon.txt"));

#[cfg(test)]
const LEXICON_FILES: &[(&str, &str)] = files!("lexicon": "en", "zh", "es", "hi", "ar", "pt", "ru", "ja", "de", "fr", "ko", "tr", "vi", "it", "pl", "uk", "id", "fa", "sq", "ga", "gd", "zu");

/// All rules, ready to search.
#[derive(Debug)]
pub(crate) struct RuleSet {
    rules: Vec<(Rule, Category)>,
    lexicon: Lexicon,
    phrases: Phrases,
    shapes: Shapes,
}

#[cfg(test)]
pub(crate) fn language_files() -> Result<Vec<LanguageFile>, RuleError> {
    LEXICON_FILES
        .iter()
        .map(|(name, text)| read(name, text))
        .collect()
}

fn read<T: serde::de::DeserializeOwned>(file: &'static str, text: &str) -> Result<T, RuleError> {
    toml::from_str(text).map_err(|error| RuleError::File {
        file,
        problem: error.to_string(),
    })
}

impl RuleSet {
    pub(crate) fn shipped() -> Result<Self, RuleError> {
        let mut reading = Reading::new()?;
        reading.add(LEXICON)?;
        let lexicon = reading.finish();
        let mut rules = Vec::new();
        for (name, text) in RULE_FILES {
            let file: RuleFile = read(name, text)?;
            for rule in file.rule {
                let category = rule.category.unwrap_or(file.category);
                rules.push((rule, category));
            }
        }
        let mut phrases = Vec::new();
        let mut shapes = Vec::new();
        for (number, (rule, _)) in rules.iter().enumerate() {
            let languages = spoken(rule, &lexicon)?;
            let anywhere = rule.phrases.iter().map(|pattern| (pattern, languages));
            let verb_last = rule
                .verb_last
                .iter()
                .map(|pattern| (pattern, languages.and(lexicon.verb_last())));
            for (pattern, languages) in anywhere.chain(verb_last) {
                let phrase =
                    Phrase::parse(pattern, languages, number, &lexicon).map_err(|problem| {
                        RuleError::Phrase {
                            rule: rule.id.to_string(),
                            problem,
                        }
                    })?;
                phrases.push(phrase);
            }
            if let Some(expression) = &rule.shape {
                shapes.push(ShapeSource {
                    rule: number,
                    literals: &rule.literals,
                    expression,
                });
            }
        }
        let shapes = Shapes::build(&shapes)?;
        Ok(Self {
            phrases: Phrases::new(phrases),
            shapes,
            lexicon,
            rules,
        })
    }

    pub(crate) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    pub(crate) fn phrases(&self) -> &Phrases {
        &self.phrases
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    pub(crate) fn rule(&self, found: Found) -> Option<&(Rule, Category)> {
        self.rules.get(found.rule)
    }

    pub(crate) fn by_number(&self, number: usize) -> Option<&Rule> {
        self.rules.get(number).map(|(rule, _)| rule)
    }

    pub(crate) fn cues(&self) -> Cues {
        let concept = |name| self.lexicon.concept(name);
        Cues {
            mention: concept("mention"),
            security_topic: concept("security_topic"),
            reader: concept("reader"),
            conceal: concept("conceal"),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Rule, Category)> {
        self.rules.iter()
    }
}

fn spoken(rule: &Rule, lexicon: &Lexicon) -> Result<Languages, RuleError> {
    let mut languages = None::<Languages>;
    for code in &rule.languages {
        let language = lexicon.language(code).ok_or_else(|| RuleError::Language {
            rule: rule.id.to_string(),
            language: code.clone(),
        })?;
        languages = Some(languages.map_or(language, |known| known.or(language)));
    }
    Ok(languages.unwrap_or(Languages::ALL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;
    use std::collections::HashSet;

    /// Whether a rule is found in a text.
    fn finds(rules: &RuleSet, id: &str, text: &str) -> bool {
        let evidence = Evidence::gather(&blastshield_text::fold(text), rules);
        evidence
            .findings
            .iter()
            .any(|f| rules.by_number(f.rule).is_some_and(|rule| *rule.id == *id))
    }

    #[test]
    fn every_example_of_the_table_holds() {
        let rules = RuleSet::shipped().unwrap();
        let mut failures = Vec::new();
        for (rule, _) in rules.iter() {
            let wrong = |text: &&String, wanted| finds(&rules, &rule.id, text) != wanted;
            failures.extend(
                rule.matching
                    .iter()
                    .filter(|t| wrong(t, true))
                    .map(|t| format!("{} misses {t:?}", rule.id)),
            );
            failures.extend(
                rule.near_miss
                    .iter()
                    .filter(|t| wrong(t, false))
                    .map(|t| format!("{} is fooled by {t:?}", rule.id)),
            );
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn every_example_of_every_language_holds() {
        let rules = RuleSet::shipped().unwrap();
        let mut failures = Vec::new();
        for file in language_files().unwrap() {
            for example in &file.examples {
                let say = |what: &str, text: &str| {
                    format!("{}: {} {what} {text:?}", file.language, example.rule)
                };
                if !finds(&rules, &example.rule, &example.matching) {
                    failures.push(say("misses", &example.matching));
                }
                if let Some(near) = example
                    .near_miss
                    .as_ref()
                    .filter(|near| finds(&rules, &example.rule, near))
                {
                    failures.push(say("is fooled by", near));
                }
            }
        }
        assert!(
            failures.is_empty(),
            "{} failures\n{}",
            failures.len(),
            failures.join("\n")
        );
    }

    #[test]
    fn every_rule_has_a_match_and_a_near_miss() {
        let rules = RuleSet::shipped().unwrap();
        let files = language_files().unwrap();
        let in_lexicons = |wanted: &dyn Fn(&crate::lexicon::Example) -> bool| {
            files.iter().flat_map(|f| &f.examples).any(wanted)
        };
        for (rule, _) in rules.iter() {
            let id = &*rule.id;
            assert!(
                !rule.matching.is_empty() || in_lexicons(&|e| e.rule == id),
                "{id} has no match"
            );
            assert!(
                !rule.near_miss.is_empty()
                    || in_lexicons(&|e| e.rule == id && e.near_miss.is_some()),
                "{id} has no near miss"
            );
        }
    }

    #[test]
    fn names_are_unique_and_examples_name_rules() {
        let rules = RuleSet::shipped().unwrap();
        let mut names = HashSet::new();
        for (rule, _) in rules.iter() {
            assert!(names.insert(rule.id.to_string()), "{} twice", rule.id);
        }
        for file in language_files().unwrap() {
            for example in &file.examples {
                assert!(
                    names.contains(&example.rule),
                    "{}: {}",
                    file.language,
                    example.rule
                );
            }
        }
    }

    #[test]
    fn the_core_rules_have_examples_in_every_language() {
        let core = [
            "override.ignore_prior",
            "override.ignore_your",
            "extraction.reveal_prompt",
            "extraction.reveal_instructions",
            "role.unbound_persona",
            "secret.reveal",
            "secret.send",
        ];
        for file in language_files().unwrap() {
            for rule in core {
                assert!(
                    file.examples.iter().any(|e| e.rule == rule),
                    "{} has no example of {rule}",
                    file.language
                );
            }
        }
    }
}
