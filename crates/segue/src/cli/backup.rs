//! `segue backup` and `segue restore`: copy the database to a file, and replace it by a backup.

use std::{path::PathBuf, process::ExitCode};

use app::{
    backup::{self, Inventory, Replaces},
    config::Config,
};

/// Copy the database to a new file; the server can keep running
#[derive(clap::Args)]
pub(super) struct BackupArgs {
    /// The new file
    file: PathBuf,
    /// Print what the backup contains as JSON
    #[arg(long)]
    json: bool,
}

/// Replace the database by a backup; stop the server first
#[derive(clap::Args)]
pub(super) struct RestoreArgs {
    /// The backup
    file: PathBuf,
    /// Print what the backup contains as JSON
    #[arg(long)]
    json: bool,
    /// Restore although there is a database; the existing database is renamed
    #[arg(long)]
    force: bool,
}

pub(super) async fn back_up(config: Config, args: BackupArgs) -> anyhow::Result<ExitCode> {
    let inventory = backup::backup(&config, &args.file).await?;
    print_inventory("Backed up", &inventory, args.json)
}

pub(super) async fn restore(config: Config, args: RestoreArgs) -> anyhow::Result<ExitCode> {
    let replaces = if args.force { Replaces::WhatIsThere } else { Replaces::Nothing };
    let inventory = backup::restore(&config, &args.file, replaces).await?;
    print_inventory("Restored", &inventory, args.json)
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
fn print_inventory(done: &str, inventory: &Inventory, as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
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
