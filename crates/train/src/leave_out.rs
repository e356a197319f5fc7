//! Which sources to leave out of which fit, so that every figure is of unseen sources.

use std::collections::BTreeMap;

/// One fit: it sees neither its attack source nor its group of benign sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The attack source that is reported on.
    pub attack: String,
    /// The benign sources that false positives are counted on.
    pub benign: Vec<String>,
}

impl Fold {
    /// Whether the fit may see a source.
    #[must_use]
    pub fn trains_on(&self, source: &str) -> bool {
        source != self.attack && !self.benign.iter().any(|left| left == source)
    }
}

/// Splits benign sources into groups of about the same number of rows.
#[must_use]
pub fn benign_groups(rows_per_source: &BTreeMap<String, usize>, groups: usize) -> Vec<Vec<String>> {
    let mut sources: Vec<(&String, &usize)> = rows_per_source.iter().collect();
    sources.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut split = vec![(0_usize, Vec::new()); groups.max(1)];
    for (source, rows) in sources {
        if let Some((total, group)) = split.iter_mut().min_by_key(|(total, _)| *total) {
            *total += rows;
            group.push(source.clone());
        }
    }
    split
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| !group.is_empty())
        .collect()
}

/// A fold for each attack source, the benign groups taking turns.
#[must_use]
pub fn folds(attacks: &[String], groups: &[Vec<String>]) -> Vec<Fold> {
    let turns = groups.iter().cycle();
    attacks
        .iter()
        .zip(turns)
        .map(|(attack, group)| Fold {
            attack: attack.clone(),
            benign: group.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fold_never_trains_on_what_it_reports() {
        let counts = BTreeMap::from([
            ("a".to_owned(), 10),
            ("b".to_owned(), 7),
            ("c".to_owned(), 2),
        ]);
        let groups = benign_groups(&counts, 2);
        assert_eq!(
            groups,
            [vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]]
        );
        let folds = folds(&["x".to_owned(), "y".to_owned(), "z".to_owned()], &groups);
        assert_eq!(folds.len(), 3);
        assert!(!folds[0].trains_on("x") && !folds[0].trains_on("a") && folds[0].trains_on("b"));
        assert_eq!(folds[2].benign, groups[0]);
    }
}
