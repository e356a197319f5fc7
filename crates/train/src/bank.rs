//! Phrase banks: our own sentences, attacks and their benign twins, in every language.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The sentences of one author in one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// Its file, which is the source of its rows: each was written by itself.
    #[serde(skip)]
    pub name: String,
    /// The language's code, such as `de`.
    pub language: String,
    /// Values for `{name}` in the sentences.
    #[serde(default)]
    pub slots: BTreeMap<String, Vec<String>>,
    /// Attacks, by category.
    #[serde(default)]
    pub attack: BTreeMap<String, Vec<String>>,
    /// Ordinary texts, by kind.
    #[serde(default)]
    pub benign: BTreeMap<String, Vec<String>>,
    /// Documents with a place for an attack.
    #[serde(default)]
    pub carrier: Carriers,
}

/// Documents in which an attack may hide.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carriers {
    /// Each with one `{attack}`.
    #[serde(default)]
    pub documents: Vec<String>,
}

/// A bank cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("cannot read the bank {name}: {problem}")]
pub struct BankError {
    /// Its file.
    pub name: &'static str,
    /// What the parser says.
    pub problem: String,
}

macro_rules! banks {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../banks/", $name, ".toml")))),+]
    };
}

const FILES: &[(&str, &str)] = banks!(
    "en",
    "en_benign",
    "en_carriers",
    "en_agents",
    "en_hijack",
    "en_mail",
    "en_secrets",
    "en_mail2",
    "en_contest2",
    "en_docs",
    "en_direct",
    "en_games",
    "en_personas",
    "en_guides",
    "en_frames",
    "en_everyday",
    "en_probes",
    "en_pastimes",
    "en_parts",
    "en_texting",
    "en_exercises",
    "en_curt",
    "en_mixed",
    "en_notices",
    "zh",
    "zh_direct",
    "zh_everyday",
    "zh_curt",
    "es",
    "es_direct",
    "es_curt",
    "hi",
    "ar",
    "pt",
    "pt_direct",
    "pt_curt",
    "ru",
    "ru_curt",
    "ja",
    "ja_direct",
    "ja_curt",
    "de",
    "de_direct",
    "de_curt",
    "fr",
    "fr_direct",
    "fr_curt",
    "ko",
    "ko_direct",
    "ko_curt",
    "tr",
    "vi",
    "it",
    "it_direct",
    "it_curt",
    "pl",
    "uk",
    "id",
    "fa",
    "sq",
    "sq_direct",
    "ga",
    "ga_direct",
    "gd",
    "gd_direct",
    "zu",
    "zu_direct",
);

/// The banks of this release.
pub fn shipped_banks() -> Result<Vec<Bank>, BankError> {
    let read = |(name, text): &(&'static str, &str)| {
        let bank: Bank = toml::from_str(text).map_err(|error| BankError {
            name,
            problem: error.to_string(),
        })?;
        Ok(Bank {
            name: (*name).to_owned(),
            ..bank
        })
    };
    FILES.iter().map(read).collect()
}

/// The banks of each language, joined: what sentences of one bank are filled and surrounded with.
pub(crate) fn by_language(banks: &[Bank]) -> BTreeMap<&str, Bank> {
    let mut joined: BTreeMap<&str, Bank> = BTreeMap::new();
    for bank in banks {
        joined.entry(&bank.language).or_default().join(bank.clone());
    }
    joined
}

impl Bank {
    fn join(&mut self, other: Self) {
        self.language = other.language;
        let lists = [
            (&mut self.slots, other.slots),
            (&mut self.attack, other.attack),
            (&mut self.benign, other.benign),
        ];
        for (mine, theirs) in lists {
            for (key, lines) in theirs {
                mine.entry(key).or_default().extend(lines);
            }
        }
        self.carrier.documents.extend(other.carrier.documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Languages that attacks are translated into because few detectors know them: a lexicon and a small bank.
    const RARE: [&str; 4] = ["ga", "gd", "sq", "zu"];

    #[test]
    fn every_bank_has_attacks_and_twins() {
        let banks = shipped_banks().unwrap();
        let languages = by_language(&banks);
        assert_eq!(languages.len(), 22);
        for (name, bank) in &languages {
            if RARE.contains(name) {
                assert!(bank.attack.len() >= 8 && bank.benign.len() >= 7, "{name}");
                assert!(bank.carrier.documents.len() >= 4, "{name}");
                continue;
            }
            assert!(bank.attack.len() >= 16, "{name}: {:?}", bank.attack.keys());
            assert!(bank.benign.len() >= 10, "{name}: {:?}", bank.benign.keys());
            assert!(bank.carrier.documents.len() >= 12, "{name}");
            for document in &bank.carrier.documents {
                assert_eq!(
                    document.matches("{attack}").count(),
                    1,
                    "{name}: {document}"
                );
            }
        }
    }

    #[test]
    fn no_sentence_is_both() {
        for bank in by_language(&shipped_banks().unwrap()).values() {
            let attacks: std::collections::HashSet<&String> =
                bank.attack.values().flatten().collect();
            for line in bank.benign.values().flatten() {
                assert!(!attacks.contains(line), "{}: {line}", bank.language);
            }
        }
    }
}
