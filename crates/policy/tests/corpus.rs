//! Measures the policy on rows kept elsewhere: `BLASTSHIELD_SSRF_ROWS=<folder> cargo test -p blastshield-policy --test corpus -- --ignored --nocapture`.
//!
//! Rows are JSON lines in `ips.jsonl`, `urls.jsonl`, `whatwg_urls.jsonl` and `scenarios.jsonl`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use blastshield_policy::{
    AddressClass, DomainList, DomainPolicy, HopPolicy, Host, Ports, Standing, Target, UrlRules,
    check_redirect, check_url, classify, join,
};
use serde_json::Value;
use url::Url;

fn rows(file: &str) -> Vec<Value> {
    let folder = PathBuf::from(std::env::var_os("BLASTSHIELD_SSRF_ROWS").unwrap());
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What a name resolves to where a row does not say; so that no row passes for want of an answer.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));

fn open() -> HopPolicy {
    HopPolicy {
        rules: UrlRules {
            allow_http: true,
            ports: Ports::Any,
        },
        ..HopPolicy::default()
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

/// Counts rows by verdict and collects the wrong ones.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: Vec<String>,
    open: usize,
}

impl Tally {
    fn judge(&mut self, verdict: &str, allowed: bool, row: &str) {
        match (verdict, allowed) {
            ("policy", _) => self.open += 1,
            ("must_allow", true) => self.right += 1,
            ("must_allow", false) | (_, true) => self.wrong.push(format!("{verdict} {row}")),
            (_, false) => self.right += 1,
        }
    }

    fn report(self, name: &str) {
        println!(
            "{name}: {} right, {} wrong, {} open",
            self.right,
            self.wrong.len(),
            self.open
        );
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
    }
}

#[test]
#[ignore = "measures rows kept elsewhere"]
fn addresses() {
    let mut tally = Tally::default();
    for row in rows("ips.jsonl") {
        let ip: IpAddr = text(&row, "ip").parse().unwrap();
        tally.judge(
            &text(&row, "verdict"),
            classify(ip) == AddressClass::Public,
            &text(&row, "ip"),
        );
    }
    tally.report("ips");
}

#[test]
#[ignore = "measures rows kept elsewhere"]
fn urls() {
    let mut tally = Tally::default();
    for row in rows("urls.jsonl") {
        let url = text(&row, "url");
        let policy = open();
        let allowed = check_url(&url, &policy).is_ok_and(|target| {
            let answers = answers(&row["dns"], &target, 0).unwrap_or_else(|| vec![PUBLIC]);
            policy.admit(&target, &answers).is_ok()
        });
        tally.judge(&text(&row, "verdict"), allowed, &url);
    }
    tally.report("urls");
}

#[test]
#[ignore = "measures rows kept elsewhere"]
fn whatwg() {
    let mut tally = Tally::default();
    let mut not_dns = 0;
    for row in rows("whatwg_urls.jsonl") {
        let url = text(&row, "url");
        let base = row["base"].as_str().and_then(|base| Url::parse(base).ok());
        let parsed = base
            .as_ref()
            .map_or_else(|| Url::parse(&url), |base| join(base, &url));
        if row["verdict"] == "parse" {
            let expected = text(&row, "expect_host");
            let host = parsed
                .as_ref()
                .ok()
                .and_then(Url::host_str)
                .unwrap_or_default();
            match Host::parse(host) {
                Ok(ours) => {
                    let theirs = Host::parse(&expected).unwrap();
                    tally.judge("must_allow", host == expected && ours == theirs, &url);
                }
                Err(_) => {
                    not_dns += 1;
                    tally.judge("must_allow", host == expected, &url);
                }
            }
        } else {
            let allowed = match &base {
                Some(base) => check_redirect(base, &url, &open()),
                None => check_url(&url, &open()),
            }
            .is_ok_and(|target| open().admit(&target, &[PUBLIC]).is_ok());
            tally.judge("must_block", allowed, &url);
        }
    }
    println!("hosts that no DNS name can be: {not_dns}");
    tally.report("whatwg");
}

#[test]
#[ignore = "measures rows kept elsewhere"]
fn scenarios() {
    let mut tally = Tally::default();
    for row in rows("scenarios.jsonl") {
        let verdict = text(&row, "verdict");
        let id = format!("{} {}", text(&row, "id"), text(&row, "why"));
        let config = &row["config"];
        let domains = DomainPolicy {
            allow: list(&config["allowlist"]),
            block: list(&config["blocklist"]),
        };
        let mut policy = HopPolicy {
            domains: Arc::new(domains),
            ..open()
        };
        policy.rules.allow_http = config["https_only"] != true;
        match verdict.as_str() {
            "must_not_match_allowlist" => {
                let allowed = check_url(&text(&row, "start"), &policy)
                    .is_ok_and(|t| t.standing == Standing::Allowed);
                tally.judge("must_block", allowed, &id);
            }
            "must_strip_credentials" => tally.open += 1,
            "must_bound" => tally.judge("must_allow", walk(&row, &policy), &id),
            // Every call resolves once, so the second answer stands for a second call.
            "must_block" if id.contains("rebinding") => {
                let target = check_url("https://pub.test/", &policy).unwrap();
                let second = answers(&row["dns"], &target, 1).unwrap_or_default();
                tally.judge("must_block", policy.admit(&target, &second).is_ok(), &id);
            }
            _ => tally.judge(&verdict, walk(&row, &policy), &id),
        }
    }
    tally.report("scenarios");
}

/// Follows the redirects of a scenario; whether it ends at an answer.
fn walk(row: &Value, policy: &HopPolicy) -> bool {
    let mut next = check_url(&text(row, "start"), policy);
    for _ in 0..5 {
        let Ok(target) = next else { return false };
        let Some(answers) = answers(&row["dns"], &target, 0) else {
            return false;
        };
        if policy.admit(&target, &answers).is_err() {
            return false;
        }
        let answer = &row["http"][target.url.as_str()];
        match answer["location"].as_str() {
            Some(location) => next = check_redirect(&target.url, location, policy),
            None => return true,
        }
    }
    false
}

/// The answers of a lookup; none when the resolver would not give addresses.
fn answers(dns: &Value, target: &Target, turn: usize) -> Option<Vec<IpAddr>> {
    if target.host.ip().is_some() {
        return Some(Vec::new());
    }
    let host = target.host.to_string();
    let entry = [host.clone(), format!("{host}."), "*".to_owned()]
        .iter()
        .map(|name| dns[name].clone())
        .find(|e| !e.is_null())?;
    let list = if entry[0].is_array() {
        entry[turn].clone()
    } else {
        entry
    };
    list.as_array()?
        .iter()
        .map(|ip| ip.as_str()?.parse().ok())
        .collect()
}

fn list(entries: &Value) -> DomainList {
    DomainList::from_entries(
        entries
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    )
    .unwrap()
}
