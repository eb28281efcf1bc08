//! Built-in accounts: who may sign in, with which password, session, token or invitation. Secrets arrive as hashes.

use chrono::{DateTime, Utc};
use tracing::instrument;
use uuid::Uuid;

use crate::{Error, text_limit::Text};
use store::Store;
pub use store::{Account, Credentials, Hash, KeyHolder, KeyKind, NewKey};

pub type AccountName = Text<1, 64>;

#[derive(Clone)]
pub struct Accounts {
    store: Store,
}

impl Accounts {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    #[instrument(name = "accounts.add", skip_all)]
    pub async fn add(&self, name: AccountName, password_hash: &str) -> Result<Account, Error> {
        Ok(self.store.add_account(&checked_name(name)?, password_hash).await?)
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

    /// Removes an account with everything that lets it in and everything it owns.
    #[instrument(name = "accounts.remove", skip_all, fields(user.id = %account.id))]
    pub async fn remove(&self, account: &Account) -> Result<(), Error> {
        Ok(self.store.remove_account(account).await?)
    }

    #[instrument(name = "accounts.credentials", skip_all)]
    pub async fn credentials(&self, name: &str) -> Result<Option<Credentials>, Error> {
        Ok(self.store.credentials(name).await?)
    }

    /// Changes a password. Every session and token ends; `key` is for the one who changed it.
    #[instrument(name = "accounts.change_password", skip_all, fields(user.id = %account))]
    pub async fn change_password(&self, account: Uuid, password_hash: &str, key: &NewKey) -> Result<(), Error> {
        Ok(self.store.change_password(account, password_hash, key).await?)
    }
}

/// Sessions and tokens.
impl Accounts {
    #[instrument(name = "accounts.add_key", skip_all, fields(user.id = %account))]
    pub async fn add_key(&self, account: Uuid, key: &NewKey) -> Result<(), Error> {
        Ok(self.store.add_key(account, key).await?)
    }

    /// Whose key this is, unless it has expired or was revoked.
    #[instrument(name = "accounts.key_holder", skip_all)]
    pub async fn key_holder(&self, hash: &Hash, kind: KeyKind) -> Result<Option<KeyHolder>, Error> {
        Ok(self.store.key_holder(hash, kind).await?)
    }

    #[instrument(name = "accounts.extend_key", skip_all)]
    pub async fn extend_key(&self, hash: &Hash, until: DateTime<Utc>) -> Result<(), Error> {
        Ok(self.store.extend_key(hash, until).await?)
    }

    #[instrument(name = "accounts.revoke_key", skip_all)]
    pub async fn revoke_key(&self, hash: &Hash) -> Result<(), Error> {
        Ok(self.store.take_key_back(hash).await?)
    }

    /// Ends every session and every token of an account.
    #[instrument(name = "accounts.revoke_all_keys", skip_all, fields(user.id = %account))]
    pub async fn revoke_all_keys(&self, account: Uuid) -> Result<(), Error> {
        Ok(self.store.take_all_keys_back(account).await?)
    }
}

/// Invitations.
impl Accounts {
    #[instrument(name = "accounts.invite", skip_all)]
    pub async fn invite(&self, hash: &Hash, expires_at: DateTime<Utc>) -> Result<(), Error> {
        Ok(self.store.add_invitation(hash, expires_at).await?)
    }

    /// Whether an invitation can still be accepted.
    #[instrument(name = "accounts.is_invited", skip_all)]
    pub async fn is_invited(&self, hash: &Hash) -> Result<bool, Error> {
        Ok(self.store.is_invited(hash).await?)
    }

    /// Adds an account and uses the invitation up, both or neither. `NotFound`: the invitation is not valid any more.
    #[instrument(name = "accounts.accept_invitation", skip_all)]
    pub async fn accept_invitation(
        &self,
        hash: &Hash,
        name: AccountName,
        password_hash: &str,
    ) -> Result<Account, Error> {
        Ok(self.store.accept_invitation(hash, &checked_name(name)?, password_hash).await?)
    }
}

/// A name that people can tell apart by looking at it.
pub fn checked_name(name: AccountName) -> Result<String, Error> {
    let name = name.checked("name")?;
    if engine::untrusted::clean(&name) != name || name.contains(['\n', '\t']) {
        return Err(Error::Invalid { field: "name", problem: "cannot have invisible characters".into() });
    }
    Ok(name)
}
