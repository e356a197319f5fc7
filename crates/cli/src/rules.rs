//! `blastshield rules`: what the detector looks for.

use crate::args::RulesOptions;
use blastshield_detect::Detector;
use comfy_table::{Table, presets};

pub(crate) fn run(options: &RulesOptions) -> anyhow::Result<()> {
    let detector = Detector::rules_only()?;
    if options.markdown {
        println!("| rule | category | weight | languages | means |\n|---|---|---|---|---|");
        for (rule, category) in detector.rules() {
            println!(
                "| `{}` | {category} | {} | {} | {} |",
                rule.id,
                rule.weight,
                languages(&rule.languages),
                rule.reason
            );
        }
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["rule", "category", "weight", "languages", "means"]);
    for (rule, category) in detector.rules() {
        table.add_row([
            &*rule.id,
            category.name(),
            &rule.weight.to_string(),
            &languages(&rule.languages),
            &rule.reason,
        ]);
    }
    println!("{table}");
    Ok(())
}

fn languages(codes: &[String]) -> String {
    if codes.is_empty() {
        "all".to_owned()
    } else {
        codes.join(", ")
    }
}
