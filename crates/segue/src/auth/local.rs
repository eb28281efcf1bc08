//! In `local` mode anyone on this machine is the user, so a web page elsewhere must not be able to drive us.

use axum::http::{HeaderMap, Uri, header};

use crate::error::ApiError;

/// `Host` must be a loopback name (a name that resolves to us is how DNS rebinding works), and a browser's `Origin`
/// must be one too.
pub(super) fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_loopback(host) {
        return Err(ApiError::forbidden("In local mode Segue answers only under a loopback address."));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin: Option<Uri> = origin.to_str().ok().and_then(|text| text.parse().ok());
    match origin.as_ref().and_then(Uri::authority) {
        Some(authority) if is_loopback(authority.as_str()) => Ok(()),
        _ => Err(ApiError::forbidden("In local mode Segue does not answer to pages of other hosts.")),
    }
}

/// Whether a `Host` or the authority of an `Origin` names this machine to itself.
pub(super) fn is_loopback(authority: &str) -> bool {
    let host = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let host = host.map_or(authority, |(host, _)| host).trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_are_local() {
        let cases = [
            ("127.0.0.1:8080", true),
            ("localhost", true),
            ("LOCALHOST:80", true),
            ("[::1]:8080", true),
            ("127.3.2.1", true),
            ("segue.example", false),
            ("localhost.segue.example:80", false),
            ("127.0.0.1.segue.example", false),
            ("10.0.0.1:8080", false),
            ("", false),
        ];
        for (authority, expected) in cases {
            assert_eq!(is_loopback(authority), expected, "{authority}");
        }
    }
}
