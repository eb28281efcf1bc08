//! The issuer's keys: cached, fetched again for an unknown key id, and kept while the issuer is unavailable.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse},
};
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use super::jwt::TrustedKey;
use crate::http;

/// Keys are fetched again after this long, so that a withdrawn key does not stay valid.
const FRESH_FOR: Duration = Duration::from_secs(10 * 60);
/// The maximum number of fetches per minute, for any number of unknown key ids.
const MAX_FETCHES_A_MINUTE: usize = 5;
const MAX_BYTES: usize = 256 * 1024;
const MIN_RSA_BYTES: usize = 2048 / 8;

pub(super) struct Jwks {
    url: Url,
    client: reqwest::Client,
    known: RwLock<FetchedKeys>,
    /// The times of recent fetches. Locked during a fetch: other callers wait for its result.
    fetches: Mutex<VecDeque<Instant>>,
}

#[derive(Clone, Default)]
struct FetchedKeys {
    keys: Arc<HashMap<String, TrustedKey>>,
    fetched_at: Option<Instant>,
}

pub(super) enum KeyLookup {
    Key(TrustedKey),
    Unknown,
    /// No key was ever fetched, so no token can be checked.
    IssuerAway,
}

impl Jwks {
    pub(super) fn new(url: Url) -> Self {
        let client = http::client().timeout(Duration::from_secs(5)).build();
        Self {
            url,
            client: client.expect("a client with these settings can be built"),
            known: RwLock::default(),
            fetches: Mutex::default(),
        }
    }

    pub(super) async fn key(&self, kid: &str) -> KeyLookup {
        let known = self.known();
        let is_fresh = known.fetched_at.is_some_and(|at| at.elapsed() < FRESH_FOR);
        match known.keys.get(kid) {
            Some(key) if is_fresh => return KeyLookup::Key(key.clone()),
            // Outdated but known: one caller fetches, and all others continue with the old key.
            Some(key) if self.fetches.try_lock().is_err() => return KeyLookup::Key(key.clone()),
            _ => self.refresh(known.fetched_at).await,
        }
        let known = self.known();
        match known.keys.get(kid) {
            Some(key) => KeyLookup::Key(key.clone()),
            None if known.fetched_at.is_none() => KeyLookup::IssuerAway,
            None => KeyLookup::Unknown,
        }
    }

    /// Fetches the keys, unless another caller did so since `seen` or the rate limit is reached.
    async fn refresh(&self, seen: Option<Instant>) {
        let mut fetches = self.fetches.lock().await;
        while fetches.front().is_some_and(|at| at.elapsed() > Duration::from_secs(60)) {
            fetches.pop_front();
        }
        if self.known().fetched_at != seen || fetches.len() >= MAX_FETCHES_A_MINUTE {
            return;
        }
        fetches.push_back(Instant::now());
        match self.fetch().await {
            Ok(keys) => {
                let known = FetchedKeys { keys: Arc::new(keys), fetched_at: Some(Instant::now()) };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
            }
            Err(error) => {
                tracing::warn!("The issuer's keys could not be fetched; the cached keys stay in use: {error:#}")
            }
        }
    }

    async fn fetch(&self) -> anyhow::Result<HashMap<String, TrustedKey>> {
        #[derive(Deserialize)]
        struct KeySet {
            keys: Vec<Value>,
        }
        let response = self.client.get(self.url.clone()).send().await?.error_for_status()?;
        anyhow::ensure!(response.status().is_success(), "the issuer answered {}", response.status());
        let body = http_client::read_at_most(response, MAX_BYTES).await?;
        let set: KeySet = serde_json::from_slice(&body.ok_or_else(|| anyhow::anyhow!("the key set is too large"))?)?;
        let keys: HashMap<_, _> = set.keys.into_iter().filter_map(trusted).collect();
        anyhow::ensure!(!keys.is_empty(), "the key set has no usable key");
        Ok(keys)
    }

    fn known(&self) -> FetchedKeys {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A published key with its algorithm. Keys for other purposes or of other types are ignored.
fn trusted(key: Value) -> Option<(String, TrustedKey)> {
    let key: Jwk = serde_json::from_value(key).ok()?;
    let kid = key.common.key_id.clone().filter(|kid| !kid.is_empty())?;
    let algorithm = match &key.algorithm {
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::RSA(rsa) if URL_SAFE_NO_PAD.decode(&rsa.n).ok()?.len() >= MIN_RSA_BYTES => {
            Algorithm::RS256
        }
        _ => return None,
    };
    let is_declared = key.common.key_algorithm.is_none_or(|declared| declared == KeyAlgorithm::from(algorithm));
    let may_sign = !matches!(&key.common.public_key_use, Some(purpose) if *purpose != PublicKeyUse::Signature);
    let may_verify = key.common.key_operations.as_ref().is_none_or(|uses| uses.contains(&KeyOperations::Verify));
    if !may_sign || !may_verify || !is_declared {
        return None;
    }
    Some((kid, TrustedKey { key: DecodingKey::from_jwk(&key).ok()?, algorithm }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_signing_keys_of_known_kinds_are_trusted_each_for_one_algorithm() {
        let ed = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
        let modulus = |n_bytes| URL_SAFE_NO_PAD.encode(vec![0xc5_u8; n_bytes]);
        let cases = [
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed, "kid": "a"}), Some(Algorithm::EdDSA)),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed, "kid": "a", "alg": "EdDSA"}), Some(Algorithm::EdDSA)),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed, "kid": "a", "alg": "HS256"}), None),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed, "kid": "a", "use": "enc"}), None),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed, "kid": "a", "key_ops": ["sign"]}), None),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": ed}), None),
            (json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": "a", "use": "sig"}), Some(Algorithm::ES256)),
            (json!({"kty": "EC", "crv": "P-384", "x": x, "y": y, "kid": "a"}), None),
            (json!({"kty": "RSA", "n": modulus(256), "e": "AQAB", "kid": "a"}), Some(Algorithm::RS256)),
            (json!({"kty": "RSA", "n": modulus(256), "e": "AQAB", "kid": "a", "alg": "RS512"}), None),
            (json!({"kty": "RSA", "n": modulus(128), "e": "AQAB", "kid": "a"}), None),
            (json!({"kty": "oct", "k": "c2VjcmV0", "kid": "a"}), None),
            (json!({"kty": "something new", "kid": "a"}), None),
            (json!("not a key"), None),
        ];
        for (key, expected) in cases {
            assert_eq!(trusted(key.clone()).map(|(_, key)| key.algorithm), expected, "{key}");
        }
    }
}
