//! `segue export`: everything a user owns, as JSON.

use std::{io::Write, process::ExitCode};

use app::{config::Config, services::admin::Admin};
use clap::{Arg, ArgMatches, Command};
use engine::UserId;

use crate::auth::LOCAL_USER;

pub(super) fn command() -> Command {
    Command::new("export")
        .about("Print everything a user owns as JSON: conversations, tasks, library, playlists")
        .arg(Arg::new("user").long("user").default_value(LOCAL_USER).help("Whose"))
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let owner = UserId::new(args.get_one::<String>("user").map_or(LOCAL_USER, String::as_str));
    let admin = Admin::open(&config).await?;
    let export = admin.export(&owner).await?;
    admin.close().await;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &export)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
