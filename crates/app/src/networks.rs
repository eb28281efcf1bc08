//! A list of IP addresses and networks, as written in settings: `127.0.0.1, 10.0.0.0/8, fd00::/8`.

use std::{net::IpAddr, str::FromStr};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<(IpAddr, u8)>);

impl Networks {
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|(network, n_bits)| match (network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                same_prefix(u128::from(network.to_bits()) << 96, u128::from(address.to_bits()) << 96, *n_bits)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => same_prefix(network.to_bits(), address.to_bits(), *n_bits),
            _ => false,
        })
    }
}

fn same_prefix(one: u128, other: u128, n_bits: u8) -> bool {
    n_bits == 0 || (one ^ other) >> (128 - u32::from(n_bits)) == 0
}

impl FromStr for Networks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(network).collect::<Result<_, _>>().map(Self)
    }
}

fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, n_bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let wrong = || format!("'{text}' is not an address such as 127.0.0.1 or a network such as 10.0.0.0/8");
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let n_bits = n_bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| wrong()))?;
    if n_bits > most { Err(wrong()) } else { Ok((address, n_bits)) }
}

#[cfg(test)]
mod tests {
    use super::Networks;

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        let networks: Networks = "127.0.0.1, 10.0.0.0/8,fd00::/8".parse().unwrap();
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.0.0.2", false),
            ("10.255.0.1", true),
            ("11.0.0.1", false),
            ("::ffff:10.0.0.1", true),
            ("fd12::1", true),
            ("fe80::1", false),
        ] {
            assert_eq!(networks.contain(address.parse().unwrap()), expected, "{address}");
        }
        let all: Networks = "0.0.0.0/0".parse().unwrap();
        assert!(all.contain("203.0.113.9".parse().unwrap()) && !all.contain("::1".parse().unwrap()));
        for wrong in ["localhost", "10.0.0.0/33", "10.0.0.0/x", "10.0.0/8"] {
            assert!(wrong.parse::<Networks>().is_err(), "{wrong}");
        }
        assert_eq!("".parse(), Ok(Networks::default()));
    }
}
