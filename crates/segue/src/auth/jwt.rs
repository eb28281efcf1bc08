//! Tokens of an external issuer: validation, and the user of a token.

use app::config::{JwtConfig, JwtKeys};
use chrono::{DateTime, Utc};
use engine::UserId;
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use serde::Deserialize;

use super::{
    Caller, LOCAL_USER,
    jwks::{Jwks, KeyLookup},
};
use crate::error::ApiError;

/// Longer than any real token.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
const MAX_SUBJECT_CHARS: usize = 255;
/// Tolerance for clock skew.
const LEEWAY_SECONDS: u64 = 30;

pub struct Verifier {
    keys: Keys,
    issuer: Option<String>,
    audience: Option<String>,
    /// Whether the page signs in here: then its cookie is accepted too.
    pub(super) has_page: bool,
}

enum Keys {
    Secret(TrustedKey),
    Jwks(Box<Jwks>),
}

/// A key and its only algorithm. The token's header never chooses the algorithm.
#[derive(Clone)]
pub(super) struct TrustedKey {
    pub(super) key: DecodingKey,
    pub(super) algorithm: Algorithm,
}

/// The claims that we read.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: f64,
    #[serde(default)]
    iat: Option<f64>,
    #[serde(default)]
    name: Option<String>,
    /// A single issuer; jsonwebtoken would also accept a list.
    #[serde(default)]
    #[expect(dead_code, reason = "its type is the check")]
    iss: Option<String>,
}

/// A verified token.
pub(super) struct Verified {
    pub(super) caller: Caller,
    pub(super) expires_at: DateTime<Utc>,
}

impl Verifier {
    pub(super) fn new(config: &JwtConfig) -> Self {
        let keys = match &config.keys {
            JwtKeys::Secret(secret) => Keys::Secret(TrustedKey {
                key: DecodingKey::from_secret(secret.expose().as_bytes()),
                algorithm: Algorithm::HS256,
            }),
            JwtKeys::Jwks(url) => Keys::Jwks(Box::new(Jwks::new(url.clone()))),
        };
        let has_page = config.page.is_some();
        Self { keys, issuer: config.issuer.clone(), audience: config.audience.clone(), has_page }
    }

    /// The user of a token. Every invalid token gets the same 401; the log contains the reason.
    pub(super) async fn verified(&self, token: &str) -> Result<Verified, ApiError> {
        let header = readable_header(token).map_err(refused)?;
        let key = match &self.keys {
            Keys::Secret(key) => key.clone(),
            Keys::Jwks(jwks) => match jwks.key(header.kid.as_deref().unwrap_or_default()).await {
                KeyLookup::Key(key) => key,
                KeyLookup::Unknown => return Err(refused("no key has this key id")),
                KeyLookup::IssuerAway => {
                    return Err(ApiError::unavailable(
                        "The keys of the sign-in service cannot be read. Please try again.",
                    ));
                }
            },
        };
        self.check(token, &key).map_err(refused)
    }

    fn check(&self, token: &str, key: &TrustedKey) -> Result<Verified, &'static str> {
        let claims = decode::<Claims>(token, &key.key, &self.rules(key.algorithm)).map_err(reason)?.claims;
        let sub = claims.sub.as_str();
        if sub.trim().is_empty() || sub.chars().count() > MAX_SUBJECT_CHARS || sub.chars().any(char::is_control) {
            return Err("the subject cannot be a user");
        }
        if sub == LOCAL_USER {
            return Err("the subject is the user of local mode, whose data may be in the same database");
        }
        let now = jsonwebtoken::get_current_timestamp() + LEEWAY_SECONDS;
        if claims.iat.is_some_and(|issued_at| issued_at > now as f64) {
            return Err("it was issued in the future");
        }
        let name = claims.name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| sub.to_owned());
        #[allow(clippy::cast_possible_truncation, reason = "a time that does not fit is no time")]
        let expires_at = DateTime::from_timestamp(claims.exp as i64, 0).ok_or("its end is no time")?;
        Ok(Verified { caller: Caller { id: UserId::new(sub), name, is_operator: false }, expires_at })
    }

    fn rules(&self, algorithm: Algorithm) -> Validation {
        let mut rules = Validation::new(algorithm);
        rules.leeway = LEEWAY_SECONDS;
        rules.validate_nbf = true;
        let mut required = vec!["exp", "sub"];
        if let Some(issuer) = &self.issuer {
            rules.set_issuer(&[issuer]);
            required.push("iss");
        }
        match &self.audience {
            Some(audience) => {
                rules.set_audience(&[audience]);
                required.push("aud");
            }
            None => rules.validate_aud = false,
        }
        rules.set_required_spec_claims(&required);
        rules
    }
}

/// Checks that need no key. `typ` excludes tokens for other purposes; `crit` requires extensions that we do not
/// support.
fn readable_header(token: &str) -> Result<Header, &'static str> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err("it is too long");
    }
    if token.split('.').count() != 3 {
        return Err("it does not have three parts");
    }
    let header = decode_header(token).map_err(reason)?;
    let typ = header.typ.as_deref().unwrap_or("JWT");
    if !["JWT", "at+jwt", "application/at+jwt"].iter().any(|allowed| allowed.eq_ignore_ascii_case(typ)) {
        return Err("its type is for another purpose");
    }
    if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
        return Err("its header requires an unsupported extension");
    }
    Ok(header)
}

fn reason(error: jsonwebtoken::errors::Error) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature => "it has expired",
        ErrorKind::ImmatureSignature => "it is not valid yet",
        ErrorKind::InvalidIssuer => "the issuer is wrong",
        ErrorKind::InvalidAudience => "the audience is wrong",
        ErrorKind::InvalidSignature => "the signature is wrong",
        ErrorKind::InvalidAlgorithm => "the algorithm is wrong",
        ErrorKind::MissingRequiredClaim(_) => "a required claim is missing",
        _ => "it is malformed",
    }
}

fn refused(why: &'static str) -> ApiError {
    tracing::debug!("Rejected a token: {why}");
    ApiError::unauthorized("The token is not valid.")
}
