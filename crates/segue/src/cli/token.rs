//! `segue token`: a bearer token for scripts.

use std::{io::Write, process::ExitCode};

use anyhow::Context;
use app::{
    config::{AuthMode, Config},
    services::{
        accounts::{KeyKind, NewKey},
        admin::Admin,
    },
};
use clap::{Arg, ArgMatches, Command};

use crate::auth::{TOKEN_PREFIX, keys::Key};

pub(super) fn command() -> Command {
    Command::new("token")
        .about("Print a bearer token for scripts; it is shown only now")
        .arg(Arg::new("user").required(true).help("Whose token: the name of an account"))
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    match config.auth {
        AuthMode::Accounts => {}
        AuthMode::Local => {
            eprintln!("Note: with SEGUE_AUTH=local no token is needed; this one is for SEGUE_AUTH=accounts.")
        }
        AuthMode::Jwt => anyhow::bail!("with SEGUE_AUTH=jwt tokens come from your issuer"),
    }
    let name = args.get_one::<String>("user").map_or("", String::as_str);
    let admin = Admin::open(&config).await?;
    let account = admin.accounts().named(name).await.with_context(|| format!("there is no account '{name}'"))?;
    let key = Key::new(TOKEN_PREFIX)?;
    admin.accounts().add_key(account.id, &NewKey { hash: key.hash, kind: KeyKind::Token, expires_at: None }).await?;
    admin.close().await;
    writeln!(std::io::stdout().lock(), "{}", key.text)?;
    Ok(ExitCode::SUCCESS)
}
