//! Where a request comes from, as far as that can be known.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use aide::OperationInput;
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, request::Parts},
};

/// The address behind a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// Whether a proxy stands between us.
    pub(crate) is_forwarded: bool,
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.extensions, &parts.headers))
    }
}

impl OperationInput for Peer {}

impl Peer {
    pub(crate) fn of(extensions: &axum::http::Extensions, headers: &HeaderMap) -> Self {
        // No address is known only where no socket is: in a test, or behind a socket file.
        let socket = extensions.get::<ConnectInfo<SocketAddr>>();
        Self::seen(socket.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(address)| address.ip()), headers)
    }

    /// A neighbour in a private network may be a proxy: then the last address it noted is the one it saw itself. What
    /// a stranger claims in a header is not believed.
    fn seen(socket: IpAddr, headers: &HeaderMap) -> Self {
        let socket = socket.to_canonical();
        let is_forwarded = headers.contains_key("x-forwarded-for") || headers.contains_key("forwarded");
        let noted = headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| {
            let last = value.to_str().ok()?.rsplit(',').next()?.trim();
            last.parse::<IpAddr>().ok().or_else(|| last.parse::<SocketAddr>().ok().map(|address| address.ip()))
        });
        let address = if is_neighbour(socket) { noted.unwrap_or(socket) } else { socket };
        Self { address: address.to_canonical(), is_forwarded }
    }

    pub(crate) fn is_this_machine(self) -> bool {
        self.address.is_loopback() && !self.is_forwarded
    }
}

fn is_neighbour(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_neighbour_may_say_for_whom_it_asks() {
        let cases = [
            ("203.0.113.9", None, "203.0.113.9", false),
            ("203.0.113.9", Some("198.51.100.1"), "203.0.113.9", false),
            ("127.0.0.1", None, "127.0.0.1", true),
            ("127.0.0.1", Some("198.51.100.1"), "198.51.100.1", false),
            ("127.0.0.1", Some("127.0.0.1"), "127.0.0.1", false),
            ("10.0.0.2", Some("1.1.1.1, 198.51.100.1"), "198.51.100.1", false),
            ("::ffff:10.0.0.2", Some("[2001:db8::1]:443"), "2001:db8::1", false),
            ("10.0.0.2", Some("unknown"), "10.0.0.2", false),
        ];
        for (socket, forwarded, expected, is_this_machine) in cases {
            let mut headers = HeaderMap::new();
            if let Some(forwarded) = forwarded {
                headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            }
            let peer = Peer::seen(socket.parse().unwrap(), &headers);
            assert_eq!(peer.address, expected.parse::<IpAddr>().unwrap(), "{socket} {forwarded:?}");
            assert_eq!(peer.is_this_machine(), is_this_machine, "{socket} {forwarded:?}");
        }
    }
}
