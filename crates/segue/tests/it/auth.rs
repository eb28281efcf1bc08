//! Authentication: the three modes, and every kind of invalid token.

mod accounts;
mod bad_tokens;
mod better_auth;
mod guessing;
mod issuer;
mod key_sets;
mod secrets;
mod token_session;

use std::collections::HashMap;

use app::config::Config;

use crate::support::{JWT_SECRET, TestApp};

#[test]
fn insecure_settings_are_rejected_at_start() {
    let jwks = "https://issuer.example/jwks";
    type Settings<'a> = &'a [(&'a str, &'a str)];
    let cases: &[(Settings, Option<&str>)] = &[
        (&[], None),
        (&[("SEGUE_LISTEN", "0.0.0.0:8080")], Some("SEGUE_LISTEN")),
        (&[("SEGUE_LISTEN", "192.168.1.2:8080")], Some("SEGUE_LISTEN")),
        (&[("SEGUE_LISTEN", "[::]:8080")], Some("SEGUE_LISTEN")),
        (&[("SEGUE_LISTEN", "[::1]:8080")], None),
        (&[("SEGUE_LISTEN", "0.0.0.0:8080"), ("SEGUE_AUTH", "accounts")], None),
        (&[("SEGUE_AUTH", "none")], Some("SEGUE_AUTH")),
        (&[("SEGUE_AUTH", "jwt")], Some("SEGUE_AUTH")),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", "")], Some("SEGUE_AUTH")),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", "31 bytes is not quite a secret.")], Some("SEGUE_JWT_SECRET")),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", JWT_SECRET)], None),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", jwks)], Some("SEGUE_JWT_ISSUER")),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", jwks), ("SEGUE_JWT_ISSUER", "i")], Some("SEGUE_JWT_AUDIENCE")),
        (
            &[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", jwks), ("SEGUE_JWT_ISSUER", "i"), ("SEGUE_JWT_AUDIENCE", "a")],
            None,
        ),
        (
            &[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", jwks), ("SEGUE_JWT_SECRET", JWT_SECRET)],
            Some("SEGUE_JWT_SECRET"),
        ),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", "file:///etc/passwd")], Some("SEGUE_JWKS_URL")),
        (&[("SEGUE_AUTH", "jwt"), ("SEGUE_JWKS_URL", "jwks")], Some("SEGUE_JWKS_URL")),
        (
            &[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", JWT_SECRET), ("SEGUE_TOKEN_URL", "https://i.example/token")],
            Some("SEGUE_SIGN_IN_URL"),
        ),
        (
            &[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", JWT_SECRET), ("SEGUE_SIGN_IN_URL", "https://i.example")],
            Some("SEGUE_TOKEN_URL"),
        ),
    ];
    for (settings, expected) in cases {
        let settings: HashMap<_, _> = settings.iter().copied().collect();
        let refused = Config::from_lookup(|name| settings.get(name).map(|value| (*value).to_owned())).err();
        assert_eq!(refused.as_ref().map(|error| error.name.as_str()), *expected, "{settings:?}: {refused:?}");
    }
}

#[tokio::test]
async fn the_subject_of_a_token_is_the_user_and_its_name_is_shown() {
    let app = TestApp::shared([], &[]).await;
    let me = app.person("user-7").get("/api/me").await;
    assert_eq!(me, serde_json::json!({"id": "user-7", "name": "user-7", "mode": "jwt"}));
    let mut claims = crate::support::claims("user-7");
    claims["name"] = "Ann".into();
    let me = app.with_token(&crate::support::signed(&claims)).get("/api/me").await;
    assert_eq!(me["name"], "Ann");
}

#[tokio::test]
async fn a_token_cannot_be_the_user_of_local_mode() {
    let app = TestApp::shared([], &[]).await;
    assert_eq!(app.person("local").answer(reqwest::Method::GET, "/api/me", None).await.0, 401);
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let app = TestApp::scripted([]).await;
    for path in ["/api/tasks", "/healthz", "/api/nowhere", "/nowhere"] {
        let response = app.request(reqwest::Method::GET, path, None).await;
        let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap());
        let policy = header("content-security-policy");
        for part in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("strict-transport-security"), "", "plain HTTP: {path}");
    }
    let client = reqwest::Client::new();
    let behind_tls = client.get(format!("{}/healthz", app.url)).header("x-forwarded-proto", "https").send().await;
    assert_eq!(behind_tls.unwrap().headers()["strict-transport-security"], "max-age=31536000");
}
