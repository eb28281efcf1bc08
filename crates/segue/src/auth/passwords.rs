//! Passwords: argon2id, off the async threads, at most two at once.

use std::{sync::Arc, time::Duration};

use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash};
use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::error::ApiError;

pub const MIN_CHARS: usize = 8;
/// Hashing takes the same time for any length; reading does not.
const MAX_BYTES: usize = 1000;
/// Each takes about 19 MB and one core for a moment.
const AT_ONCE: usize = 2;
const PATIENCE: Duration = Duration::from_secs(5);
/// Checked when there is no such account, so that the answer takes as long. No password has it.
const NOBODYS_HASH: &str =
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

    /// Whether `password` is the one behind `hash`; without a hash it is not, and takes as long.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        self.work(move || {
            let hash = hash.as_deref().unwrap_or(NOBODYS_HASH);
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
        let Ok(Ok(slot)) = tokio::time::timeout(PATIENCE, self.slots.clone().acquire_owned()).await else {
            return Err(ApiError {
                retry_after_seconds: Some(PATIENCE.as_secs()),
                ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "BUSY", "Too many sign-ins at once. Please try again.")
            });
        };
        // The hash goes on when its caller has left, and so does its slot.
        let held = move || {
            let _slot = slot;
            work()
        };
        tokio::task::spawn_blocking(held).await.map_err(|_| ApiError::internal())
    }
}

/// The hash of a password, here and now.
pub fn hash(password: &str) -> anyhow::Result<String> {
    match Argon2::default().hash_password(password.as_bytes()) {
        Ok(hash) => Ok(hash.to_string()),
        Err(error) => anyhow::bail!("argon2id failed: {error}"),
    }
}

/// What is wrong with a new password, if anything.
pub fn problem_with(password: &str) -> Option<String> {
    if password.chars().count() < MIN_CHARS {
        return Some(format!("must have at least {MIN_CHARS} characters"));
    }
    (password.len() > MAX_BYTES).then(|| format!("must have at most {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_opens_and_nobody_has_none() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "the same cost as the hash of nobody: {hash}");
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
    async fn a_slot_is_free_when_the_hash_is_done_not_when_its_caller_leaves() {
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
        assert_eq!(passwords.slots.available_permits(), AT_ONCE - 1, "the caller left, the work goes on");
        drop(finish);
        let all = u32::try_from(AT_ONCE).unwrap();
        drop(passwords.slots.acquire_many(all).await.unwrap());
    }

    #[test]
    fn the_hash_of_nobody_can_be_checked() {
        let outcome = Argon2::default().verify_password(b"anything", NOBODYS_HASH);
        assert_eq!(outcome, Err(password_hash::Error::PasswordInvalid));
    }
}
