//! Protection of `local` mode. Every process on this machine acts as the user, so pages of other sites must not reach
//! the server.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{Method, Uri, Version, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Auth, peer::is_forwarded};
use crate::{error::ApiError, router::AppState, security_headers::is_of_the_page};

/// A layer for every route: page, metrics and documents are as private as the rest.
pub(crate) async fn refuse_others(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    if matches!(state.auth, Auth::Local)
        && let Err(refusal) = check(&request)
    {
        return refusal.into_response();
    }
    next.run(request).await
}

/// `Host` must be a loopback name (DNS rebinding uses other names that resolve to this machine), and so must a
/// browser's `Origin`. Requests that a proxy forwarded or that another site caused are rejected. A link on another
/// site may open the page itself.
fn check(request: &Request) -> Result<(), ApiError> {
    let (method, path, headers) = (request.method(), request.uri().path(), request.headers());
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_loopback(host) {
        return Err(ApiError::forbidden("In local mode Segue only answers requests to a loopback address."));
    }
    // nginx forwards with HTTP/1.0 and no header of its own, unless it is told otherwise.
    if is_forwarded(headers) || request.version() < Version::HTTP_11 {
        return Err(ApiError::forbidden(
            "In local mode Segue does not answer requests that a proxy forwards. Set SEGUE_AUTH=accounts or jwt.",
        ));
    }
    let is = |name: &str, expected: &str| headers.get(name).is_some_and(|value| value == expected);
    let opens_page = method == Method::GET && is("sec-fetch-mode", "navigate") && is_of_the_page(path);
    if is("sec-fetch-site", "cross-site") && !opens_page {
        return Err(other_host());
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin: Option<Uri> = origin.to_str().ok().and_then(|text| text.parse().ok());
    match origin.as_ref().and_then(Uri::authority) {
        Some(authority) if is_loopback(authority.as_str()) => Ok(()),
        _ => Err(other_host()),
    }
}

fn other_host() -> ApiError {
    ApiError::forbidden("In local mode Segue does not answer requests from pages of other hosts.")
}

/// Whether a `Host` or the authority of an `Origin` is a loopback name.
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
