//! Password hashing with argon2id: outside the async threads, at most two at once.

use std::{sync::Arc, time::Duration};

use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash};
use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::error::ApiError;

pub const MIN_CHARS: usize = 8;
/// Hashing time does not depend on the length, but reading time does.
const MAX_BYTES: usize = 1000;
/// Each hash takes about 19 MB of memory and one core.
const AT_ONCE: usize = 2;
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Verified if the account does not exist, so that the response takes the same time. No password matches it.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c2VndWUgaGFzIG5vIG9uZQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub(crate) struct Passwords {
    slots: Arc<Semaphore>,
}

impl Passwords {
    pub(crate) fn new() -> Self {
        Self { slots: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.work(move || hash(&password)).await?.map_err(|error| {
            tracing::error!("A password could not be hashed: {error:#}");
            ApiError::internal()
        })
    }

    /// Whether `password` matches `hash`. Without a hash it never matches, and takes the same time.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        self.work(move || {
            let hash = hash.as_deref().unwrap_or(DUMMY_HASH);
            match Argon2::default().verify_password(password.as_bytes(), hash) {
                Ok(()) => true,
                Err(password_hash::Error::PasswordInvalid) => false,
                Err(error) => {
                    tracing::error!("A stored password hash cannot be read: {error}");
                    false
                }
            }
        })
        .await
    }

    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let Ok(Ok(slot)) = tokio::time::timeout(MAX_WAIT, self.slots.clone().acquire_owned()).await else {
            return Err(ApiError {
                retry_after_seconds: Some(MAX_WAIT.as_secs()),
                ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", "Too many sign-ins at once. Please try again.")
            });
        };
        // The hash continues if its caller disconnects, and keeps its slot until it is done.
        let held = move || {
            let _slot = slot;
            work()
        };
        background::spawn_blocking(held).await.map_err(|_| ApiError::internal())
    }
}

/// Hashes a password on the current thread.
pub fn hash(password: &str) -> anyhow::Result<String> {
    match Argon2::default().hash_password(password.as_bytes()) {
        Ok(hash) => Ok(hash.to_string()),
        Err(error) => anyhow::bail!("argon2id failed: {error}"),
    }
}

/// The problem with a new password, if any.
pub(crate) fn problem_with(password: &str) -> Option<String> {
    if password.chars().count() < MIN_CHARS {
        return Some(format!("must have at least {MIN_CHARS} characters"));
    }
    (password.len() > MAX_BYTES).then(|| format!("must have at most {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches_and_a_missing_account_never_does() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "the same cost as the dummy hash: {hash}");
        for (password, stored, expected) in [
            ("correct horse", Some(hash.clone()), true),
            ("correct horse ", Some(hash.clone()), false),
            ("", Some(hash), false),
            ("correct horse", None, false),
            ("", None, false),
            ("correct horse", Some("no hash".into()), false),
        ] {
            assert_eq!(passwords.verify(password.into(), stored).await.unwrap(), expected, "{password:?}");
        }
    }

    #[tokio::test]
    async fn a_slot_is_freed_when_the_hash_is_done_not_when_its_caller_disconnects() {
        let passwords = Passwords::new();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let work = passwords.work(move || {
            begun.send(()).unwrap();
            finished.recv().ok();
        });
        tokio::select! {
            _ = work => panic!("the work is not finished"),
            _ = has_begun.recv() => {}
        }
        assert_eq!(passwords.slots.available_permits(), AT_ONCE - 1, "the caller has disconnected, the work continues");
        drop(finish);
        let all = u32::try_from(AT_ONCE).unwrap();
        drop(passwords.slots.acquire_many(all).await.unwrap());
    }

    #[test]
    fn the_dummy_hash_can_be_verified() {
        let outcome = Argon2::default().verify_password(b"anything", DUMMY_HASH);
        assert_eq!(outcome, Err(password_hash::Error::PasswordInvalid));
    }
}
