//! Packs the lexicons.

#[path = "src/lexicon/packing.rs"]
mod packing;

use std::{env, error::Error, fs, path::Path};

/// The order of the languages; their numbers follow from it.
const LANGUAGES: [&str; 22] = [
    "en", "zh", "es", "hi", "ar", "pt", "ru", "ja", "de", "fr", "ko", "tr", "vi", "it", "pl", "uk",
    "id", "fa", "sq", "ga", "gd", "zu",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/lexicon/packing.rs");
    println!("cargo:rerun-if-changed=lexicon");
    let mut packed = String::new();
    for language in LANGUAGES {
        let name = format!("lexicon/{language}.toml");
        let text = fs::read_to_string(&name).map_err(|error| format!("{name}: {error}"))?;
        let file = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        packing::pack(&file, &mut packed)
            .map_err(|word| format!("{name}: {word:?} cannot be packed"))?;
    }
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    fs::write(Path::new(&folder).join("lexicon.txt"), packed)?;
    Ok(())
}
