//! `segue export`: everything a user owns, as JSON.

use std::{io::Write, process::ExitCode};

use app::{config::Config, services::admin::Admin};

use super::user_arg::UserArg;

/// Print everything a user owns as JSON: conversations, tasks, library, playlists
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    let admin = Admin::open(&config).await?;
    let owner = args.user.id(config.auth, &admin.accounts()).await?;
    let export = admin.export(&owner).await?;
    admin.close().await;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &export)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
