//! A token issuer on this machine. It publishes, rotates and withdraws keys of every kind.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{Json, Router, http::StatusCode, response::IntoResponse, routing::get};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use rsa::{RsaPrivateKey, pkcs1::EncodeRsaPrivateKey, traits::PublicKeyParts};
use serde_json::{Value, json};

use crate::support::{TestApp, World};

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "https://segue.example";

/// A key pair: the private key that signs, and the public key as it is published.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) algorithm: Algorithm,
    pub(super) signs: EncodingKey,
    pub(super) published: Value,
}

impl Pair {
    pub(super) fn ed25519(kid: &str) -> Self {
        let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
        let x = URL_SAFE_NO_PAD.encode(pair.public_key());
        Self {
            algorithm: Algorithm::EdDSA,
            signs: EncodingKey::from_ed_der(der.as_ref()),
            published: json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": x, "kid": kid}),
        }
    }

    pub(super) fn p256(kid: &str) -> Self {
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let der = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(kind, der.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        Self {
            algorithm: Algorithm::ES256,
            signs: EncodingKey::from_ec_der(der.as_ref()),
            published: json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "use": "sig"}),
        }
    }

    pub(super) fn rsa(kid: &str) -> Self {
        let pair = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let (n, e) = (pair.n().to_bytes_be(), pair.e().to_bytes_be());
        let (n, e) = (URL_SAFE_NO_PAD.encode(n), URL_SAFE_NO_PAD.encode(e));
        Self {
            algorithm: Algorithm::RS256,
            signs: EncodingKey::from_rsa_der(pair.to_pkcs1_der().unwrap().as_bytes()),
            published: json!({"kty": "RSA", "alg": "RS256", "n": n, "e": e, "kid": kid, "use": "sig"}),
        }
    }

    pub(super) fn kid(&self) -> String {
        self.published["kid"].as_str().unwrap().to_owned()
    }

    pub(super) fn header(&self) -> Header {
        Header { kid: Some(self.kid()), ..Header::new(self.algorithm) }
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        encode(&self.header(), claims, &self.signs).unwrap()
    }
}

pub(super) fn good_claims() -> Value {
    let now = get_current_timestamp();
    json!({"sub": "ann", "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 900})
}

pub(super) struct Issuer {
    pub(super) url: String,
    pub(super) is_away: Arc<AtomicBool>,
    pub(super) n_asked: Arc<AtomicUsize>,
    keys: Arc<Mutex<Vec<Value>>>,
}

impl Issuer {
    pub(super) async fn new(pairs: &[&Pair]) -> Self {
        let issuer = Self {
            url: String::new(),
            is_away: Arc::default(),
            n_asked: Arc::default(),
            keys: Arc::new(Mutex::new(Vec::new())),
        };
        issuer.publish(pairs);
        let (is_away, n_asked, keys) = (issuer.is_away.clone(), issuer.n_asked.clone(), issuer.keys.clone());
        let answer = move || {
            n_asked.fetch_add(1, Ordering::SeqCst);
            let keys = keys.lock().unwrap().clone();
            let is_away = is_away.load(Ordering::SeqCst);
            async move {
                if is_away {
                    return StatusCode::SERVICE_UNAVAILABLE.into_response();
                }
                Json(json!({"keys": keys})).into_response()
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/jwks", get(answer))).await.unwrap() });
        Self { url, ..issuer }
    }

    pub(super) fn publish(&self, pairs: &[&Pair]) {
        *self.keys.lock().unwrap() = pairs.iter().map(|pair| pair.published.clone()).collect();
    }

    pub(super) fn n_asked(&self) -> usize {
        self.n_asked.load(Ordering::SeqCst)
    }

    /// A server that trusts this issuer.
    pub(super) async fn trusting_app(&self) -> TestApp {
        let settings = [
            ("SEGUE_AUTH", "jwt"),
            ("SEGUE_JWKS_URL", self.url.as_str()),
            ("SEGUE_JWT_ISSUER", ISSUER),
            ("SEGUE_JWT_AUDIENCE", AUDIENCE),
        ];
        TestApp::start(World::new().await, [], &settings).await
    }
}

/// The status of `GET /api/me` with a token.
pub(super) async fn status(app: &TestApp, token: &str) -> u16 {
    app.with_token(token).answer(reqwest::Method::GET, "/api/me", None).await.0
}
