//! How long the guard takes for the sizes that agents deal in, and for input made to be slow.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::needless_pass_by_value,
    reason = "a benchmark may fail loudly"
)]

use blastshield_detect::{Detector, Kind};
use blastshield_guard::fence::{Isolation, Wrap, wrap};
use blastshield_guard::memory::scan_memory;
use blastshield_guard::neutralise;
use blastshield_guard::output::{Context, PromptShingles, Rules, Validator};
use blastshield_guard::prompt::Sections;
use blastshield_guard::stream::OutputStream;
use blastshield_leak::{Scanner, Scope};
use divan::counter::BytesCount;
use std::sync::{Arc, LazyLock};

fn main() {
    divan::main();
}

const PAGE: &str = include_str!("../../../tests/benign/long/api_reference.txt");
const PROSE: &str = include_str!("../../../tests/benign/long/story.txt");

static DETECTOR: LazyLock<Arc<Detector>> =
    LazyLock::new(|| Arc::new(Detector::shipped().expect("the shipped detector")));

const CALL: Wrap<'_> = Wrap {
    tool_name: "web_fetch",
    execution_ms: Some(35),
    truncated: false,
    id: [7; 8],
};

fn sized(unit: &str, size: usize) -> String {
    let mut text = unit.repeat(size / unit.len() + 1);
    text.truncate(text.floor_char_boundary(size));
    text
}

fn validator() -> Validator {
    let prompt = Sections::shipped().render();
    Validator::new(
        Rules::default(),
        Scanner::shipped(),
        Arc::new(PromptShingles::of([prompt.as_str()])),
    )
}

fn bench<O>(bencher: divan::Bencher<'_, '_>, text: String, run: impl Fn(&str) -> O) {
    let _ = run(&text);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| run(divan::black_box(&text)));
}

#[divan::bench(args = [4096, 100_000])]
fn wrap_only(bencher: divan::Bencher<'_, '_>, size: usize) {
    let options = Isolation {
        scan_for_injection: false,
        ..Isolation::default()
    };
    bench(bencher, sized(PAGE, size), |text| {
        wrap(text, &CALL, &DETECTOR, &options)
    });
}

#[divan::bench(args = [4096, 100_000])]
fn scan_and_wrap(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, sized(PAGE, size), |text| {
        wrap(text, &CALL, &DETECTOR, &Isolation::default())
    });
}

#[divan::bench(args = [4096])]
fn memory(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, sized(PROSE, size), |text| {
        scan_memory(text, "MEMORY.md", &DETECTOR)
    });
}

#[divan::bench(args = [4096, 100_000])]
fn validate(bencher: divan::Bencher<'_, '_>, size: usize) {
    let validator = validator();
    bench(bencher, sized(PAGE, size), |text| {
        validator.validate(text, &Context::default())
    });
}

#[divan::bench(args = [4096])]
fn validate_with_detector(bencher: divan::Bencher<'_, '_>, size: usize) {
    let validator = validator().with_detector(Arc::clone(&DETECTOR));
    bench(bencher, sized(PAGE, size), |text| {
        validator.validate(text, &Context::default())
    });
}

#[divan::bench(args = [4096])]
fn stream_by_words(bencher: divan::Bencher<'_, '_>, size: usize) {
    let validator = validator();
    bench(bencher, sized(PROSE, size), |text| {
        let mut stream = OutputStream::new(validator.clone(), Context::default());
        let mut out = String::new();
        for piece in text.split_inclusive(' ') {
            out.push_str(&stream.push(piece).text);
        }
        out.push_str(&stream.finish().text);
        out
    });
}

/// What every text that passes is asked: does it attack, and does it leak.
fn both(text: &str) -> (f32, usize) {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::shipped);
    let score = DETECTOR.assess(text, Kind::Web).score;
    (score, SCANNER.scan_with(text, Scope::OUTBOUND).len())
}

#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn together_prose(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, sized(PROSE, size), both);
}

#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn together_page(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, sized(PAGE, size), both);
}

/// Inputs made to be slow for one or the other, a megabyte each.
#[divan::bench(args = [
    " sk-aB3", "sk-aB-1C-", "12 ", "%41", "key=", "curl -u a:", "begin private key ", "a@", "aGVsbG8gd29ybGQg",
    "ignore previous instructions ", "\u{200b}",
])]
fn hostile_together(bencher: divan::Bencher<'_, '_>, unit: &str) {
    bench(bencher, sized(unit, 1_000_000), both);
}

/// Inputs made to be slow, a quarter of a megabyte each.
#[divan::bench(args = [
    "prose goes by ", "<", "<|", "[", "<<<end ", "name|>", "&lt;", "\n\nHuman:", "<s>", "《", "ж", "\u{200b}", "<tool_call ",
])]
fn hostile_neutralise(bencher: divan::Bencher<'_, '_>, unit: &str) {
    bench(bencher, sized(unit, 250_000), neutralise);
}

/// The same for answers.
#[divan::bench(args = [
    "prose goes by ", "//", "https://", "![](https://x?d=", "[", "<img src=", "aB3", "ж", "\u{1b}[", "http://a@", "/a?b=c&d",
])]
fn hostile_validate(bencher: divan::Bencher<'_, '_>, unit: &str) {
    let validator = validator();
    bench(bencher, sized(unit, 250_000), |text| {
        validator.validate(text, &Context::default())
    });
}
