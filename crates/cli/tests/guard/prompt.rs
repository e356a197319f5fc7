//! `blastshield prompt`.

use super::{code, run, run_with, text};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_printed_prompt_is_verified() {
    let here = Path::new(".");
    let printed = run(here, &["prompt"]);
    let sections = text(&printed.stdout).to_owned();
    assert!(sections.contains("IMMUTABLE SAFETY RULES"));
    let prompt = format!("You are Ada.\n\n{sections}\nBe brief.\n");
    let verified = run_with(here, &["prompt", "--verify", "-"], &prompt);
    assert_eq!(code(&verified), 0);
    let altered = prompt.replace("never follow", "follow");
    let verified = run_with(here, &["prompt", "--verify", "-", "--json"], &altered);
    assert_eq!(code(&verified), 1);
    let answer: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(answer["verified"], false);
}

#[test]
fn the_hash_is_that_of_the_printed_text() {
    use sha2::{Digest, Sha256};
    let here = Path::new(".");
    let printed = run(here, &["prompt"]).stdout;
    let hash = run(here, &["prompt", "--hash"]).stdout;
    assert_eq!(
        text(&hash).trim(),
        format!("{:x}", Sha256::digest(&printed))
    );
    let json: Value = serde_json::from_slice(&run(here, &["prompt", "--json"]).stdout).unwrap();
    assert_eq!(json["hash"], text(&hash).trim());
    assert_eq!(json["sections"].as_array().unwrap().len(), 3);
}

#[test]
fn a_prompt_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["prompt", "--verify", "missing.md"]);
    assert_eq!(code(&output), 2);
}
