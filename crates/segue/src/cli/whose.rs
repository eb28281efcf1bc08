//! `--user`: the user a command works for.

use anyhow::Context;
use app::{config::AuthMode, services::accounts::Accounts};
use engine::UserId;

use crate::auth::LOCAL_USER;

#[derive(clap::Args)]
pub(super) struct Whose {
    /// The user to work for: an account's name, or with SEGUE_AUTH=jwt the token's subject
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl Whose {
    /// With SEGUE_AUTH=local everything belongs to one user. In the other modes a command that guessed would write into
    /// a library that no one can sign in to.
    pub(super) async fn id(&self, auth: AuthMode, accounts: &Accounts) -> anyhow::Result<UserId> {
        match (auth, &self.user) {
            (AuthMode::Local, None) => Ok(UserId::new(LOCAL_USER)),
            (AuthMode::Local | AuthMode::Jwt, Some(id)) => Ok(UserId::new(id.as_str())),
            (AuthMode::Accounts, Some(name)) => {
                let account = accounts.named(name).await.with_context(|| format!("there is no account '{name}'"))?;
                Ok(UserId::new(account.id.to_string()))
            }
            (AuthMode::Accounts | AuthMode::Jwt, None) => {
                anyhow::bail!("this server has several users: add --user NAME")
            }
        }
    }
}
