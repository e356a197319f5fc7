//! The figures as tables for people.

use super::figures::{Figures, Part};
use comfy_table::{Cell, CellAlignment, Table, presets};
use std::collections::BTreeMap;

pub(crate) fn print(figures: &Figures, unseen: bool) {
    print_parts("source", &figures.sources);
    print_parts("category", &figures.categories);
    print_parts("language", &figures.languages);
    let sources = if unseen {
        "sources unseen in training"
    } else {
        "the shipped model, which may have seen these sources"
    };
    println!(
        "{} attacks, {} benign texts; {sources}",
        figures.attacks, figures.benign
    );
    println!(
        "at the strict block line: {} of attacks, {} of benign texts",
        percent(figures.recall),
        percent(figures.false_positives)
    );
    for (rate, at) in [
        ("1 %", figures.at_one_percent),
        ("0.1 %", figures.at_one_per_mille),
    ] {
        println!(
            "recall at {rate} false positives: {} (score {:.1})",
            percent(at.recall),
            at.threshold
        );
    }
}

fn print_parts(name: &str, parts: &BTreeMap<String, Part>) {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header([
        name, "rows", "baseline", "strict", "paranoid", "at 1 %", "at 0.1 %",
    ]);
    for (name, part) in parts {
        let mut cells = vec![Cell::new(name), right(part.rows.to_string())];
        let shares = [
            part.baseline,
            part.strict,
            part.paranoid,
            part.at_one_percent,
            part.at_one_per_mille,
        ];
        cells.extend(shares.map(|share| right(percent(share))));
        table.add_row(cells);
    }
    println!("{table}\n");
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
