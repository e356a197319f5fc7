//! `blastshield export`: our policy in the words of other programs.

use crate::args::SettingsOptions;
use crate::settings;
use blastshield_config::Settings;
use blastshield_policy::{DomainList, special_blocks};
use clap::{Args, Subcommand};
use std::fmt::Write as _;
use std::net::IpAddr;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// A seccomp profile for containers, as `docker run --security-opt seccomp=FILE` takes it
    Seccomp,
    /// A hardened squid.conf: the domains of egress.allowed_domains, and nothing private
    Squid(SquidOptions),
}

const EXAMPLES: &str = "\
Examples:
  blastshield export squid > /etc/squid/squid.conf && squid -k parse
  blastshield export squid --allow-domain .example.org --port 3129";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SquidOptions {
    /// A domain that is also allowed; may be repeated
    #[arg(long, value_name = "DOMAIN")]
    allow_domain: Vec<String>,
    /// Where Squid listens, on the loopback
    #[arg(long, value_name = "PORT", default_value_t = 3128)]
    port: u16,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn run(command: &ExportCommand) -> anyhow::Result<()> {
    match command {
        ExportCommand::Seccomp => {
            let profile = blastshield_sandbox::container_profile();
            println!("{}", serde_json::to_string_pretty(&profile)?);
        }
        ExportCommand::Squid(options) => {
            let settings = settings::settings(&options.settings)?;
            let more = DomainList::from_entries(options.allow_domain.iter().map(String::as_str))?;
            print!(
                "{}",
                squid(&allowed(&settings, &more), &settings, options.port)
            );
        }
    }
    Ok(())
}

/// Every domain that the settings or the command line allow.
fn allowed(settings: &Settings, more: &DomainList) -> Vec<String> {
    together(&[&settings.egress.allowed_domains, more])
}

/// The entries of several lists as of one, so that nothing is said twice.
fn together(lists: &[&DomainList]) -> Vec<String> {
    let entries: Vec<String> = lists.iter().flat_map(|list| list.entries()).collect();
    DomainList::from_entries(entries.iter().map(String::as_str))
        .map_or(entries.clone(), |list| list.entries())
}

const HEAD: &str = "\
# Made by `blastshield export squid` from its settings. Change those, not this.
# What is not allowed is denied. Tunnels are not opened: Squid sees their host and not their content.

";

const PORTS: &str = "
# Only web ports, and tunnels only to HTTPS.
acl web_ports port 80
acl web_ports port 443
acl tls_ports port 443
acl ours src 127.0.0.1/32
acl ours src ::1/128

http_access deny manager
http_access deny !web_ports
http_access deny CONNECT !tls_ports
http_access deny internal_networks
";

const TAIL: &str = "\
http_access deny all

# Sizes.
request_header_max_size 64 KB
reply_header_max_size 64 KB
request_body_max_size 10 MB
reply_body_max_size 50 MB
max_filedescriptors 1024

# Times.
connect_timeout 10 seconds
read_timeout 60 seconds
request_timeout 30 seconds
client_lifetime 1 hour
shutdown_lifetime 5 seconds

# Nothing is kept, and nothing is told about the one who asks.
cache deny all
forwarded_for delete
httpd_suppress_version_string on
strip_query_terms on
";

/// The whole file.
fn squid(allowed: &[String], settings: &Settings, port: u16) -> String {
    let mut conf = String::from(HEAD);
    let _ = writeln!(conf, "http_port 127.0.0.1:{port}");
    let _ = writeln!(conf, "\n# Domains that may be reached.");
    let (addresses, names): (Vec<String>, Vec<String>) = allowed
        .iter()
        .cloned()
        .partition(|entry| entry.parse::<IpAddr>().is_ok());
    for address in addresses {
        // To Squid it would also be every name that leads there.
        let _ = writeln!(
            conf,
            "# {address} is left out: Squid cannot allow an address alone."
        );
    }
    let allowed = domains(&mut conf, "allowed", &names);
    let _ = writeln!(conf, "\n# Domains that are never reached.");
    let blocked = domains(
        &mut conf,
        "blocked",
        &settings.policy.domains.block.entries(),
    );
    let _ = writeln!(conf, "\n# Addresses that are not public.");
    for block in special_blocks() {
        let _ = writeln!(conf, "acl internal_networks dst {block}");
    }
    conf.push_str(PORTS);
    for list in blocked {
        let _ = writeln!(conf, "http_access deny {list}");
    }
    for list in allowed {
        let _ = writeln!(conf, "http_access allow ours {list}");
    }
    conf.push_str(TAIL);
    conf
}

/// The lists of some entries; returns the names of those that hold anything. Names are not looked up backwards: whoever
/// owns an address could claim any.
fn domains(conf: &mut String, name: &str, entries: &[String]) -> Vec<String> {
    let mut lists = Vec::new();
    for entry in entries {
        let (kind, rule) = match (entry.strip_prefix("*."), entry.parse::<IpAddr>()) {
            // A leading dot would hold the domain itself too.
            (Some(domain), _) => {
                let domain = domain.replace('.', "\\.");
                ("subdomains", format!("dstdom_regex -n -i ^.+\\.{domain}$"))
            }
            (None, Ok(address)) => ("addresses", format!("dst {address}")),
            (None, Err(_)) => ("domains", format!("dstdomain -n .{entry}")),
        };
        let list = format!("{name}_{kind}");
        let _ = writeln!(conf, "acl {list} {rule}");
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    lists.sort();
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_config::Values;

    fn made(file: &str, more: &str) -> String {
        let values = Values::read(Some(file), std::iter::empty()).unwrap();
        let settings = Settings::from_values(&values).unwrap();
        let more = DomainList::parse(more).unwrap();
        squid(&allowed(&settings, &more), &settings, 3128)
    }

    /// Where each of these lines stands; all must be there.
    fn order(conf: &str, lines: &[&str]) -> Vec<usize> {
        let place = |line: &str| conf.lines().position(|found| found == line);
        lines
            .iter()
            .map(|line| place(line).unwrap_or_else(|| panic!("{line} is not in\n{conf}")))
            .collect()
    }

    #[test]
    fn nothing_is_allowed_until_the_settings_say_so() {
        let conf = made("[egress]\nallowed_domains = \"\"", "");
        assert!(!conf.contains("http_access allow"), "{conf}");
        assert!(conf.contains("http_access deny all"));
    }

    #[test]
    fn denials_come_first() {
        let conf = made(
            "[policy]\nblocklist_domains = \"evil.example\"\n[egress]\nblocked_domains = \"a.evil.example\"",
            "example.org *.below.example docs.example.org 2001:db8::1",
        );
        let places = order(
            &conf,
            &[
                "acl allowed_subdomains dstdom_regex -n -i ^.+\\.below\\.example$",
                "acl allowed_domains dstdomain -n .example.org",
                "acl blocked_domains dstdomain -n .evil.example",
                "acl internal_networks dst 10.0.0.0/8",
                "http_access deny CONNECT !tls_ports",
                "http_access deny internal_networks",
                "http_access deny blocked_domains",
                "http_access allow ours allowed_domains",
                "http_access allow ours allowed_subdomains",
                "http_access deny all",
            ],
        );
        assert!(places.is_sorted(), "{places:?}");
        assert!(!conf.contains("docs.example.org"), "it is covered");
        assert!(
            !conf.contains("allowed_addresses"),
            "names could lead there"
        );
        assert!(conf.contains("# 2001:db8::1 is left out"));
    }

    #[test]
    fn sizes_are_bounded() {
        let conf = made("", "");
        for line in [
            "request_body_max_size 10 MB",
            "reply_body_max_size 50 MB",
            "max_filedescriptors 1024",
        ] {
            order(&conf, &[line]);
        }
    }
}
