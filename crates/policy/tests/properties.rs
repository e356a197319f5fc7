//! What holds for every input, not only for the ones we thought of.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use blastshield_policy::{
    AddressClass, AddressGuard, DomainList, HopPolicy, Host, Ports, UrlRules, check_url, classify,
    explain,
};
use proptest::prelude::*;

fn open() -> HopPolicy {
    HopPolicy {
        rules: UrlRules {
            allow_http: true,
            ports: Ports::Any,
        },
        ..HopPolicy::default()
    }
}

/// Addresses near the interesting borders as well as anywhere.
fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let first = prop_oneof![
        Just(0u8),
        Just(10),
        Just(100),
        Just(127),
        Just(169),
        Just(172),
        Just(192),
        Just(198),
        Just(203),
        any::<u8>()
    ];
    (first, any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| Ipv4Addr::new(a, b, c, d))
}

fn any_v6() -> impl Strategy<Value = Ipv6Addr> {
    let first = prop_oneof![
        Just(0u16),
        Just(0x64),
        Just(0x2001),
        Just(0x2002),
        Just(0x3fff),
        Just(0xfd00),
        Just(0xfe80),
        any::<u16>()
    ];
    (first, any::<u128>(), 0u32..112).prop_map(|(first, rest, shift)| {
        Ipv6Addr::from_bits((u128::from(first) << 112) | ((rest >> 16) >> shift))
    })
}

proptest! {
    #[test]
    fn what_the_standard_library_calls_special_is_never_public(ip in any_v4()) {
        let special = ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_multicast()
            || ip.is_broadcast() || ip.is_documentation() || ip.is_unspecified();
        prop_assert!(!special || classify(ip.into()) != AddressClass::Public);
    }

    #[test]
    fn mapping_and_translation_change_nothing(ip in any_v4()) {
        let class = classify(ip.into());
        prop_assert_eq!(classify(ip.to_ipv6_mapped().into()), class);
        let nat64 = Ipv6Addr::from_bits((0x64_ff9b_u128 << 96) | u128::from(ip.to_bits()));
        prop_assert_eq!(classify(nat64.into()), class);
        prop_assert_ne!(classify(ip.to_ipv6_compatible().into()), AddressClass::Public);
    }

    #[test]
    fn public_ipv6_lies_in_global_unicast(ip in any_v6()) {
        let wrapped = ip.to_ipv4_mapped().is_some() || ip.to_bits() >> 32 == 0x64_ff9b_u128 << 64;
        if classify(ip.into()) == AddressClass::Public && !wrapped {
            prop_assert_eq!(ip.to_bits() >> 125, 1);
            prop_assert!(!ip.is_unicast_link_local() && !ip.is_unique_local() && !ip.is_multicast());
        }
    }

    #[test]
    fn without_exceptions_only_public_answers_are_admitted(
        v4 in prop::collection::vec(any_v4(), 0..4),
        v6 in prop::collection::vec(any_v6(), 0..4),
    ) {
        let answers: Vec<IpAddr> = v4.into_iter().map(IpAddr::from).chain(v6.into_iter().map(IpAddr::from)).collect();
        let all_public = !answers.is_empty() && answers.iter().all(|ip| classify(*ip) == AddressClass::Public);
        let admitted = AddressGuard::default().admit(&Host::parse("a.test").unwrap(), &answers, 443);
        prop_assert_eq!(admitted.is_ok(), all_public);
        for addr in admitted.unwrap_or_default() {
            prop_assert!(!addr.by_exception());
            prop_assert!(answers.iter().any(|ip| ip.to_canonical() == addr.socket_addr().ip()));
        }
    }

    #[test]
    fn every_spelling_of_a_special_ipv4_is_refused(ip in any_v4(), spelling in 0usize..7) {
        prop_assume!(classify(ip.into()) != AddressClass::Public);
        let [a, b, c, d] = ip.octets();
        let low = ip.to_bits() & 0x00ff_ffff;
        let host = match spelling {
            0 => ip.to_string(),
            1 => ip.to_bits().to_string(),
            2 => format!("0x{:X}", ip.to_bits()),
            3 => format!("0{a:o}.0{b:o}.{c}.0x{d:x}"),
            4 => format!("{a}.{low}"),
            5 => format!("[::ffff:{ip}]"),
            _ => format!("{a}.{b}.{c}.{d}."),
        };
        let verdict = explain(&format!("http://{host}/"), &open(), &[IpAddr::from([93, 184, 215, 14])]);
        prop_assert!(verdict.is_err());
    }

    #[test]
    fn no_text_panics_and_what_is_accepted_is_in_normal_form(text in "(https?:)?(//|\\\\|/)?\\PC{0,60}") {
        if let Ok(target) = check_url(&text, &open()) {
            let again = check_url(target.url.as_str(), &open()).unwrap();
            prop_assert_eq!(&again, &target);
            prop_assert_eq!(Host::parse(&target.host.to_string()), Ok(target.host.clone()));
            prop_assert!(target.url.username().is_empty() && target.url.password().is_none());
        }
    }

    #[test]
    fn lists_match_on_label_borders_only(domain in "[a-z]{1,8}\\.[a-z]{2,4}", prefix in "[a-z0-9]{1,8}") {
        let list = DomainList::parse(&domain).unwrap();
        let covers = |text: String| list.covers(&Host::parse(&text).unwrap());
        prop_assert!(covers(domain.clone()));
        let below = format!("{prefix}.{domain}");
        let beside = format!("{prefix}{domain}");
        let above = format!("{domain}.x{prefix}");
        prop_assert!(covers(below));
        prop_assert!(!covers(beside));
        prop_assert!(!covers(above));
    }
}
