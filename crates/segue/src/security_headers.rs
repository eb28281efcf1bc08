//! Security headers for browsers.

use app::config::Config;
use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};

/// No resources of other hosts, no inline scripts, no framing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
    media-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const ALWAYS: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=()"),
];

/// The policy of this server: if an external issuer creates the tokens, the page may contact that issuer.
pub(crate) fn policy(config: &Config) -> HeaderValue {
    let page = config.jwt.as_ref().and_then(|jwt| jwt.page.as_ref());
    let own = HeaderValue::from_static(CONTENT_SECURITY_POLICY);
    let Some(page) = page else { return own };
    let connect = format!("connect-src 'self' {};", page.token_origin());
    let policy = CONTENT_SECURITY_POLICY.replace("connect-src 'self';", &connect);
    HeaderValue::from_str(&policy).unwrap_or(own)
}

/// Sets the headers that a handler has not set. User data must not be stored by shared caches.
pub(crate) async fn set(State(policy): State<HeaderValue>, request: Request, next: Next) -> Response {
    let behind_tls = request.headers().get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let is_data = !is_of_the_page(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if is_data {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    if behind_tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

/// The page's files are the same for every user and have their own cache headers.
pub(crate) fn is_of_the_page(path: &str) -> bool {
    !["/api/", "/chatkit", "/ag-ui", "/mcp", "/metrics", "/openapi.json"].iter().any(|prefix| path.starts_with(prefix))
}
