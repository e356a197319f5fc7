//! Phrase banks: our own sentences, attacks and their benign twins, in every language.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The sentences of one language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// Its code, such as `de`.
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
    "zh",
    "es",
    "hi",
    "ar",
    "pt",
    "ru",
    "ja",
    "de",
    "fr",
    "ko",
    "tr",
    "vi",
    "it",
    "pl",
    "uk",
    "id",
    "fa",
);

/// The banks of this release, one for each language; files of one language are joined.
pub fn shipped_banks() -> Result<Vec<Bank>, BankError> {
    let mut banks: Vec<Bank> = Vec::new();
    for (name, text) in FILES {
        let bank: Bank = toml::from_str(text).map_err(|error| BankError {
            name,
            problem: error.to_string(),
        })?;
        match banks
            .iter_mut()
            .find(|known| known.language == bank.language)
        {
            Some(known) => known.join(bank),
            None => banks.push(bank),
        }
    }
    Ok(banks)
}

impl Bank {
    fn join(&mut self, other: Self) {
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

    #[test]
    fn every_bank_has_attacks_and_twins() {
        let banks = shipped_banks().unwrap();
        assert_eq!(banks.len(), 18);
        for bank in &banks {
            let name = &bank.language;
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
        for bank in shipped_banks().unwrap() {
            let attacks: std::collections::HashSet<&String> =
                bank.attack.values().flatten().collect();
            for line in bank.benign.values().flatten() {
                assert!(!attacks.contains(line), "{}: {line}", bank.language);
            }
        }
    }
}
