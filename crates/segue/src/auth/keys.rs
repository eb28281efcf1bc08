//! Random credentials: shown once, stored as a hash.

use app::services::accounts::Hash;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// 256 random bits as text, and their hash for the store.
pub struct RandomKey {
    pub text: String,
    pub hash: Hash,
}

impl RandomKey {
    /// `prefix` tells people and secret scanners what kind of secret it is.
    pub fn new(prefix: &str) -> anyhow::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("the system provides no random numbers: {error}"))?;
        let text = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes));
        Ok(Self { hash: hash_of(&text), text })
    }
}

/// A plain hash is enough, because random values cannot be guessed.
pub(crate) fn hash_of(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}
