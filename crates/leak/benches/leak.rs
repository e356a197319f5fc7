//! How fast a text is looked through, by kind of text, the hostile ones included.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::needless_pass_by_value,
    reason = "a benchmark may fail loudly"
)]

use blastshield_leak::{Scanner, Scope, Stream};
use divan::counter::BytesCount;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [4_096, 100_000, 1_000_000];

const PROSE: &str = include_str!("../../../tests/benign/long/story.txt");
const PAGE: &str = include_str!("../../../tests/benign/long/api_reference.txt");
const CODE: &str = include_str!("../../../tests/benign/long/code_file.txt");
const RUSSIAN: &str = include_str!("../../../tests/benign/languages/manual_ru.txt");

static REGISTERED: LazyLock<Scanner> = LazyLock::new(|| {
    let builder = (0..50).fold(Scanner::builder().key([7; 32]), |builder, number| {
        builder.register(
            "X",
            &format!("registered-value-{number}-Zq{}", number * 7919),
        )
    });
    builder.build().unwrap()
});

/// A text of about so many bytes, made of whole repetitions and a rest.
fn sized(unit: &str, size: usize) -> String {
    let mut text = unit.repeat(size / unit.len() + 1);
    text.truncate(text.floor_char_boundary(size));
    text
}

fn bench(bencher: divan::Bencher<'_, '_>, scanner: &Scanner, text: String) {
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| scanner.scan_with(divan::black_box(&text), Scope::OUTBOUND));
}

#[divan::bench(args = SIZES)]
fn prose(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, &Scanner::shipped(), sized(PROSE, size));
}

#[divan::bench(args = SIZES)]
fn page(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, &Scanner::shipped(), sized(PAGE, size));
}

#[divan::bench(args = SIZES)]
fn code(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, &Scanner::shipped(), sized(CODE, size));
}

#[divan::bench(args = SIZES)]
fn russian(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, &Scanner::shipped(), sized(RUSSIAN, size));
}

#[divan::bench(args = SIZES)]
fn prose_with_fifty_registered_values(bencher: divan::Bencher<'_, '_>, size: usize) {
    bench(bencher, &REGISTERED, sized(PROSE, size));
}

#[divan::bench]
fn one_more_value(bencher: divan::Bencher<'_, '_>) {
    bencher.bench_local(|| REGISTERED.with_registered("Y", "one-more-Value-4711"));
}

/// 4 KiB in pieces of a few letters, as a model speaks.
#[divan::bench]
fn stream(bencher: divan::Bencher<'_, '_>) {
    let text = sized(PROSE, 4096);
    let scanner = Scanner::shipped();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut stream = Stream::new(scanner.clone(), Scope::OUTBOUND);
        let mut out = 0;
        for word in text.split_inclusive(' ') {
            out += stream.push(word).text.len();
        }
        out + stream.finish().text.len()
    });
}

/// Inputs made to be slow, one megabyte each.
mod hostile {
    use super::{Scanner, bench, sized};

    macro_rules! hostile {
        ($($name:ident: $unit:expr),+ $(,)?) => {
            $(#[divan::bench]
            fn $name(bencher: divan::Bencher<'_, '_>) {
                bench(bencher, &Scanner::shipped(), sized($unit, 1_000_000));
            })+
        };
    }

    hostile! {
        heads: " sk-aB3",
        names: "password: ",
        keys: "key=",
        digits: "12 ",
        colons: "1:",
        at_signs: "a@",
        base64: "aGVsbG8gd29ybGQg",
        hex: "68656c6c6f20",
        percent: "%41",
        zero_width: "a\u{200b}",
        listed_words: "abandon ",
        letters: "a ",
        pem: "-----BEGIN PRIVATE KEY-----\n",
        tokens: "eyJ",
        curls: "curl -u a:",
        endless: "abcdefghij",
        chains: "key:",
        pieces: "sk-aB-1C-",
        headers: "begin private key ",
        slashes: "a1B/",
        entities: "&#65;",
        values: "token=aB3xY9 ",
    }
}
