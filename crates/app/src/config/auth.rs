//! Who may use the server, and how much at once.

use std::num::{NonZeroU32, NonZeroUsize};

use super::{
    ConfigError, Secret, problem,
    values::{Values, web_url},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    Local,
    Accounts,
    Jwt,
}

/// Whose tokens are believed, and what they must say.
#[derive(Clone, Debug)]
pub struct JwtConfig {
    pub keys: JwtKeys,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// How the page signs in; none: only programs do.
    pub page: Option<PageSignIn>,
}

/// Where the page gets a token, and where people sign in.
#[derive(Clone, Debug)]
pub struct PageSignIn {
    pub token_url: reqwest::Url,
    /// As it was set: it may hold a placeholder.
    pub sign_in_url: String,
}

impl PageSignIn {
    /// What the page may ask beside this server: scheme, host and port.
    pub fn token_origin(&self) -> String {
        self.token_url.origin().ascii_serialization()
    }
}

#[derive(Clone, Debug)]
pub enum JwtKeys {
    /// One secret, shared with the issuer.
    Secret(Secret),
    /// Where the issuer publishes its keys.
    Jwks(reqwest::Url),
}

/// A shorter HS256 secret can be guessed from one token.
const MIN_SECRET_BYTES: usize = 32;

impl Values<'_> {
    pub(super) fn auth(&self) -> Result<AuthMode, ConfigError> {
        match self.or_default("SEGUE_AUTH").as_str() {
            "local" => Ok(AuthMode::Local),
            "accounts" => Ok(AuthMode::Accounts),
            "jwt" => Ok(AuthMode::Jwt),
            other => Err(problem("SEGUE_AUTH", format!("'{other}' is not local, accounts or jwt"))),
        }
    }

    /// Exactly one kind of key: with two, a token could choose by which it wants to be checked.
    pub(super) fn jwt(&self) -> Result<Option<JwtConfig>, ConfigError> {
        if self.auth()? != AuthMode::Jwt {
            return Ok(None);
        }
        let keys = match (self.secret("SEGUE_JWT_SECRET"), self.text("SEGUE_JWKS_URL")) {
            (Some(secret), None) if secret.expose().len() < MIN_SECRET_BYTES => {
                return Err(problem("SEGUE_JWT_SECRET", format!("must have at least {MIN_SECRET_BYTES} bytes")));
            }
            (Some(secret), None) => JwtKeys::Secret(secret),
            (None, Some(url)) => JwtKeys::Jwks(web_url("SEGUE_JWKS_URL", &url)?),
            (Some(_), Some(_)) => {
                return Err(problem("SEGUE_JWT_SECRET", "cannot be used together with SEGUE_JWKS_URL"));
            }
            (None, None) => return Err(problem("SEGUE_AUTH", "jwt needs SEGUE_JWKS_URL or SEGUE_JWT_SECRET")),
        };
        let (issuer, audience) = (self.text("SEGUE_JWT_ISSUER"), self.text("SEGUE_JWT_AUDIENCE"));
        if matches!(keys, JwtKeys::Jwks(_)) {
            for (name, value) in [("SEGUE_JWT_ISSUER", &issuer), ("SEGUE_JWT_AUDIENCE", &audience)] {
                if value.is_none() {
                    return Err(problem(name, "is required with SEGUE_JWKS_URL"));
                }
            }
        }
        Ok(Some(JwtConfig { keys, issuer, audience, page: self.page_sign_in()? }))
    }

    /// One without the other would leave people on a page that they cannot use.
    fn page_sign_in(&self) -> Result<Option<PageSignIn>, ConfigError> {
        match (self.text("SEGUE_TOKEN_URL"), self.text("SEGUE_SIGN_IN_URL")) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(problem("SEGUE_SIGN_IN_URL", "is missing beside SEGUE_TOKEN_URL")),
            (None, Some(_)) => Err(problem("SEGUE_TOKEN_URL", "is missing beside SEGUE_SIGN_IN_URL")),
            (Some(token), Some(sign_in)) => {
                web_url("SEGUE_SIGN_IN_URL", &sign_in)?;
                let token_url = web_url("SEGUE_TOKEN_URL", &token)?;
                Ok(Some(PageSignIn { token_url, sign_in_url: sign_in }))
            }
        }
    }

    pub(super) fn secret_key(&self) -> Result<Option<Secret>, ConfigError> {
        let key = self.secret("SEGUE_SECRET_KEY");
        if key.as_ref().is_some_and(|key| key.expose().len() < MIN_SECRET_BYTES) {
            let why = format!("must have at least {MIN_SECRET_BYTES} characters; `openssl rand -base64 32` makes one");
            return Err(problem("SEGUE_SECRET_KEY", why));
        }
        Ok(key)
    }

    pub(super) fn open_requests(&self) -> Result<Option<NonZeroUsize>, ConfigError> {
        let most = NonZeroUsize::new(self.parsed("SEGUE_OPEN_REQUESTS")?);
        Ok(most.filter(|_| self.auth().is_ok_and(|mode| mode != AuthMode::Local)))
    }

    pub(super) fn requests_per_second(&self) -> Result<Option<NonZeroU32>, ConfigError> {
        let most = NonZeroU32::new(self.parsed("SEGUE_REQUESTS_PER_SECOND")?);
        Ok(most.filter(|_| self.auth().is_ok_and(|mode| mode != AuthMode::Local)))
    }
}
