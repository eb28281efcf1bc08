//! `segue user`: manages accounts.

use std::{io::IsTerminal, process::ExitCode};

use anyhow::Context;
use app::{
    config::Config,
    services::{
        accounts::{Account, AccountName, Accounts, CheckedName},
        admin::Admin,
    },
};
use chrono::TimeDelta;
use clap::Subcommand;
use serde_json::json;

use super::terminal::CommandOutput;
use crate::{
    auth::{keys::RandomKey, passwords},
    error::ApiError,
};

const INVITATION_DAYS: i64 = 7;

/// Manage the accounts of a server with SEGUE_AUTH=accounts
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Add an account; the password comes from a prompt or from stdin
    Add {
        /// The name to sign in with
        name: String,
        /// The account may change the settings of the installation
        #[arg(long)]
        operator: bool,
        #[command(flatten)]
        how: How,
    },
    /// List every account
    List(How),
    /// Remove an account and everything it owns
    Remove {
        /// The name of the account
        name: String,
        #[command(flatten)]
        how: How,
    },
    /// Print an invitation: the person who has it can sign up once
    Invite(How),
}

#[derive(clap::Args)]
struct How {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    let admin = Admin::open(&config).await?;
    let accounts = admin.accounts();
    let (told, how) = match args.action {
        Action::Add { name, operator, how } => (add(&accounts, &name, operator).await, how),
        Action::List(how) => (list(&accounts).await, how),
        Action::Remove { name, how } => (remove(&accounts, &name).await, how),
        Action::Invite(how) => (invite(&accounts).await, how),
    };
    admin.close().await;
    told?.print(how.json)?;
    Ok(ExitCode::SUCCESS)
}

fn checked(name: &str) -> anyhow::Result<CheckedName> {
    CheckedName::of(AccountName::new(name)).map_err(|error| anyhow::anyhow!(ApiError::from(error).message))
}

async fn add(accounts: &Accounts, name: &str, is_operator: bool) -> anyhow::Result<CommandOutput> {
    let name = checked(name)?;
    let password = new_password()?;
    if let Some(problem) = passwords::problem_with(&password) {
        anyhow::bail!("the password {problem}");
    }
    let hash = passwords::hash(&password)?;
    let account =
        if is_operator { accounts.add_operator(&name, &hash).await? } else { accounts.add(&name, &hash).await? };
    Ok(CommandOutput { text: format!("{} can sign in now.", account.name), json: json!({"user": account}) })
}

/// At a terminal, prompts twice. Otherwise reads the first line of stdin.
fn new_password() -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).context("no password on stdin")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let password = rpassword::prompt_password("Password: ")?;
    anyhow::ensure!(password == rpassword::prompt_password("Again: ")?, "the two passwords differ");
    Ok(password)
}

async fn list(accounts: &Accounts) -> anyhow::Result<CommandOutput> {
    let all = accounts.list().await?;
    let line = |account: &Account| {
        let role = if account.is_operator { "  (operator)" } else { "" };
        format!("{}  {}  {}{role}", account.id, account.created_at.format("%Y-%m-%d"), account.name)
    };
    let lines: Vec<_> = all.iter().map(line).collect();
    Ok(CommandOutput { text: lines.join("\n"), json: json!({"users": all}) })
}

async fn remove(accounts: &Accounts, name: &str) -> anyhow::Result<CommandOutput> {
    let name = checked(name)?;
    let name = name.as_str();
    let account = accounts.named(name).await.with_context(|| format!("there is no account '{name}'"))?;
    accounts.remove(&account).await?;
    let text = format!("Removed {} and everything they owned.", account.name);
    Ok(CommandOutput { text, json: json!({"removed": account}) })
}

async fn invite(accounts: &Accounts) -> anyhow::Result<CommandOutput> {
    let key = RandomKey::new("invite_")?;
    let expires_at = accounts.invite(&key.hash, TimeDelta::days(INVITATION_DAYS)).await?;
    eprintln!("The invitation is valid for one account and for {INVITATION_DAYS} days.");
    Ok(CommandOutput { json: json!({"invitation": key.text, "expiresAt": expires_at}), text: key.text })
}
