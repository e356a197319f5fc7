//! Workers that lie. The test program starts itself in the sandbox in place of a worker, speaks the protocol, and tries to
//! gain something: another request, another address, a post without the owner, a payload in the result, a clean record.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::exit,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod core;
mod lies;

use blastshield_sandbox::enter_if_asked;

fn main() {
    if let Some(inside) = enter_if_asked() {
        lies::tell(inside);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            for (name, _) in core::TESTS {
                println!("{name}: test");
            }
        }
        return;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut ran = 0;
    for (name, test) in core::TESTS {
        let chosen = wanted.is_none_or(|wanted| {
            if has("--exact") {
                wanted == name
            } else {
                name.contains(wanted.as_str())
            }
        });
        if chosen && !has("--ignored") {
            test();
            println!("test {name} ... ok");
            ran += 1;
        }
    }
    println!("test result: ok. {ran} passed");
}
