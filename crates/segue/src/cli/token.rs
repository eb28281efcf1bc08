//! `segue token`: creates a bearer token for scripts.

use std::process::ExitCode;

use anyhow::Context;
use app::{
    config::{AuthMode, Config},
    services::{
        accounts::{KeyKind, NewKey},
        admin::Admin,
    },
};
use serde_json::json;

use super::terminal::CommandOutput;
use crate::auth::{TOKEN_PREFIX, keys::RandomKey};

/// Create a bearer token for scripts; it is shown only once
#[derive(clap::Args)]
pub(super) struct Args {
    /// The name of the account that the token signs in
    user: String,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    match config.auth {
        AuthMode::Accounts => {}
        AuthMode::Local => {
            eprintln!("Note: with SEGUE_AUTH=local no token is needed; this one is for SEGUE_AUTH=accounts.")
        }
        AuthMode::Jwt => anyhow::bail!("with SEGUE_AUTH=jwt, your token issuer creates the tokens"),
    }
    let name = &args.user;
    let admin = Admin::open(&config).await?;
    let account = admin.accounts().named(name).await.with_context(|| format!("there is no account '{name}'"))?;
    let key = RandomKey::new(TOKEN_PREFIX)?;
    admin.accounts().add_key(account.id, &NewKey { hash: key.hash, kind: KeyKind::Token, lasts: None }).await?;
    admin.close().await;
    CommandOutput { json: json!({"token": key.text}), text: key.text }.print(args.json)?;
    Ok(ExitCode::SUCCESS)
}
