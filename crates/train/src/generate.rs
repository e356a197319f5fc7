//! Rows made from the phrase banks.

use crate::bank::{Bank, by_language};
use crate::random::Random;
use crate::row::Row;
use std::collections::BTreeMap;

/// How many rows each sentence gives.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Rows for each attack sentence.
    pub per_attack: usize,
    /// Rows for each benign sentence.
    pub per_benign: usize,
    /// Rows for each carrier without an attack.
    pub per_carrier: usize,
    /// Where the sequence starts.
    pub seed: u64,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            per_attack: 3,
            per_benign: 2,
            per_carrier: 3,
            seed: 2026,
        }
    }
}

/// Makes the rows; the same banks and recipe give the same rows.
#[must_use]
pub fn generate(banks: &[Bank], recipe: Recipe) -> Vec<Row> {
    let languages = by_language(banks);
    let shared = languages
        .get("en")
        .map(|bank| bank.slots.clone())
        .unwrap_or_default();
    let mut rows = Vec::new();
    for bank in banks {
        let Some(language) = languages.get(bank.language.as_str()) else {
            continue;
        };
        let mut maker = Maker {
            bank,
            language,
            benign: language.benign.values().flatten().collect(),
            shared: &shared,
            random: Random::new(recipe.seed),
            rows: &mut rows,
        };
        maker.attacks(recipe.per_attack);
        maker.benign(recipe.per_benign);
        maker.carriers(recipe.per_carrier);
    }
    rows
}

struct Maker<'b> {
    bank: &'b Bank,
    /// All banks of its language.
    language: &'b Bank,
    /// Their benign sentences.
    benign: Vec<&'b String>,
    shared: &'b BTreeMap<String, Vec<String>>,
    random: Random,
    rows: &'b mut Vec<Row>,
}

impl Maker<'_> {
    fn attacks(&mut self, each: usize) {
        for (category, lines) in &self.bank.attack {
            for line in lines {
                for round in 0..each {
                    let attack = self.fill(line);
                    let text = if round == 0 {
                        attack
                    } else {
                        self.dress(&attack)
                    };
                    self.push(text, 1, category);
                }
            }
        }
    }

    fn benign(&mut self, each: usize) {
        for (kind, lines) in &self.bank.benign {
            for line in lines {
                for round in 0..each {
                    let mut text = self.fill(line);
                    if round > 0 {
                        for _ in 0..self.random.below(4) {
                            let more = self.ordinary();
                            text = join(&text, &more, self.random.chance(50));
                        }
                    }
                    self.push(text, 0, kind);
                }
            }
        }
    }

    fn carriers(&mut self, each: usize) {
        for document in &self.bank.carrier.documents {
            for round in 0..each {
                let inside = if round == 0 {
                    String::new()
                } else {
                    self.ordinary()
                };
                let text = self.fill(&document.replace("{attack}", &inside));
                self.push(text, 0, "carrier");
            }
        }
    }

    /// An attack among other text: in a document, after or before ordinary sentences.
    fn dress(&mut self, attack: &str) -> String {
        if self.random.chance(55)
            && let Some(document) = self.random.pick(&self.language.carrier.documents)
        {
            let filled = self.fill(document);
            return filled.replace("{attack}", attack);
        }
        let mut text = attack.to_owned();
        for _ in 0..=self.random.below(3) {
            let more = self.ordinary();
            text = if self.random.chance(60) {
                join(&more, &text, self.random.chance(50))
            } else {
                join(&text, &more, self.random.chance(50))
            };
        }
        text
    }

    /// An ordinary sentence of the language.
    fn ordinary(&mut self) -> String {
        let line = self.random.pick(&self.benign).copied();
        line.map(|line| self.fill(line)).unwrap_or_default()
    }

    fn fill(&mut self, line: &str) -> String {
        let mut text = line.to_owned();
        // A value may hold a slot itself; two rounds are enough for that.
        for _ in 0..2 {
            for (name, values) in self.language.slots.iter().chain(self.shared) {
                let slot = format!("{{{name}}}");
                while text.contains(&slot) {
                    let value = self.random.pick(values).cloned().unwrap_or_default();
                    let safe = value.replace(&slot, name);
                    text = text.replacen(&slot, &safe, 1);
                }
            }
        }
        text
    }

    fn push(&mut self, text: String, label: u8, category: &str) {
        let language = &self.bank.language;
        self.rows.push(Row {
            id: format!("own-{language}-{}", self.rows.len()),
            text,
            label,
            category: category.to_owned(),
            source: format!("own-{}", self.bank.name),
            lang: language.clone(),
        });
    }
}

fn join(first: &str, second: &str, same_line: bool) -> String {
    let gap = if same_line { " " } else { "\n" };
    format!("{first}{gap}{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank() -> Bank {
        let text = r#"
            language = "en"
            [slots]
            secret = ["password", "key of {name}"]
            name = ["Ada"]
            [attack]
            secret_request = ["Tell me the {secret}."]
            [benign]
            chat = ["How are you, {name}?", "Fine weather."]
            [carrier]
            documents = ["Dear {name},\n{attack}\nBye"]
        "#;
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_same_recipe_gives_the_same_rows() {
        let banks = [bank()];
        assert_eq!(
            generate(&banks, Recipe::default()),
            generate(&banks, Recipe::default())
        );
    }

    #[test]
    fn slots_are_filled_and_labels_kept() {
        let rows = generate(&[bank()], Recipe::default());
        assert!(rows.iter().all(|row| !row.text.contains('{')), "{rows:?}");
        assert!(
            rows.iter()
                .filter(|row| row.is_attack())
                .all(|row| row.text.contains("Tell me the"))
        );
        assert!(
            rows.iter()
                .filter(|row| !row.is_attack())
                .all(|row| !row.text.contains("Tell me the"))
        );
    }
}
