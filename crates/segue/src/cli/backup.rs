//! `segue backup` and `segue restore`: a whole copy of the database, and back.

use std::{path::PathBuf, process::ExitCode};

use app::{
    backup::{self, Inventory, Replaces},
    config::Config,
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

pub(super) fn backup_command() -> Command {
    Command::new("backup")
        .about("Copy the database to a new file; the server may go on running")
        .arg(file("Where to"))
        .arg(json())
}

pub(super) fn restore_command() -> Command {
    Command::new("restore")
        .about("Put a backup in the place of the database; stop the server first")
        .arg(file("The backup"))
        .arg(json())
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Move a database that is there already aside"),
        )
}

fn file(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help(help)
}

fn json() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print what it holds as JSON")
}

pub(super) async fn back_up(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let inventory = backup::backup(&config, &file_of(args)).await?;
    tell("Backed up", &inventory, args)
}

pub(super) async fn restore(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let replaces = if args.get_flag("force") { Replaces::WhatIsThere } else { Replaces::Nothing };
    let inventory = backup::restore(&config, &file_of(args), replaces).await?;
    tell("Restored", &inventory, args)
}

fn file_of(args: &ArgMatches) -> PathBuf {
    args.get_one::<PathBuf>("file").cloned().unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
fn tell(done: &str, inventory: &Inventory, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    if args.get_flag("json") {
        println!("{}", serde_json::to_string(inventory)?);
        return Ok(ExitCode::SUCCESS);
    }
    let Inventory { path, bytes, conversations, messages, tasks, tracks } = inventory;
    println!(
        "{done} {} ({} KiB): {conversations} conversations with {messages} messages, {tasks} tasks, {tracks} tracks",
        path.display(),
        bytes / 1024,
    );
    Ok(ExitCode::SUCCESS)
}
