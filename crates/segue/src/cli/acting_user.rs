//! Which user a command acts for.

use app::{
    App,
    config::{AuthMode, Config},
    services::accounts::{Account, Accounts, name_key},
};
use clap::{Arg, ArgMatches};
use engine::UserId;

use crate::auth::LOCAL_USER;

/// `--user NAME`, the same for every command.
pub(super) fn user_arg() -> Arg {
    Arg::new("user")
        .long("user")
        .value_name("NAME")
        .help("For whom: the name or id of an account; needed when there are several accounts")
}

/// The same as [`acting_user`], for commands that start the application.
pub(super) async fn user_of(app: &App, args: &ArgMatches) -> anyhow::Result<UserId> {
    acting_user(&app.config, app.accounts(), args).await
}

/// The user that `--user` names. An unknown name is an error: an empty library would look like a success.
pub(super) async fn acting_user(config: &Config, accounts: &Accounts, args: &ArgMatches) -> anyhow::Result<UserId> {
    let named = args.get_one::<String>("user").map(String::as_str);
    match (config.auth, named) {
        (AuthMode::Local, named) => Ok(UserId::new(named.unwrap_or(LOCAL_USER))),
        (AuthMode::Jwt, Some(subject)) => Ok(UserId::new(subject)),
        (AuthMode::Jwt, None) => {
            anyhow::bail!("with SEGUE_AUTH=jwt, --user names the subject (sub) of the user's token")
        }
        (AuthMode::Accounts, named) => Ok(choose(&accounts.list().await?, named)?.owner()),
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
        (None, several) => anyhow::bail!("there are {} accounts; say which with --user NAME", several.len()),
    }
}
