//! `segue export`: everything a user owns, as JSON.

use std::{io::Write, pin::pin, process::ExitCode};

use app::{config::Config, services::admin::Admin};
use futures::TryStreamExt;

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
    let mut pieces = pin!(admin.export(&owner));
    let mut out = std::io::stdout();
    while let Some(piece) = pieces.try_next().await? {
        out.write_all(piece.as_bytes())?;
    }
    writeln!(out)?;
    admin.close().await;
    Ok(ExitCode::SUCCESS)
}
