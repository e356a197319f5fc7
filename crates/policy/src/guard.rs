//! Turns resolved addresses into [`PublicAddr`]s, or refuses them all.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::address::{AddressClass, classify};
use crate::domains::DomainList;
use crate::host::Host;
use crate::names::is_local_name;
use crate::refusal::Refusal;

/// An address that may be dialled. Only [`AddressGuard::admit`] makes one.
///
/// ```compile_fail
/// blastshield_policy::PublicAddr { addr: "127.0.0.1:80".parse().unwrap(), by_exception: false };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicAddr {
    addr: SocketAddr,
    by_exception: bool,
}

impl PublicAddr {
    /// What to dial.
    #[must_use]
    pub fn socket_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Whether only an operator's exception made it admissible; such a hop is audited.
    #[must_use]
    pub fn by_exception(&self) -> bool {
        self.by_exception
    }
}

/// Decides about addresses. The fields are the operator's exceptions; by default there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressGuard {
    /// Ranges that may be dialled although they are not public.
    pub ranges: Vec<IpNet>,
    /// Hosts that may have local names and private, loopback, shared or benchmarking addresses.
    /// Metadata, link-local, multicast and reserved addresses need a range.
    pub hosts: DomainList,
    /// Where this gateway itself listens; never dialled, whatever the exceptions say.
    pub own: Vec<SocketAddr>,
}

impl AddressGuard {
    /// Refuses names that are local by convention, unless excepted.
    ///
    /// # Errors
    /// [`Refusal::LocalName`].
    pub fn check_name(&self, host: &Host) -> Result<(), Refusal> {
        match host.name() {
            Some(name) if is_local_name(name) && !self.hosts.covers(host) => {
                Err(Refusal::LocalName)
            }
            _ => Ok(()),
        }
    }

    /// Admits all answers for a host or none. For a literal address the literal counts, whatever was answered.
    ///
    /// # Errors
    /// When the name is local, there is no answer, or any answer may not be dialled.
    pub fn admit(
        &self,
        host: &Host,
        answers: &[IpAddr],
        port: u16,
    ) -> Result<Vec<PublicAddr>, Refusal> {
        self.check_name(host)?;
        let literal = host.ip();
        let answers = literal.as_ref().map_or(answers, std::slice::from_ref);
        if answers.is_empty() {
            return Err(Refusal::NoAddress);
        }
        let mut admitted: Vec<PublicAddr> = Vec::with_capacity(answers.len().min(16));
        for answer in answers {
            let addr = self.admit_one(host, answer.to_canonical(), port)?;
            if !admitted.contains(&addr) {
                admitted.push(addr);
            }
        }
        Ok(admitted)
    }

    fn admit_one(&self, host: &Host, ip: IpAddr, port: u16) -> Result<PublicAddr, Refusal> {
        let addr = SocketAddr::new(ip, port);
        if self.is_own(addr) {
            return Err(Refusal::Own);
        }
        let by_exception = match classify(ip) {
            AddressClass::Public => false,
            class if self.excepts(host, ip, class) => true,
            class => return Err(Refusal::NotPublic(class)),
        };
        Ok(PublicAddr { addr, by_exception })
    }

    fn excepts(&self, host: &Host, ip: IpAddr, class: AddressClass) -> bool {
        self.ranges.iter().any(|range| range.contains(&ip))
            || (class.yields_to_host_exception() && self.hosts.covers(host))
    }

    /// A listener on all interfaces is at least reached by every loopback and unspecified address.
    fn is_own(&self, addr: SocketAddr) -> bool {
        self.own.iter().any(|own| {
            own.port() == addr.port()
                && (own.ip().to_canonical() == addr.ip()
                    || (own.ip().is_unspecified()
                        && matches!(
                            classify(addr.ip()),
                            AddressClass::Loopback | AddressClass::Unspecified
                        )))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn admit(guard: &AddressGuard, host: &str, answers: &[&str]) -> Result<Vec<bool>, Refusal> {
        let host = Host::parse(host).unwrap();
        let admitted = guard.admit(&host, &ips(answers), 443)?;
        Ok(admitted.iter().map(PublicAddr::by_exception).collect())
    }

    #[test]
    fn one_bad_answer_spoils_all() {
        let guard = AddressGuard::default();
        assert_eq!(
            admit(&guard, "a.test", &["93.184.215.14", "2606:4700::1"]),
            Ok(vec![false, false])
        );
        for answers in [
            ["93.184.215.14", "127.0.0.1"],
            ["127.0.0.1", "93.184.215.14"],
        ] {
            assert_eq!(
                admit(&guard, "a.test", &answers),
                Err(Refusal::NotPublic(AddressClass::Loopback))
            );
        }
        assert_eq!(admit(&guard, "a.test", &[]), Err(Refusal::NoAddress));
    }

    #[test]
    fn a_literal_answers_for_itself() {
        let guard = AddressGuard::default();
        assert_eq!(
            admit(&guard, "127.0.0.1", &["93.184.215.14"]),
            Err(Refusal::NotPublic(AddressClass::Loopback))
        );
        assert_eq!(admit(&guard, "93.184.215.14", &[]), Ok(vec![false]));
    }

    #[test]
    fn excepted_ranges_admit_and_say_so() {
        let guard = AddressGuard {
            ranges: vec!["198.18.0.0/15".parse().unwrap()],
            ..AddressGuard::default()
        };
        assert_eq!(
            admit(&guard, "a.test", &["198.18.3.4", "93.184.215.14"]),
            Ok(vec![true, false])
        );
        assert_eq!(
            admit(&guard, "a.test", &["::ffff:198.18.3.4"]),
            Ok(vec![true])
        );
        assert_eq!(
            admit(&guard, "a.test", &["10.0.0.1"]),
            Err(Refusal::NotPublic(AddressClass::Private))
        );
        assert_eq!(
            admit(&guard, "localhost", &["198.18.0.1"]),
            Err(Refusal::LocalName)
        );
    }

    #[test]
    fn an_excepted_range_does_not_reach_through_translators() {
        let guard = AddressGuard {
            ranges: vec!["10.0.0.0/8".parse().unwrap()],
            ..AddressGuard::default()
        };
        assert_eq!(
            admit(&guard, "a.test", &["64:ff9b::10.0.0.1"]),
            Err(Refusal::NotPublic(AddressClass::Private))
        );
    }

    #[test]
    fn excepted_hosts_may_be_private_but_not_metadata() {
        let guard = AddressGuard {
            hosts: DomainList::parse("wiki.internal").unwrap(),
            ..AddressGuard::default()
        };
        assert_eq!(
            admit(&guard, "wiki.internal", &["10.1.2.3"]),
            Ok(vec![true])
        );
        assert_eq!(
            admit(&guard, "wiki.internal", &["169.254.169.254"]),
            Err(Refusal::NotPublic(AddressClass::Metadata))
        );
        assert_eq!(
            admit(&guard, "other.internal", &["10.1.2.3"]),
            Err(Refusal::LocalName)
        );
        assert_eq!(
            admit(&guard, "a.test", &["10.1.2.3"]),
            Err(Refusal::NotPublic(AddressClass::Private))
        );
    }

    #[test]
    fn the_gateway_never_dials_itself() {
        let guard = AddressGuard {
            ranges: vec!["127.0.0.0/8".parse().unwrap()],
            own: vec![
                "93.184.215.14:443".parse().unwrap(),
                "0.0.0.0:8080".parse().unwrap(),
            ],
            ..AddressGuard::default()
        };
        assert_eq!(
            admit(&guard, "a.test", &["93.184.215.14"]),
            Err(Refusal::Own)
        );
        let loopback = Host::parse("127.0.0.1").unwrap();
        assert_eq!(guard.admit(&loopback, &[], 8080), Err(Refusal::Own));
        assert!(guard.admit(&loopback, &[], 8081).is_ok());
    }

    #[test]
    fn repeated_answers_count_once() {
        let answers = vec!["93.184.215.14"; 1000];
        assert_eq!(
            admit(&AddressGuard::default(), "a.test", &answers),
            Ok(vec![false])
        );
    }
}
