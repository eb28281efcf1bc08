//! `segue user`: who may sign in.

use std::{
    io::{IsTerminal, Write},
    process::ExitCode,
};

use anyhow::Context;
use app::{config::Config, store::Store};
use chrono::{TimeDelta, Utc};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use crate::{
    api::checked_name,
    auth::{keys::Key, passwords},
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
    let store = Store::open(&config.database_url, 1).await?;
    let result = match args.subcommand() {
        Some(("add", args)) => add(&store, name_in(args)?).await,
        Some(("list", args)) => list(&store, args.get_flag("json")).await,
        Some(("remove", args)) => remove(&store, name_in(args)?).await,
        Some(("invite", args)) => invite(&store, args.get_flag("json")).await,
        _ => return Ok(ExitCode::from(2)),
    };
    store.close().await;
    result.map(|()| ExitCode::SUCCESS)
}

fn name_in(args: &ArgMatches) -> anyhow::Result<&str> {
    let name = args.get_one::<String>("name").map_or("", String::as_str);
    checked_name(name).map_err(|refusal| anyhow::anyhow!("the name {}", refusal.message))
}

async fn add(store: &Store, name: &str) -> anyhow::Result<()> {
    let password = new_password()?;
    if let Some(problem) = passwords::problem_with(&password) {
        anyhow::bail!("the password {problem}");
    }
    let account = store.add_account(name, &passwords::hash(&password)?).await?;
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

async fn list(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let accounts = store.accounts().await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"users": accounts}))?)?;
        return Ok(());
    }
    for account in accounts {
        writeln!(out, "{}  {}  {}", account.id, account.created_at.format("%Y-%m-%d"), account.name)?;
    }
    Ok(())
}

async fn remove(store: &Store, name: &str) -> anyhow::Result<()> {
    let account = store.account(name).await.with_context(|| format!("there is no account '{name}'"))?;
    store.remove_account(&account).await?;
    eprintln!("Removed {} and everything they owned.", account.name);
    Ok(())
}

async fn invite(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let key = Key::new("invite_")?;
    let expires_at = Utc::now() + TimeDelta::days(INVITATION_DAYS);
    store.add_invitation(&key.hash, expires_at).await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", json!({"invitation": key.text, "expiresAt": expires_at}))?;
    } else {
        writeln!(out, "{}", key.text)?;
        eprintln!("Good for one account, for {INVITATION_DAYS} days.");
    }
    Ok(())
}
