//! Says of every address what it is for. Only [`AddressClass::Public`] may be dialled without an operator's exception.
//!
//! The tables follow the IANA special-purpose registries, plus deprecated blocks and the addresses at which clouds
//! answer their guests. Blocks that IANA calls globally reachable but that serve infrastructure (anycast, relays,
//! AS112) are not public here: no page lives there.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// Ordinary, globally routed unicast.
    Public,
    /// "This host on this network".
    Unspecified,
    /// The machine itself.
    Loopback,
    /// Private networks, unique-local and site-local addresses.
    Private,
    /// Carrier-grade NAT.
    Shared,
    /// The local link.
    LinkLocal,
    /// Where a cloud answers its own guests.
    Metadata,
    /// Set aside by IANA for protocols, anycast services and relays.
    Protocol,
    /// Examples in documents.
    Documentation,
    /// Device benchmarks; also "fake IP" resolvers.
    Benchmarking,
    /// IPv4 wrapped in IPv6: 6to4, Teredo, ISATAP, compatible and locally translated addresses.
    Tunnel,
    /// Groups, not hosts.
    Multicast,
    /// Reserved, discarded or never allocated.
    Reserved,
}

impl AddressClass {
    /// Whether an excepted host name may stand for such an address. The rest needs an excepted range.
    #[must_use]
    pub(crate) fn yields_to_host_exception(self) -> bool {
        use AddressClass::{Benchmarking, Loopback, Private, Shared};
        matches!(self, Loopback | Private | Shared | Benchmarking)
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "carrier-shared",
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            Self::Protocol => "protocol",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Tunnel => "tunnelled",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
        })
    }
}

use AddressClass as C;

/// First match wins, so single addresses stand before the blocks that hold them.
const V4: &[([u8; 4], u8, AddressClass)] = &[
    ([169, 254, 169, 254], 32, C::Metadata),
    ([169, 254, 170, 2], 32, C::Metadata),
    ([169, 254, 170, 23], 32, C::Metadata),
    ([169, 254, 0, 23], 32, C::Metadata),
    ([168, 63, 129, 16], 32, C::Metadata),
    ([100, 100, 100, 200], 32, C::Metadata),
    ([192, 0, 0, 192], 32, C::Metadata),
    ([0, 0, 0, 0], 8, C::Unspecified),
    ([10, 0, 0, 0], 8, C::Private),
    ([100, 64, 0, 0], 10, C::Shared),
    ([127, 0, 0, 0], 8, C::Loopback),
    ([169, 254, 0, 0], 16, C::LinkLocal),
    ([172, 16, 0, 0], 12, C::Private),
    ([192, 0, 0, 0], 24, C::Protocol),
    ([192, 0, 2, 0], 24, C::Documentation),
    ([192, 31, 196, 0], 24, C::Protocol),
    ([192, 52, 193, 0], 24, C::Protocol),
    ([192, 88, 99, 0], 24, C::Protocol),
    ([192, 168, 0, 0], 16, C::Private),
    ([192, 175, 48, 0], 24, C::Protocol),
    ([198, 18, 0, 0], 15, C::Benchmarking),
    ([198, 51, 100, 0], 24, C::Documentation),
    ([203, 0, 113, 0], 24, C::Documentation),
    ([224, 0, 0, 0], 4, C::Multicast),
    ([240, 0, 0, 0], 4, C::Reserved),
];

/// As [`V4`]. What none of these holds is public inside 2000::/3 and reserved outside.
const V6: &[(Ipv6Addr, u8, AddressClass)] = &[
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0]), 32, C::Metadata),
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]), 128, C::Metadata),
    (v6([0xfd00, 0xc1, 0, 0, 0, 0, 0, 0]), 32, C::Metadata),
    (
        v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe]),
        128,
        C::Metadata,
    ),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 128, C::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, C::Loopback),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 96, C::Tunnel),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0]), 96, C::Tunnel),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, C::Tunnel),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, C::Tunnel),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0]), 48, C::Benchmarking),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, C::Protocol),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, C::Documentation),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, C::Tunnel),
    (v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0]), 48, C::Protocol),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0]), 16, C::Reserved),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, C::Documentation),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, C::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, C::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, C::Private),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, C::Multicast),
];

const GLOBAL_UNICAST: Ipv6Addr = v6([0x2000, 0, 0, 0, 0, 0, 0, 0]);
const NAT64: Ipv6Addr = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]);

const fn v6(s: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = s;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

/// The blocks that hold no public address, none within another: for other programs that filter by block. Such programs
/// may keep IPv4 as mapped addresses, so the blocks around those stop short of them. ISATAP identifiers cannot be told
/// by block.
#[must_use]
pub fn special_blocks() -> Vec<IpNet> {
    let short = V4
        .iter()
        .map(|(base, prefix, _)| (IpAddr::from(*base), *prefix));
    let long = V6
        .iter()
        .map(|(base, prefix, _)| (IpAddr::from(*base), *prefix));
    // What is not global unicast: 4000::/2, 8000::/1, and of 0000::/3 all but 0000::/16, where the mapped ones are.
    let outside = (4..=16)
        .map(|prefix: u8| (1 << (16 - u16::from(prefix)), prefix))
        .chain([(0x4000, 2), (0x8000, 1)])
        .map(|(first, prefix)| (IpAddr::from(v6([first, 0, 0, 0, 0, 0, 0, 0])), prefix));
    let blocks: Vec<IpNet> = short
        .chain(long)
        .chain(outside)
        .chain([(IpAddr::from(NAT64), 96)])
        .filter_map(|(base, prefix)| IpNet::new(base, prefix).ok())
        .map(|block| block.trunc())
        .collect();
    let mut blocks = IpNet::aggregate(&blocks);
    blocks.sort();
    blocks
}

/// What this address is for. Mapped and well-known NAT64 addresses are judged by the IPv4 address inside.
#[must_use]
pub fn classify(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => embedded_v4(ip).map_or_else(|| classify_v6(ip), classify_v4),
    }
}

/// The IPv4 address that a mapped or well-known NAT64 address leads to.
pub(crate) fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    if let Some(inner) = ip.to_ipv4_mapped() {
        return Some(inner);
    }
    let low = u32::try_from(ip.to_bits() & u128::from(u32::MAX)).ok()?;
    within_v6(ip, NAT64, 96).then(|| Ipv4Addr::from_bits(low))
}

fn classify_v4(ip: Ipv4Addr) -> AddressClass {
    let bits = ip.to_bits();
    V4.iter()
        .find(|(base, prefix, _)| {
            let differing = bits ^ Ipv4Addr::from_octets(*base).to_bits();
            differing.leading_zeros() >= u32::from(*prefix)
        })
        .map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn classify_v6(ip: Ipv6Addr) -> AddressClass {
    if let Some((_, _, class)) = V6
        .iter()
        .find(|(base, prefix, _)| within_v6(ip, *base, *prefix))
    {
        return *class;
    }
    if !within_v6(ip, GLOBAL_UNICAST, 3) {
        return AddressClass::Reserved;
    }
    if is_isatap(ip) {
        AddressClass::Tunnel
    } else {
        AddressClass::Public
    }
}

fn within_v6(ip: Ipv6Addr, base: Ipv6Addr, prefix: u8) -> bool {
    (ip.to_bits() ^ base.to_bits()).leading_zeros() >= u32::from(prefix)
}

/// An interface identifier of the form `[02]00:5efe:a.b.c.d`.
fn is_isatap(ip: Ipv6Addr) -> bool {
    let [_, _, _, _, high, low, _, _] = ip.segments();
    low == 0x5efe && (high == 0 || high == 0x0200)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(ip: &str) -> AddressClass {
        classify(ip.parse().unwrap())
    }

    #[test]
    fn every_block_is_special_from_its_first_to_its_last_address() {
        for (base, prefix, _) in V4 {
            let first = Ipv4Addr::from_octets(*base).to_bits();
            let last = first | u32::MAX.checked_shr(u32::from(*prefix)).unwrap_or(0);
            for bits in [first, last, first + (last - first) / 2] {
                assert_ne!(
                    classify(Ipv4Addr::from_bits(bits).into()),
                    C::Public,
                    "{base:?}/{prefix}"
                );
            }
        }
        for (base, prefix, _) in V6 {
            let first = base.to_bits();
            let last = first | u128::MAX.checked_shr(u32::from(*prefix)).unwrap_or(0);
            for bits in [first, last] {
                assert_ne!(
                    classify(Ipv6Addr::from_bits(bits).into()),
                    C::Public,
                    "{base}/{prefix}"
                );
            }
        }
    }

    #[test]
    fn blocks_for_others_hold_what_is_special_and_nothing_public() {
        let blocks = special_blocks();
        let held = |ip: IpAddr| blocks.iter().any(|block| block.contains(&ip));
        for (base, _, _) in V4 {
            assert!(held(IpAddr::from(*base)), "{base:?}");
        }
        for (base, _, _) in V6 {
            assert!(held(IpAddr::from(*base)), "{base}");
        }
        for block in &blocks {
            assert_ne!(classify(block.network()), C::Public, "{block}");
            assert_ne!(classify(block.broadcast()), C::Public, "{block}");
            let mapped: IpAddr = "::ffff:8.8.8.8".parse().unwrap();
            assert!(!block.contains(&mapped), "{block}");
        }
        for public in ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::1"] {
            assert!(!held(public.parse().unwrap()), "{public}");
        }
        for private in [
            "10.1.2.3",
            "::1",
            "64:ff9b::808:808",
            "fd00::1",
            "5f00::1",
            "100::1",
            "1fff::1",
        ] {
            assert!(held(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn neighbours_of_special_blocks_are_public() {
        for ip in [
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::",
            "2001:db7:ffff::",
            "2001:db9::",
            "2003::",
            "2a00:1450:4001:81b::200e",
        ] {
            assert_eq!(class(ip), C::Public, "{ip}");
        }
    }

    #[test]
    fn wrapped_ipv4_never_hides_what_is_inside() {
        assert_eq!(class("::ffff:127.0.0.1"), C::Loopback);
        assert_eq!(class("::ffff:8.8.8.8"), C::Public);
        assert_eq!(class("64:ff9b::8.8.8.8"), C::Public);
        assert_eq!(class("64:ff9b::169.254.169.254"), C::Metadata);
        for tunnel in [
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:7f00:1::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2a00:1450::5efe:10.0.0.1",
            "2a00:1450::200:5efe:10.0.0.1",
        ] {
            assert_eq!(class(tunnel), C::Tunnel, "{tunnel}");
        }
    }

    #[test]
    fn clouds_answer_their_guests_on_no_public_address() {
        for ip in [
            "168.63.129.16",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
        ] {
            assert_eq!(class(ip), C::Metadata, "{ip}");
        }
    }

    #[test]
    fn ipv6_outside_global_unicast_is_never_public() {
        for ip in [
            "100::1", "200::1", "400::", "1fff::1", "4000::", "5f00::1", "8000::", "fe00::1",
            "fec0::1", "ff0e::1",
        ] {
            assert_ne!(class(ip), C::Public, "{ip}");
        }
    }
}
