//! Built-in accounts: passwords, sessions, tokens and invitations. Secrets arrive as hashes.

use chrono::{DateTime, TimeDelta, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::{Error, text_limit::Text};
use store::Store;
pub use store::{Account, AttemptSubject, Credentials, Hash, KeyHolder, KeyKind, NewKey, name_key};

pub type AccountName = Text<1, 64>;

/// A name for a new account. It has no invisible characters, so that users can distinguish it from others.
#[derive(Clone, Debug)]
pub struct CheckedName(String);

impl CheckedName {
    pub fn of(name: AccountName) -> Result<Self, Error> {
        let name = name.checked("name")?;
        if engine::untrusted::clean(&name) != name || name.contains(['\n', '\t']) {
            return Err(Error::Invalid { field: "name", problem: "cannot have invisible characters".into() });
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone)]
pub struct Accounts {
    store: Store,
}

impl Accounts {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    #[instrument(name = "accounts.add", skip_all)]
    pub async fn add(&self, name: &CheckedName, password_hash: &str) -> Result<Account, Error> {
        Ok(self.store.add_account(name.as_str(), password_hash).await?)
    }

    /// Adds an account that may change the settings of the installation.
    #[instrument(name = "accounts.add_operator", skip_all)]
    pub async fn add_operator(&self, name: &CheckedName, password_hash: &str) -> Result<Account, Error> {
        Ok(self.store.add_operator(name.as_str(), password_hash).await?)
    }

    /// Every account, by name.
    #[instrument(name = "accounts.list", skip_all)]
    pub async fn list(&self) -> Result<Vec<Account>, Error> {
        Ok(self.store.accounts().await?)
    }

    #[instrument(name = "accounts.named", skip_all)]
    pub async fn named(&self, name: &str) -> Result<Account, Error> {
        Ok(self.store.account(name).await?)
    }

    /// Removes an account with all its credentials and data.
    #[instrument(name = "accounts.remove", skip_all, fields(user.id = %account.id))]
    pub async fn remove(&self, account: &Account) -> Result<(), Error> {
        Ok(self.store.remove_account(account).await?)
    }

    #[instrument(name = "accounts.credentials", skip_all)]
    pub async fn credentials(&self, name: &str) -> Result<Option<Credentials>, Error> {
        Ok(self.store.credentials(name).await?)
    }

    /// Changes a password. Every session and token is revoked; `key` is the new session of the user who changed it.
    #[instrument(name = "accounts.change_password", skip_all, fields(user.id = %account))]
    pub async fn change_password(&self, account: Uuid, password_hash: &str, key: &NewKey) -> Result<(), Error> {
        Ok(self.store.change_password(account, password_hash, key).await?)
    }
}

/// Sign-in attempts.
impl Accounts {
    /// Counts an attempt on all nodes, before a password is hashed. Returns how long to wait if there were too many.
    #[instrument(name = "accounts.count_attempt", skip_all)]
    pub async fn count_attempt(&self, subjects: &[AttemptSubject]) -> Result<Option<TimeDelta>, Error> {
        Ok(self.store.count_attempt(subjects).await?)
    }

    /// Subtracts an attempt that was not a wrong guess.
    #[instrument(name = "accounts.take_attempt_back", skip_all)]
    pub async fn take_attempt_back(&self, subjects: &[AttemptSubject]) -> Result<(), Error> {
        Ok(self.store.take_attempt_back(subjects).await?)
    }

    #[instrument(name = "accounts.forget_attempts", skip_all)]
    pub async fn forget_attempts(&self, subject: &AttemptSubject) -> Result<(), Error> {
        Ok(self.store.forget_attempts(subject).await?)
    }
}

/// Sessions and tokens.
impl Accounts {
    #[instrument(name = "accounts.add_key", skip_all, fields(user.id = %account))]
    pub async fn add_key(&self, account: Uuid, key: &NewKey) -> Result<(), Error> {
        Ok(self.store.add_key(account, key).await?)
    }

    /// The owner of this key, unless it has expired or was revoked.
    #[instrument(name = "accounts.key_holder", skip_all)]
    pub async fn key_holder(&self, hash: &Hash, kind: KeyKind) -> Result<Option<KeyHolder>, Error> {
        Ok(self.store.key_holder(hash, kind).await?)
    }

    #[instrument(name = "accounts.extend_key", skip_all)]
    pub async fn extend_key(&self, hash: &Hash, lasts: TimeDelta) -> Result<(), Error> {
        Ok(self.store.extend_key(hash, lasts).await?)
    }

    #[instrument(name = "accounts.revoke_key", skip_all)]
    pub async fn revoke_key(&self, hash: &Hash) -> Result<(), Error> {
        Ok(self.store.take_key_back(hash).await?)
    }

    /// Revokes every session and every token of an account.
    #[instrument(name = "accounts.revoke_all_keys", skip_all, fields(user.id = %account))]
    pub async fn revoke_all_keys(&self, account: Uuid) -> Result<(), Error> {
        Ok(self.store.take_all_keys_back(account).await?)
    }
}

/// Invitations.
impl Accounts {
    /// Stores an invitation. Returns when it expires.
    #[instrument(name = "accounts.invite", skip_all)]
    pub async fn invite(&self, hash: &Hash, lasts: TimeDelta) -> Result<DateTime<Utc>, Error> {
        Ok(self.store.add_invitation(hash, lasts).await?)
    }

    /// Whether an invitation can still be accepted.
    #[instrument(name = "accounts.is_invited", skip_all)]
    pub async fn is_invited(&self, hash: &Hash) -> Result<bool, Error> {
        Ok(self.store.is_invited(hash).await?)
    }

    /// Adds an account and deletes the invitation, in one transaction. `NotFound` if the invitation is not valid any
    /// more.
    #[instrument(name = "accounts.accept_invitation", skip_all)]
    pub async fn accept_invitation(
        &self,
        hash: &Hash,
        name: &CheckedName,
        password_hash: &str,
    ) -> Result<Account, Error> {
        Ok(self.store.accept_invitation(hash, name.as_str(), password_hash).await?)
    }
}
