//! The session of the page where an external issuer creates the tokens.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{TestApp, claims, signed};

const PAGE: [(&str, &str); 2] =
    [("SEGUE_TOKEN_URL", "https://id.example/api/auth/token"), ("SEGUE_SIGN_IN_URL", "https://id.example/sign-in")];

async fn exchange(app: &TestApp, token: &str) -> reqwest::Response {
    reqwest::Client::new().post(format!("{}/api/auth/session", app.url)).bearer_auth(token).send().await.unwrap()
}

async fn with_cookie(app: &TestApp, cookie: &str, method: Method, path: &str, origin: Option<&str>) -> (u16, Value) {
    let mut request = reqwest::Client::new().request(method, format!("{}{path}", app.url)).header("cookie", cookie);
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    let response = request.json(&json!({"title": "strings"})).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

#[tokio::test]
async fn a_token_is_exchanged_for_a_cookie_that_expires_with_it() {
    let app = TestApp::shared([], &PAGE).await;
    let mut good = claims("ann");
    let ends_at = jsonwebtoken::get_current_timestamp() + 600;
    good["exp"] = json!(ends_at);
    let response = exchange(&app, &signed(&good)).await;
    assert_eq!(response.status(), 200);
    let set = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    for part in ["segue_session=", "; Path=/", "; HttpOnly", "; SameSite=Lax"] {
        assert!(set.contains(part), "{set}");
    }
    let age: u64 = set.split("Max-Age=").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    assert!((590..=600).contains(&age), "the cookie expires with the token: {set}");
    let body: Value = response.json().await.unwrap();
    let told: chrono::DateTime<chrono::Utc> = body["expiresAt"].as_str().unwrap().parse().unwrap();
    assert_eq!((told.timestamp().unsigned_abs(), &body["id"]), (ends_at, &json!("ann")));

    let cookie = set.split(';').next().unwrap();
    let (status, me) = with_cookie(&app, cookie, Method::GET, "/api/me", None).await;
    assert_eq!((status, me), (200, json!({"id": "ann", "name": "ann", "mode": "jwt"})));
    let own = app.url.as_str();
    assert_eq!(with_cookie(&app, cookie, Method::POST, "/api/tasks", Some(own)).await.0, 201);
    for origin in [None, Some("https://evil.example")] {
        let (status, refused) = with_cookie(&app, cookie, Method::POST, "/api/tasks", origin).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("FORBIDDEN")), "{origin:?}");
    }
    let response = reqwest::Client::new().post(format!("{own}/api/auth/sign-out")).header("cookie", cookie);
    let out = response.header("origin", own).send().await.unwrap();
    assert_eq!(out.status(), 204);
    assert!(out.headers()[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
}

#[tokio::test]
async fn an_invalid_token_gets_no_session() {
    let app = TestApp::shared([], &PAGE).await;
    let mut old = claims("ann");
    old["exp"] = json!(jsonwebtoken::get_current_timestamp() - 60);
    let old = signed(&old);
    for token in [old.as_str(), "a.b.c"] {
        assert_eq!(exchange(&app, token).await.status(), 401);
        let (status, _) = with_cookie(&app, &format!("segue_session={token}"), Method::GET, "/api/me", None).await;
        assert_eq!(status, 401);
    }
    let mut long = claims("ann");
    long["roles"] = json!("x".repeat(3500));
    let refused = exchange(&app, &signed(&long)).await;
    assert_eq!(refused.status(), 400, "browsers would drop the cookie");
    // Another site cannot sign a browser in as another user.
    let request = reqwest::Client::new().post(format!("{}/api/auth/session", app.url));
    let foreign = request.bearer_auth(signed(&claims("eve"))).header("origin", "https://evil.example").send().await;
    assert_eq!(foreign.unwrap().status(), 403);
    let local = TestApp::scripted([]).await;
    assert_eq!(
        local.answer(Method::POST, "/api/auth/session", None).await.0,
        404,
        "only the mode with tokens has sessions for tokens"
    );
    let without_page = TestApp::shared([], &[]).await;
    assert_eq!(
        exchange(&without_page, &signed(&claims("ann"))).await.status(),
        404,
        "only a page with sign-in has sessions for tokens"
    );
}

#[tokio::test]
async fn the_page_gets_the_token_url_and_may_contact_only_that_host() {
    let app = TestApp::shared([], &PAGE).await;
    let response = app.request(Method::GET, "/api/about", None).await;
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("connect-src 'self' https://id.example;"), "{policy}");
    assert_eq!(policy.matches("http").count(), 1, "{policy}");
    let about: Value = response.json().await.unwrap();
    assert_eq!(about["signIn"], json!({"tokenUrl": PAGE[0].1, "signInUrl": PAGE[1].1}));
    let without = TestApp::shared([], &[]).await;
    assert_eq!(without.get("/api/about").await.get("signIn"), None);
}
