//! `blastshield sandbox check`: which layers hold here, each one tried.

use crate::{CLEAN, FINDINGS};
use blastshield_sandbox::{Confinement, Launcher, Layer, Layers, Standing, lacking};
use clap::Args;
use comfy_table::{Table, presets};

const EXAMPLES: &str = "\
Examples:
  blastshield sandbox check
  blastshield sandbox check --json | jq .missing

Exit codes: 0 security proxies and plugins can be confined, 1 something they need is missing, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &CheckOptions) -> anyhow::Result<u8> {
    let layers = Launcher::this_program().probe()?;
    let needed = lacking(&Confinement::worker(), &layers);
    if options.json {
        let answer = serde_json::json!({
            "layers": layers,
            "missing": layers.missing(),
            "needed": needed,
            "confines": needed.is_empty(),
        });
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        show(&layers, &needed);
    }
    Ok(if needed.is_empty() { CLEAN } else { FINDINGS })
}

fn show(layers: &Layers, needed: &[Layer]) {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["layer", "", "detail"]);
    for (layer, standing) in layers.iter() {
        let (state, detail) = match standing {
            Standing::Holds { detail } => ("holds", detail),
            Standing::Missing { why } => ("missing", why),
            Standing::Unasked => ("not asked", String::new()),
        };
        table.add_row([layer.name(), state, &detail]);
    }
    println!("{table}");
    if needed.is_empty() {
        println!("Everything that security proxies and plugins need holds.");
    } else {
        let names: Vec<&str> = needed.iter().map(|layer| layer.name()).collect();
        println!(
            "Missing for security proxies: {}. They are not started here unless the owner lets them degrade.",
            names.join(", ")
        );
    }
}
