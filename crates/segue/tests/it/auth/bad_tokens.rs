//! Every token that is not valid gets 401.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use reqwest::{Method, header::AUTHORIZATION};
use serde_json::{Value, json};

use super::issuer::{ISSUER, Issuer, Pair, good_claims, status};
use crate::support::{JWT_SECRET, TestApp, claims, signed};

/// A token of any header and claims, with any bytes for a signature.
fn raw(header: &Value, claims: &Value, signature: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{}", part(header), part(claims), URL_SAFE_NO_PAD.encode(signature))
}

fn but(mut claims: Value, name: &str, value: Value) -> Value {
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}

fn hs256(claims: &Value, header: Header, secret: &[u8]) -> String {
    encode(&header, claims, &EncodingKey::from_secret(secret)).unwrap()
}

/// Tokens for a server that trusts `ed` and `rsa`: each is invalid in one way.
fn bad_for_a_key_set(ed: &Pair, rsa: &Pair) -> Vec<BadToken> {
    [bad_headers(ed, rsa), bad_claims(ed), bad_texts(ed)].concat()
}

/// The name of a case, and its token.
type BadToken = (&'static str, String);

/// Wrong algorithms, keys, key ids and types.
fn bad_headers(ed: &Pair, rsa: &Pair) -> Vec<BadToken> {
    let good = good_claims();
    let under = |header: Header| encode(&header, &good, &ed.signs).unwrap();
    let other_pair = Pair::ed25519(&ed.kid());
    // A known attack: the public key, which is published, is used as an HMAC secret.
    let public = URL_SAFE_NO_PAD.decode(rsa.published["n"].as_str().unwrap()).unwrap();
    let as_secret = Header { kid: Some(rsa.kid()), ..Header::new(Algorithm::HS256) };
    let x = ed.published["x"].as_str().unwrap();
    let ed_as_secret = Header { kid: Some(ed.kid()), ..Header::new(Algorithm::HS256) };
    vec![
        ("alg none, no signature", raw(&json!({"alg": "none", "kid": ed.kid()}), &good, b"")),
        ("alg None", raw(&json!({"alg": "None", "kid": ed.kid()}), &good, b"")),
        ("alg nOnE with a signature", raw(&json!({"alg": "nOnE", "kid": ed.kid()}), &good, b"signature")),
        ("no alg", raw(&json!({"kid": ed.kid()}), &good, b"signature")),
        ("alg EdDSA, empty signature", raw(&json!({"alg": "EdDSA", "kid": ed.kid()}), &good, b"")),
        ("alg EdDSA, zero signature", raw(&json!({"alg": "EdDSA", "kid": ed.kid()}), &good, &[0; 64])),
        ("HS256 with the RSA modulus", hs256(&good, as_secret.clone(), &public)),
        ("HS256 with the published key", hs256(&good, as_secret, rsa.published.to_string().as_bytes())),
        ("HS256 with the Ed25519 key", hs256(&good, ed_as_secret.clone(), &URL_SAFE_NO_PAD.decode(x).unwrap())),
        ("HS256 with an empty secret", hs256(&good, ed_as_secret, b"")),
        ("RS256 under the kid of EdDSA", {
            encode(&Header { kid: Some(ed.kid()), ..Header::new(Algorithm::RS256) }, &good, &rsa.signs).unwrap()
        }),
        ("EdDSA under the kid of RS256", under(Header { kid: Some(rsa.kid()), ..ed.header() })),
        ("RS512 with the RSA key", {
            encode(&Header { kid: Some(rsa.kid()), ..Header::new(Algorithm::RS512) }, &good, &rsa.signs).unwrap()
        }),
        ("PS256 with the RSA key", {
            encode(&Header { kid: Some(rsa.kid()), ..Header::new(Algorithm::PS256) }, &good, &rsa.signs).unwrap()
        }),
        ("no kid", under(Header { kid: None, ..ed.header() })),
        ("empty kid", under(Header { kid: Some(String::new()), ..ed.header() })),
        ("unknown kid", under(Header { kid: Some("unknown".into()), ..ed.header() })),
        ("kid with SQL", under(Header { kid: Some("' OR 1=1 --".into()), ..ed.header() })),
        ("kid that is a path", under(Header { kid: Some("../../dev/null".into()), ..ed.header() })),
        ("kid that is a number", raw(&json!({"alg": "EdDSA", "kid": 1}), &good, &[0; 64])),
        ("another key under the same kid", other_pair.sign(&good)),
        ("its own key in the header", {
            let jwk = json!({"alg": "EdDSA", "jwk": other_pair.published, "kid": ed.kid()});
            raw(&jwk, &good, &[1; 64])
        }),
        ("a key URL in the header", {
            under(Header { kid: Some("far".into()), jku: Some("https://evil.example/jwks".into()), ..ed.header() })
        }),
        ("typ of a session cache", under(Header { typ: Some("better-auth.session-cache+jwt".into()), ..ed.header() })),
        ("typ of a logout", under(Header { typ: Some("logout+jwt".into()), ..ed.header() })),
        (
            "critical extension",
            raw(&json!({"alg": "EdDSA", "kid": ed.kid(), "crit": ["b64"], "b64": false}), &good, &[0; 64]),
        ),
    ]
}

fn bad_claims(ed: &Pair) -> Vec<BadToken> {
    let (good, now) = (good_claims(), get_current_timestamp());
    let with = |name: &str, value: Value| ed.sign(&but(good.clone(), name, value));
    vec![
        ("expired", with("exp", json!(now - 60))),
        ("expired long ago", with("exp", json!(1))),
        ("exp as text", with("exp", json!((now + 900).to_string()))),
        ("exp negative", with("exp", json!(-1))),
        ("no exp", with("exp", Value::Null)),
        ("not yet valid", with("nbf", json!(now + 600))),
        ("nbf as text", with("nbf", json!("soon"))),
        ("issued in the future", with("iat", json!(now + 600))),
        ("wrong issuer", with("iss", json!("https://evil.example"))),
        ("issuer with a slash more", with("iss", json!(format!("{ISSUER}/")))),
        ("issuers in a list", with("iss", json!([ISSUER, "https://evil.example"]))),
        ("no issuer", with("iss", Value::Null)),
        ("wrong audience", with("aud", json!("https://other.example"))),
        ("other audiences", with("aud", json!(["https://other.example", "https://another.example"]))),
        ("no audience", with("aud", Value::Null)),
        ("empty audiences", with("aud", json!([]))),
        ("no subject", with("sub", Value::Null)),
        ("empty subject", with("sub", json!(""))),
        ("blank subject", with("sub", json!("  "))),
        ("subject that is a number", with("sub", json!(7))),
        ("subject with a control character", with("sub", json!("ann\u{0}"))),
        ("endless subject", with("sub", json!("a".repeat(300)))),
    ]
}

/// Texts that are not a signed token, or were changed after signing.
fn bad_texts(ed: &Pair) -> Vec<BadToken> {
    let good = good_claims();
    let token = ed.sign(&good);
    let parts: Vec<_> = token.split('.').collect();
    let flipped = |part: &str| part.chars().rev().collect::<String>();
    vec![
        ("empty", String::new()),
        ("a word", "token".into()),
        ("a session, not a JWT", "fm3k2J9dXq0s8Tt7yR5uW1zB4nC6vH8p".into()),
        ("two dots", "..".into()),
        ("claims changed after signing", {
            let changed = URL_SAFE_NO_PAD.encode(but(good.clone(), "sub", json!("bob")).to_string());
            format!("{}.{changed}.{}", parts[0], parts[2])
        }),
        ("header changed after signing", {
            let changed = URL_SAFE_NO_PAD.encode(json!({"alg": "EdDSA", "kid": ed.kid(), "x": 1}).to_string());
            format!("{changed}.{}.{}", parts[1], parts[2])
        }),
        ("signature reversed", format!("{}.{}.{}", parts[0], parts[1], flipped(parts[2]))),
        ("signature cut", format!("{}.{}.{}", parts[0], parts[1], &parts[2][..parts[2].len() - 4])),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("truncated", token[..token.len() / 2].into()),
        ("doubled", format!("{token}{token}")),
        ("doubled with a dot", format!("{token}.{token}")),
        ("a part more", format!("{token}.e30")),
        ("two tokens", format!("{token}, {token}")),
        ("padded", format!("{token}==")),
        ("spaces inside", token.replacen('.', " .", 1)),
        ("huge", ed.sign(&but(good.clone(), "padding", json!("x".repeat(9_000))))),
        ("claims that are a list", raw(&json!({"alg": "EdDSA", "kid": ed.kid()}), &json!([good.clone()]), &[0; 64])),
        ("not JSON inside", format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode("nope"), parts[2])),
    ]
}

#[tokio::test]
async fn only_valid_tokens_of_the_issuer_are_accepted() {
    let (ed, rsa) = (Pair::ed25519("ed"), Pair::rsa("rsa"));
    let issuer = Issuer::new(&[&ed, &rsa]).await;
    let app = issuer.trusting_app().await;
    for good in [ed.sign(&good_claims()), rsa.sign(&good_claims())] {
        assert_eq!(status(&app, &good).await, 200, "a valid token must work, or the table proves nothing");
    }
    let table = bad_for_a_key_set(&ed, &rsa);
    println!("{} bad tokens:", table.len());
    for (what, token) in &table {
        let got = status(&app, token).await;
        println!("  {got}  {what}");
        assert_eq!(got, 401, "{what}: {token}");
    }
    assert!(table.len() >= 30);
}

#[tokio::test]
async fn only_valid_tokens_of_the_secret_are_accepted() {
    let app = TestApp::shared([], &[]).await;
    let (good, now) = (claims("ann"), get_current_timestamp());
    assert_eq!(status(&app, &signed(&good)).await, 200);
    assert_eq!(status(&app, &signed(&but(good.clone(), "aud", json!("anyone")))).await, 200, "no audience is required");
    let ed = Pair::ed25519("ed");
    let table = [
        ("another secret", hs256(&good, Header::new(Algorithm::HS256), b"another secret, also of 32 bytes or so")),
        ("an empty secret", hs256(&good, Header::new(Algorithm::HS256), b"")),
        ("a prefix of the secret", hs256(&good, Header::new(Algorithm::HS256), &JWT_SECRET.as_bytes()[..32])),
        ("HS512", hs256(&good, Header::new(Algorithm::HS512), JWT_SECRET.as_bytes())),
        ("EdDSA", ed.sign(&good)),
        ("alg none", raw(&json!({"alg": "none"}), &good, b"")),
        ("expired", signed(&but(good.clone(), "exp", json!(now - 60)))),
        ("no exp", signed(&but(good.clone(), "exp", Value::Null))),
        ("not yet valid", signed(&but(good.clone(), "nbf", json!(now + 600)))),
        ("no subject", signed(&but(good.clone(), "sub", Value::Null))),
        ("empty subject", signed(&but(good.clone(), "sub", json!("")))),
        ("typ of another purpose", {
            hs256(&good, Header { typ: Some("logout+jwt".into()), ..Header::default() }, JWT_SECRET.as_bytes())
        }),
    ];
    for (what, token) in &table {
        assert_eq!(status(&app, token).await, 401, "{what}");
    }
}

#[tokio::test]
async fn a_token_is_accepted_only_in_a_single_authorization_header() {
    let app = TestApp::shared([], &[]).await;
    let token = signed(&claims("ann"));
    let client = reqwest::Client::new();
    let me = |query: String| client.request(Method::GET, format!("{}/api/me{query}", app.url));
    let nowhere = [
        me(format!("?token={token}")),
        me(format!("?access_token={token}")),
        me(String::new()).header("cookie", format!("segue_session={token}; token={token}")),
        me(String::new()).header(AUTHORIZATION, token.clone()),
        me(String::new()).header(AUTHORIZATION, format!("Basic {token}")),
        me(String::new()).header(AUTHORIZATION, format!("Token {token}")),
        me(String::new()).header(AUTHORIZATION, "Bearer"),
        me(String::new()).header(AUTHORIZATION, "Bearer "),
        me(String::new()).header(AUTHORIZATION, format!("Bearer {token}")).header(AUTHORIZATION, "Bearer x"),
        me(String::new()).header("x-authorization", format!("Bearer {token}")),
    ];
    for request in nowhere {
        let shown = format!("{request:?}");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 401, "{shown}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
    let scheme = me(String::new()).header(AUTHORIZATION, format!("bearer {token}")).send().await.unwrap();
    assert_eq!(scheme.status(), 200, "the scheme is not case-sensitive");
}
