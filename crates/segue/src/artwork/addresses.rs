//! Which IP addresses a host name may resolve to. The check runs in the resolver of the connection, so that a second
//! DNS answer cannot bypass it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    PublicOnly,
    /// For tests, whose server is on this machine.
    #[cfg(test)]
    Anywhere,
}

pub(super) struct Resolver {
    reach: Reach,
    #[cfg(test)]
    pub(super) names: Vec<(&'static str, SocketAddr)>,
}

impl Resolver {
    pub(super) fn new(reach: Reach) -> Self {
        Self {
            reach,
            #[cfg(test)]
            names: Vec::new(),
        }
    }

    #[cfg(test)]
    fn known(&self, name: &str) -> Option<SocketAddr> {
        self.names.iter().find(|(known, _)| *known == name).map(|(_, address)| *address)
    }

    #[cfg(not(test))]
    fn known(&self, _: &str) -> Option<SocketAddr> {
        None
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, known) = (self.reach, self.known(name.as_str()));
        Box::pin(async move {
            let found: Vec<SocketAddr> = match known {
                Some(address) => vec![address],
                None => tokio::net::lookup_host((name.as_str(), 0)).await?.collect(),
            };
            // One private address among public ones indicates an attack, so the whole name is rejected.
            if found.is_empty() || (reach == Reach::PublicOnly && !found.iter().all(|address| is_public(address.ip())))
            {
                return Err("the name does not resolve to public addresses only".into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is publicly routable, judged by its range.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

/// Only global unicast, without ranges that embed an IPv4 address or are reserved for documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let segments = address.segments();
    let is_global_unicast = segments[0] & 0xe000 == 0x2000;
    let is_special = segments[0] == 0x2002 || (segments[0] == 0x2001 && (segments[1] < 0x200 || segments[1] == 0xdb8));
    is_global_unicast && !is_special
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn only_publicly_routable_addresses_are_public() {
        let public = ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "172.32.0.1"];
        let private = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.5",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2001::1",
            "64:ff9b::7f00:1",
        ];
        for text in public {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in private {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
