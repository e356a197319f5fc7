//! `cargo fuzz run views`: no input may break a promise of the crate.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| blastshield_text::check_invariants(input));
