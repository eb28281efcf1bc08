//! `segue library`: folders that are synchronised with a library.

use std::process::ExitCode;

use app::{
    App,
    config::Config,
    services::folders::{FolderSource, ScanReport},
};
use clap::Subcommand;
use engine::UserId;
use serde_json::json;

use super::{terminal::CommandOutput, user_arg::UserArg};
use crate::telemetry;

/// Synchronise folders of audio files with a library
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Scan a folder, and synchronise it from now on
    Add {
        /// A folder of audio files
        #[arg(value_name = "DIR")]
        folder: String,
        #[command(flatten)]
        how: How,
    },
    /// List the synchronised folders
    List(How),
    /// Scan every folder now
    Sync(How),
}

#[derive(clap::Args)]
struct How {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let (Action::Add { how, .. } | Action::List(how) | Action::Sync(how)) = &args.action;
    let app = super::open_command(config).await?;
    let owner = how.user.id(app.config.auth, app.accounts()).await?;
    let told = match &args.action {
        Action::Add { folder, .. } => add(&app, &owner, folder).await?,
        Action::List(_) => list(&app, &owner).await?,
        Action::Sync(_) => sync(&app, &owner).await?,
    };
    app.catch_up().await?;
    app.stop().await;
    told.print(how.json)?;
    Ok(ExitCode::SUCCESS)
}

async fn add(app: &App, owner: &UserId, path: &str) -> anyhow::Result<CommandOutput> {
    let folder = app.folders().add(owner, path).await?;
    scan(app, owner, vec![folder]).await
}

async fn list(app: &App, owner: &UserId) -> anyhow::Result<CommandOutput> {
    let folders = app.folders().list(owner).await?;
    let paths: Vec<&str> = folders.iter().map(|folder| folder.path.as_str()).collect();
    Ok(CommandOutput { text: paths.join("\n"), json: json!({"folders": paths}) })
}

async fn sync(app: &App, owner: &UserId) -> anyhow::Result<CommandOutput> {
    scan(app, owner, app.folders().list(owner).await?).await
}

async fn scan(app: &App, owner: &UserId, folders: Vec<FolderSource>) -> anyhow::Result<CommandOutput> {
    let (mut lines, mut reports) = (vec![], vec![]);
    for FolderSource { id, path, .. } in folders {
        let report = app.folders().sync(owner, id).await?;
        let ScanReport { files, added, changed, moved, gone, playlists, unreadable, .. } = &report;
        let n_unreadable = unreadable.len();
        lines.push(format!(
            "{path}: {files} files, {added} added, {changed} changed, {moved} moved, {gone} gone, {playlists} playlists, {n_unreadable} unreadable"
        ));
        reports.push(json!({"path": path, "report": report}));
    }
    Ok(CommandOutput { text: lines.join("\n"), json: json!({"folders": reports}) })
}
