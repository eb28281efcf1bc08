//! The keys by which sign-in attempts are counted: the name, the address, and both together.

use std::net::{IpAddr, Ipv6Addr};

use app::services::accounts::{AttemptSubject, name_key};
use sha2::{Digest, Sha256};

/// The limit per name alone is high: with a low one, anyone could lock an account out.
const PER_NAME_AND_ADDRESS: i64 = 10;
const PER_ADDRESS: i64 = 50;
const PER_NAME: i64 = 200;

/// The name and the address of an attempt.
pub(super) struct Subjects {
    pub(super) name_from_address: AttemptSubject,
    pub(super) all: [AttemptSubject; 3],
}

impl Subjects {
    /// Names are normalised like account names. Of an IPv6 address only the /64 counts, because one customer has a
    /// whole /64.
    pub(super) fn of(name: &str, address: IpAddr) -> Self {
        let (name, address) = (name_key(name), network_of(address).to_string());
        let subject = |kind: &str, name: &str, address: &str, limit| {
            let hash = Sha256::digest(format!("{kind}\0{address}\0{name}"));
            AttemptSubject { hash: hash.into(), limit }
        };
        let name_from_address = subject("both", &name, &address, PER_NAME_AND_ADDRESS);
        let of_address = subject("address", "", &address, PER_ADDRESS);
        let of_name = subject("name", &name, "", PER_NAME);
        Self { name_from_address: name_from_address.clone(), all: [name_from_address, of_address, of_name] }
    }
}

/// The address for IPv4, the /64 for IPv6.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_for_one_account_from_one_network_are_one_subject_in_any_spelling() {
        let subjects = |name: &str, address: &str| Subjects::of(name, address.parse().unwrap()).all;
        let ann = subjects("ann", "2001:db8::1");
        for (name, address) in [("ANN", "2001:db8::2"), ("ａnn", "2001:db8::ffff:1"), ("𝐚nn", "2001:db8::1")] {
            assert_eq!(subjects(name, address), ann, "{name} {address}");
        }
        assert_ne!(subjects("ann", "2001:db8:0:1::1")[0], ann[0]);
        assert_eq!(subjects("ann", "::ffff:203.0.113.9"), subjects("ann", "203.0.113.9"));
        assert_ne!(subjects("ann", "203.0.113.9"), subjects("ann", "203.0.113.10"));
        assert_ne!(subjects("bob", "2001:db8::1")[2], ann[2]);
    }
}
