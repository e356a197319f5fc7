//! The fold and the views on a megabyte of everything: ordinary text, encoded text, and text meant to hurt.

use blastshield_text::{Views, fold};
use divan::Bencher;
use divan::counter::BytesCount;

const SIZE: usize = 1 << 20;

const PROSE: &str = "The committee met on Thursday to discuss the new library building, which has been delayed twice since the spring. \
Members asked whether the previous contractor would be paid for work already done; the chair said that the rules were clear. \
Afterwards (at about 6.30 pm) everyone walked down to the river, and the evening ended with soup, bread and a long argument.\n\n";

const CODE: &str = "    /// Returns the first item that matches.\n    pub fn find_first(&self, key: &str) -> Option<&Item> {\n        let mut index = self.hash(key) % self.items.len();\n        \
for _ in 0..self.items.len() {\n            if self.items[index].key == key && !self.items[index].deleted {\n                return Some(&self.items[index]);\n            }\n            \
index = (index + 1) % self.items.len();\n        }\n        None\n    }\n\n";

type Make = fn() -> String;

const INPUTS: [(&str, Make); 24] = [
    ("prose", || repeated(PROSE)),
    ("code", || repeated(CODE)),
    ("html", || {
        repeated(
            "<li class=\"item\"><a href=\"/p?id=12&amp;x=%20\">Fish &amp; chips</a> &ndash; <b>best</b> in town</li>\n",
        )
    }),
    ("quotes", || repeated("“It’s late,” she said — and left. ")),
    ("french", || {
        repeated(
            "L’été dernier, nous avons visité la région où mon frère a vécu; c’était déjà très animé. ",
        )
    }),
    ("russian", || {
        repeated("Вчера вечером мы долго говорили о новой книге, которую никто ещё не прочитал. ")
    }),
    ("arabic", || {
        repeated("كان الاجتماع طويلاً وناقش الأعضاء المبنى الجديد للمكتبة العامة. ")
    }),
    ("hindi", || {
        repeated("कल शाम हम नई किताब के बारे में देर तक बात करते रहे। ")
    }),
    ("chinese", || {
        repeated("昨天晚上我们谈论了一本还没有人读过的新书，直到很晚才回家。")
    }),
    ("base64 text", || {
        data_encoding::BASE64.encode(repeated(PROSE).as_bytes())
    }),
    ("base64 noise", || data_encoding::BASE64.encode(&noise())),
    ("hex noise", || data_encoding::HEXLOWER.encode(&noise())),
    ("angle brackets", || repeated("<")),
    ("open tags", || repeated("a<span ")),
    ("single letters", || repeated("a ")),
    ("spaced words", || repeated("i g n o r e ")),
    ("zero width", || repeated("\u{200b}")),
    ("zero width bits", || repeated("\u{200b}\u{200c}\u{200c}")),
    ("percent", || repeated("%41")),
    ("entities", || repeated("&#65;")),
    ("escapes", || repeated("\\u0041")),
    ("alternating scripts", || repeated("aа")),
    ("leet", || repeated("1337 1gn0r3 ")),
    ("one mark pile", || format!("e{}", repeated("\u{301}"))),
];

fn repeated(text: &str) -> String {
    text.repeat(SIZE.div_ceil(text.len()))
}

fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..SIZE / 8).flat_map(|_| next()).collect()
}

#[divan::bench(args = INPUTS.map(|(name, _)| name))]
fn folding(bencher: Bencher, name: &str) {
    let input = input(name);
    bencher
        .counter(BytesCount::of_str(&input))
        .bench_local(|| fold(&input));
}

#[divan::bench(args = INPUTS.map(|(name, _)| name))]
fn views(bencher: Bencher, name: &str) {
    let input = input(name);
    bencher
        .counter(BytesCount::of_str(&input))
        .bench_local(|| Views::of(&input));
}

fn input(name: &str) -> String {
    INPUTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, make)| make())
        .unwrap_or_default()
}

fn main() {
    divan::main();
}
