//! Fetches every mode of a hostile origin kept elsewhere, which lists its modes as a JSON object at `/modes`:
//! `BLASTSHIELD_HOSTILE_ORIGIN=http://127.0.0.9:8099 cargo test -p blastshield-web --test hostile -- --ignored --nocapture`.
//!
//! Only the origin's own address is excepted, so run it on a loopback address that its redirects do not name.

use std::time::{Duration, Instant};

use blastshield_web::{FetchLimits, Host};
use url::Url;

use crate::{fetcher, impatient, policy};

#[tokio::test]
#[ignore = "needs an origin that runs elsewhere"]
async fn every_mode_ends_in_time() {
    let origin = std::env::var("BLASTSHIELD_HOSTILE_ORIGIN").unwrap();
    let own = Host::of(&Url::parse(&origin).unwrap()).unwrap();
    let fetcher = fetcher(policy(&[&format!("{own}/32")]));
    let limits = FetchLimits {
        wire_bytes: 1_000_000,
        decoded_bytes: 1_000_000,
        first_byte: Duration::from_secs(8),
        total: Duration::from_secs(10),
        ..impatient()
    };
    let modes = fetcher
        .fetch(&format!("{origin}/modes"), &limits)
        .await
        .unwrap()
        .body;
    let modes: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&modes).unwrap();
    for (mode, expected) in modes {
        let started = Instant::now();
        let outcome = match fetcher.fetch(&format!("{origin}/{mode}"), &limits).await {
            Ok(page) => format!("{} bytes", page.body.len()),
            Err(error) => error.code().to_owned(),
        };
        println!(
            "{mode:28} {:4} ms  {outcome:28} {expected}",
            started.elapsed().as_millis()
        );
        assert!(started.elapsed() < limits.total + Duration::from_secs(5));
    }
}
