//! `segue export`: everything a user owns, as JSON.

use std::{io::Write, process::ExitCode};

use app::{config::Config, services::admin::Admin};
use clap::{ArgMatches, Command};

use super::acting_user::{acting_user, user_arg};

pub(super) fn command() -> Command {
    Command::new("export")
        .about("Print everything a user owns as JSON: conversations, tasks, library, playlists")
        .arg(user_arg())
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let admin = Admin::open(&config).await?;
    let owner = acting_user(&config, &admin.accounts(), args).await?;
    let export = admin.export(&owner).await?;
    admin.close().await;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &export)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
