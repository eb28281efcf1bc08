//! CSRF protection. Browsers send the cookie with every request, including requests that another site caused.

use axum::http::{HeaderMap, Method, Uri, header};

use crate::error::ApiError;

/// A request with a cookie that may change data must come from our own page.
pub(crate) fn check(method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    if method.is_safe() || is_own_page(headers) {
        return Ok(());
    }
    Err(ApiError::forbidden("With a cookie, only Segue's own page may do this. Scripts use a bearer token."))
}

/// For requests without a cookie, such as a sign-in: a browser must be on our own page; scripts are not restricted.
pub(crate) fn check_if_browser(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_browser = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if is_browser { check(&Method::POST, headers) } else { Ok(()) }
}

/// The browser sets `Sec-Fetch-Site`, and proxies do not affect it. If it is missing (plain HTTP, old browsers),
/// `Origin` and `Host` must match.
fn is_own_page(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return false };
    let Ok(origin) = origin.parse::<Uri>() else { return false };
    let default_port = if origin.scheme_str() == Some("https") { ":443" } else { ":80" };
    let bare = |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    origin.authority().is_some_and(|authority| bare(authority.as_str()) == bare(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_may_change_data_with_a_cookie() {
        type Headers = &'static [(&'static str, &'static str)];
        let cases: &[(&str, Headers, bool)] = &[
            ("GET", &[("origin", "https://evil.example")], true),
            ("POST", &[("origin", "https://segue.example")], true),
            ("POST", &[("origin", "https://segue.example:443")], true),
            ("POST", &[("origin", "https://SEGUE.example")], true),
            ("POST", &[("origin", "https://segue.example:8443")], false),
            ("POST", &[("origin", "https://evil.example")], false),
            ("POST", &[("origin", "https://segue.example.evil.example")], false),
            ("POST", &[("origin", "null")], false),
            ("POST", &[], false),
            ("DELETE", &[], false),
            ("PATCH", &[("sec-fetch-site", "same-origin")], true),
            ("POST", &[("sec-fetch-site", "cross-site"), ("origin", "https://segue.example")], false),
            ("POST", &[("sec-fetch-site", "same-site"), ("origin", "https://segue.example")], false),
            ("POST", &[("sec-fetch-site", "none")], false),
        ];
        for (method, given, expected) in cases {
            let mut headers = HeaderMap::from_iter([(header::HOST, "segue.example".parse().unwrap())]);
            for (name, value) in *given {
                headers.insert(*name, value.parse().unwrap());
            }
            assert_eq!(check(&method.parse().unwrap(), &headers).is_ok(), *expected, "{method} {given:?}");
        }
    }
}
