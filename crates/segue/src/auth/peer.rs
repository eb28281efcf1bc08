//! The client address of a request.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Once},
};

use aide::OperationInput;
use app::config::Networks;
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{Extensions, HeaderMap, request::Parts},
};

use crate::router::AppState;

/// Headers that proxies add. A browser on this machine sends none of them.
const ADDED_BY_PROXIES: [&str; 7] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-real-ip"];

/// The address of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// Whether a proxy forwarded the request.
    pub(crate) is_forwarded: bool,
}

impl FromRequestParts<Arc<AppState>> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.extensions, &parts.headers, &state.app.config.trusted_proxies))
    }
}

impl OperationInput for Peer {}

impl Peer {
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, proxies: &Networks) -> Self {
        // The address is unknown only without a TCP socket: in a test, or behind a Unix socket.
        let socket = extensions.get::<ConnectInfo<SocketAddr>>();
        Self::seen(socket.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(address)| address.ip()), headers, proxies)
    }

    /// Only configured proxies are trusted for the client address. Behind several of them, the last address that is
    /// not a proxy counts; earlier entries are claims of the client.
    fn seen(socket: IpAddr, headers: &HeaderMap, proxies: &Networks) -> Self {
        let mut address = socket.to_canonical();
        let noted: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
        if !noted.is_empty() && !proxies.contain(address) {
            warn_of_unknown_proxy(address);
        }
        let mut noted = noted.iter().flat_map(|value| value.split(',')).rev().map(str::trim);
        while proxies.contain(address) {
            let Some(next) = noted.next().and_then(address_in) else { break };
            address = next.to_canonical();
        }
        Self { address, is_forwarded: is_forwarded(headers) }
    }

    pub(crate) fn is_this_machine(self) -> bool {
        self.address.is_loopback() && !self.is_forwarded
    }
}

/// Whether a proxy has forwarded this request.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    ADDED_BY_PROXIES.iter().any(|name| headers.contains_key(*name))
}

fn address_in(noted: &str) -> Option<IpAddr> {
    noted.parse().ok().or_else(|| noted.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// Logged once, because every request through such a proxy would repeat it.
fn warn_of_unknown_proxy(address: IpAddr) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!(
            "{address} sends X-Forwarded-For but is not in SEGUE_TRUSTED_PROXIES: all requests through it count as one \
             address. If it is your reverse proxy, add its address."
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_configured_proxy_is_trusted_for_the_client_address() {
        let cases = [
            ("203.0.113.9", None, "203.0.113.9", false),
            ("203.0.113.9", Some("198.51.100.1"), "203.0.113.9", false),
            ("127.0.0.1", None, "127.0.0.1", true),
            ("127.0.0.1", Some("198.51.100.1"), "127.0.0.1", false),
            ("192.168.0.7", Some("198.51.100.1"), "192.168.0.7", false),
            ("10.0.0.2", Some("1.1.1.1, 198.51.100.1"), "198.51.100.1", false),
            ("10.0.0.2", Some("1.1.1.1, 198.51.100.1, 10.0.0.3"), "198.51.100.1", false),
            ("::ffff:10.0.0.2", Some("[2001:db8::1]:443"), "2001:db8::1", false),
            ("10.0.0.2", Some("unknown"), "10.0.0.2", false),
        ];
        let proxies: Networks = "10.0.0.0/8".parse().unwrap();
        for (socket, forwarded, expected, is_this_machine) in cases {
            let mut headers = HeaderMap::new();
            if let Some(forwarded) = forwarded {
                headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            }
            let peer = Peer::seen(socket.parse().unwrap(), &headers, &proxies);
            assert_eq!(peer.address, expected.parse::<IpAddr>().unwrap(), "{socket} {forwarded:?}");
            assert_eq!(peer.is_this_machine(), is_this_machine, "{socket} {forwarded:?}");
        }
    }
}
