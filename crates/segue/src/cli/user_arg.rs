//! `--user`: the user a command works for.

use app::{
    config::AuthMode,
    services::accounts::{Account, Accounts, name_key},
};
use engine::UserId;

use crate::auth::LOCAL_USER;

#[derive(clap::Args)]
pub(super) struct UserArg {
    /// The user to work for: an account's name or id, or with SEGUE_AUTH=jwt the token's subject
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl UserArg {
    /// An unknown name is an error. A guessed user id would create a library without an account.
    pub(super) async fn id(&self, auth: AuthMode, accounts: &Accounts) -> anyhow::Result<UserId> {
        let named = self.user.as_deref();
        match (auth, named) {
            (AuthMode::Local, named) => Ok(UserId::new(named.unwrap_or(LOCAL_USER))),
            (AuthMode::Jwt, Some(subject)) => Ok(UserId::new(subject)),
            (AuthMode::Jwt, None) => {
                anyhow::bail!("with SEGUE_AUTH=jwt, --user names the subject (sub) of the user's token")
            }
            (AuthMode::Accounts, named) => Ok(choose(&accounts.list().await?, named)?.owner()),
        }
    }
}

fn choose<'a>(accounts: &'a [Account], named: Option<&str>) -> anyhow::Result<&'a Account> {
    match (named, accounts) {
        (Some(name), _) => {
            let is_named =
                |account: &&Account| name_key(&account.name) == name_key(name) || account.id.to_string() == name;
            let found = accounts.iter().find(is_named);
            found.ok_or_else(|| anyhow::anyhow!("there is no account '{name}'; 'segue user list' shows them"))
        }
        (None, [only]) => Ok(only),
        (None, []) => anyhow::bail!("there is no account yet; add one with 'segue user add NAME'"),
        (None, several) => anyhow::bail!("there are {} accounts; choose one with --user NAME", several.len()),
    }
}
