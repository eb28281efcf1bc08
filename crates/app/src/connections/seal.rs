//! Encryption of stored secrets: ChaCha20-Poly1305 with a key from `SEGUE_SECRET_KEY` or from a file in the data
//! directory.

use std::{
    io::{ErrorKind, Write},
    path::Path,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
    rand::{SecureRandom, SystemRandom},
};

use crate::config::Secret;

/// The first byte of the encrypted data: the version of the format.
const FORMAT: u8 = 1;
const CONTEXT: &[u8] = b"segue connections 1";
const KEY_FILE: &str = "secret.key";
const KEY_BYTES: usize = 32;

pub(super) struct Sealer(LessSafeKey);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SealError {
    #[error("it was stored with another key")]
    OtherKey,
    #[error("the system provides no random numbers")]
    NoRandom,
}

impl Sealer {
    pub(super) fn new(secret: &Secret) -> Result<Self, SealError> {
        let derived = Salt::new(HKDF_SHA256, CONTEXT).extract(secret.expose().as_bytes());
        let key = derived.expand(&[CONTEXT], &CHACHA20_POLY1305).map_err(|_| SealError::NoRandom)?;
        Ok(Self(LessSafeKey::new(UnboundKey::from(key))))
    }

    /// `name` is authenticated too: data stored under one name cannot be read under another.
    pub(super) fn seal(&self, name: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| SealError::NoRandom)?;
        let mut content = plain.to_vec();
        let bound = Aad::from(name.as_bytes());
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound, &mut content)
            .map_err(|_| SealError::NoRandom)?;
        Ok([&[FORMAT], nonce.as_slice(), &content].concat())
    }

    pub(super) fn open(&self, name: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (format, rest) = sealed.split_first().ok_or(SealError::OtherKey)?;
        let (nonce, content) = rest.split_at_checked(NONCE_LEN).ok_or(SealError::OtherKey)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::OtherKey)?;
        if *format != FORMAT {
            return Err(SealError::OtherKey);
        }
        let mut content = content.to_vec();
        let plain = self.0.open_in_place(nonce, Aad::from(name.as_bytes()), &mut content);
        plain.map(|plain| plain.to_vec()).map_err(|_| SealError::OtherKey)
    }
}

/// The key in the data directory; `None` if there is none yet.
pub(super) fn read_key(data_dir: &Path) -> std::io::Result<Option<Secret>> {
    match std::fs::read_to_string(data_dir.join(KEY_FILE)) {
        Ok(text) => Ok(Some(Secret::new(text.trim()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a key file that only its owner can read. An existing key is kept.
pub(super) fn make_key(data_dir: &Path) -> std::io::Result<Secret> {
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| std::io::Error::other("the system provides no random numbers"))?;
    let text = BASE64_STANDARD.encode(bytes);
    let path = data_dir.join(KEY_FILE);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            Ok(Secret::new(text))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read_key(data_dir)?.ok_or_else(|| std::io::Error::other("the key file was deleted"))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_data_can_be_read_only_with_the_same_key_and_name() {
        let sealer = |secret: &str| Sealer::new(&Secret::new(secret)).unwrap();
        let sealed = sealer("one").seal("model", b"sk-1").unwrap();
        assert_eq!(sealer("one").open("model", &sealed).unwrap(), b"sk-1");
        assert_eq!(sealer("two").open("model", &sealed), Err(SealError::OtherKey));
        assert_eq!(sealer("one").open("embedder", &sealed), Err(SealError::OtherKey));
        for n in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[n] ^= 1;
            assert_eq!(sealer("one").open("model", &changed), Err(SealError::OtherKey), "byte {n}");
            assert_eq!(sealer("one").open("model", &sealed[..n]), Err(SealError::OtherKey), "first {n} bytes");
        }
        assert_ne!(sealer("one").seal("model", b"sk-1").unwrap(), sealed, "a nonce is used once");
        assert!(!sealed.windows(4).any(|part| part == b"sk-1"));
    }

    #[test]
    fn the_key_file_is_private_and_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_key(folder.path()).unwrap().is_none());
        let made = make_key(folder.path()).unwrap();
        assert_eq!(make_key(folder.path()).unwrap().expose(), made.expose());
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &std::fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions(),
            );
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
