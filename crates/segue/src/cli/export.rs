//! `segue export`: everything a user owns, as JSON.

use std::{io::Write, process::ExitCode};

use app::{config::Config, services::admin::Admin};

use super::whose::Whose;

/// Print everything a user owns as JSON: conversations, tasks, library, playlists
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    whose: Whose,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    let admin = Admin::open(&config).await?;
    let owner = args.whose.id(config.auth, &admin.accounts()).await?;
    let export = admin.export(&owner).await?;
    admin.close().await;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &export)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}
