//! From bytes to a page: ordinary pages of three sizes, and pages built to be slow.

use blastshield_content::{Mode, read};
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// A page of about `size` bytes, made like pages of newspapers and blogs: two fifths script and style, a tag every
/// ninety bytes.
fn page(size: usize) -> String {
    const PROSE: &str = "after a debate of four hours that nobody expected, and the first trams run in spring &amp; summer, when the \
        bridges have been repaired and the last of the old cars has gone to the museum at the harbour";
    let mut css = String::new();
    for n in 0..size / 800 {
        css.push_str(&format!(
            ".c{n} > a:hover, .d{n} .e{n} {{ color: #333; margin: 0 auto; background: #fff }}\n"
        ));
    }
    let mut body = String::new();
    let mut n = 0;
    while body.len() + css.len() < size {
        n += 1;
        let data = "{\"id\": 1, \"kind\": \"slot\", \"html\": \"<p>not text</p>\"}, ".repeat(12);
        body.push_str(&format!(
            "<h2 class=\"c{n} headline headline--small\">Part {n}</h2>\n<p class=\"d{n} paragraph\">The council <a class=\"link link--inline\" \
             href=\"/news/2024/05/{n}/article\">approved the new line</a> on Tuesday, {PROSE}. It was <em>late</em>, {PROSE}.</p>\n\
             <div class=\"row row--wide js-observe\" data-track='{{\"slot\":{n},\"kind\":\"inline\"}}'><ul class=\"list\"><li>Bake the bread for \
             forty minutes, {PROSE}.</li><li>Serve it <b>warm</b>.</li></ul></div>\n<script>window.slots = window.slots || []; \
             window.slots.push({data});</script>\n<p>Then, {PROSE}, {PROSE}, {PROSE}.</p>\n"
        ));
        if n % 4 == 0 {
            body.push_str("<table><tr><th>Year</th><th>Rain</th></tr><tr><td>2024</td><td>812</td></tr></table><pre><code>let x = 1;</code></pre>");
        }
    }
    format!(
        "<!doctype html><html lang=en><head><title>Trams</title><style>{css}</style></head><body><nav><ul><li><a href=/>Home</a>\
         </ul></nav><main><article><h1>Trams</h1>{body}</article></main><footer>Imprint</footer></body></html>"
    )
}

fn run(bencher: divan::Bencher<'_, '_>, html: &str, mode: Mode) {
    bencher.counter(BytesCount::of_str(html)).bench(|| {
        read(
            divan::black_box(html.as_bytes()),
            Some("text/html; charset=utf-8"),
            None,
            mode,
        )
    });
}

#[divan::bench(args = [5_000, 100_000, 1_000_000])]
fn markdown(bencher: divan::Bencher<'_, '_>, size: usize) {
    run(bencher, &page(size), Mode::Markdown);
}

#[divan::bench(args = [5_000, 100_000, 1_000_000])]
fn text(bencher: divan::Bencher<'_, '_>, size: usize) {
    run(bencher, &page(size), Mode::Text);
}

#[divan::bench(args = ["deep", "unclosed_inline", "formatting", "angles", "attributes", "tables", "selectors", "comments"], sample_count = 5)]
fn hostile_megabyte(bencher: divan::Bencher<'_, '_>, name: &str) {
    run(bencher, &hostile(name), Mode::Markdown);
}

fn hostile(name: &str) -> String {
    const SIZE: usize = 1_000_000;
    match name {
        "deep" => "<div>".repeat(SIZE / 5),
        "unclosed_inline" => "<b><i><u><a href=x>".repeat(SIZE / 19),
        "formatting" => (0..SIZE / 24)
            .map(|n| format!("<p><font color={n}>x</p>"))
            .collect(),
        "angles" => "<".repeat(SIZE),
        "attributes" => format!(
            "<p {}>x",
            (0..SIZE / 8)
                .map(|n| format!("a{n}=1 "))
                .collect::<String>()
        ),
        "tables" => "<table><tr><td>".repeat(SIZE / 15),
        "selectors" => {
            let css: String = (0..4000)
                .map(|n| format!("div div div div .x{n} *{{color:red}}"))
                .collect();
            format!(
                "<style>{css}</style>{}",
                "<div><p>x</p>".repeat((SIZE - css.len()) / 13)
            )
        }
        _ => "<!-- x -->".repeat(SIZE / 10),
    }
}
