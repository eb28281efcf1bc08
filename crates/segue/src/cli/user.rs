//! `segue user`: who may sign in.

use std::{
    io::{IsTerminal, Write},
    process::ExitCode,
};

use anyhow::Context;
use app::{
    config::Config,
    services::{
        accounts::{AccountName, Accounts, checked_name},
        admin::Admin,
    },
};
use chrono::{TimeDelta, Utc};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use crate::{
    auth::{keys::Key, passwords},
    error::ApiError,
};

const INVITATION_DAYS: i64 = 7;

pub(super) fn command() -> Command {
    let name = || Arg::new("name").required(true).help("The name to sign in with");
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON");
    Command::new("user")
        .about("Accounts for SEGUE_AUTH=accounts")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(
            [
                Command::new("add").about("Add an account; the password comes from a prompt or from stdin").arg(name()),
                Command::new("list").about("Every account").arg(json()),
                Command::new("remove").about("Remove an account and everything it owns").arg(name()),
                Command::new("invite").about("Print an invitation; whoever has it can sign up once").arg(json()),
            ]
            .map(super::with_settings),
        )
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let admin = Admin::open(&config).await?;
    let accounts = admin.accounts();
    let result = match args.subcommand() {
        Some(("add", args)) => add(&accounts, name_in(args)?).await,
        Some(("list", args)) => list(&accounts, args.get_flag("json")).await,
        Some(("remove", args)) => remove(&accounts, &name_in(args)?).await,
        Some(("invite", args)) => invite(&accounts, args.get_flag("json")).await,
        _ => return Ok(ExitCode::from(2)),
    };
    admin.close().await;
    result.map(|()| ExitCode::SUCCESS)
}

fn name_in(args: &ArgMatches) -> anyhow::Result<String> {
    let name = AccountName::new(args.get_one::<String>("name").map_or("", String::as_str));
    checked_name(name).map_err(|error| anyhow::anyhow!("the name {}", ApiError::from(error).message))
}

async fn add(accounts: &Accounts, name: String) -> anyhow::Result<()> {
    let password = new_password()?;
    if let Some(problem) = passwords::problem_with(&password) {
        anyhow::bail!("the password {problem}");
    }
    let account = accounts.add(AccountName::new(&name), &passwords::hash(&password)?).await?;
    eprintln!("{} can sign in now.", account.name);
    Ok(())
}

/// Asked twice at a terminal; the first line of anything else.
fn new_password() -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).context("no password on stdin")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let password = rpassword::prompt_password("Password: ")?;
    anyhow::ensure!(password == rpassword::prompt_password("Again: ")?, "the two are not the same");
    Ok(password)
}

async fn list(accounts: &Accounts, as_json: bool) -> anyhow::Result<()> {
    let all = accounts.list().await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"users": all}))?)?;
        return Ok(());
    }
    for account in all {
        writeln!(out, "{}  {}  {}", account.id, account.created_at.format("%Y-%m-%d"), account.name)?;
    }
    Ok(())
}

async fn remove(accounts: &Accounts, name: &str) -> anyhow::Result<()> {
    let account = accounts.named(name).await.with_context(|| format!("there is no account '{name}'"))?;
    accounts.remove(&account).await?;
    eprintln!("Removed {} and everything they owned.", account.name);
    Ok(())
}

async fn invite(accounts: &Accounts, as_json: bool) -> anyhow::Result<()> {
    let key = Key::new("invite_")?;
    let expires_at = Utc::now() + TimeDelta::days(INVITATION_DAYS);
    accounts.invite(&key.hash, expires_at).await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", json!({"invitation": key.text, "expiresAt": expires_at}))?;
    } else {
        writeln!(out, "{}", key.text)?;
        eprintln!("Good for one account, for {INVITATION_DAYS} days.");
    }
    Ok(())
}
