//! `segue library`: folders that are synchronised with a library.

use std::process::ExitCode;

use app::{
    App, Operator,
    config::Config,
    services::folders::{FolderSound, FolderSource, ScanReport},
};
use clap::Subcommand;
use engine::UserId;
use serde_json::json;

use super::{
    terminal::{CommandOutput, shown},
    user_arg::UserArg,
};
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
    let (app, owner) = super::open_for(config, &how.user).await?;
    let done = act(&app, &owner, &args.action, how.json).await;
    app.stop().await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn act(app: &App, owner: &UserId, action: &Action, as_json: bool) -> anyhow::Result<()> {
    let folders = match action {
        Action::Add { folder, .. } => vec![app.folders().add(&Operator::of_this_machine(), owner, folder).await?],
        Action::List(_) | Action::Sync(_) => app.folders().list(owner).await?,
    };
    if let Action::List(_) = action {
        let paths: Vec<&str> = folders.iter().map(|folder| folder.path.as_str()).collect();
        return CommandOutput { text: paths.join("\n"), json: json!({"folders": paths}) }.print(as_json);
    }
    let told = scan(app, owner, &folders).await?;
    app.catch_up().await?;
    told.print(as_json)?;
    compare_sounds(app, owner, &folders).await
}

/// After the result is printed, because it takes a while. If the command is stopped, the next one or a server goes on.
async fn compare_sounds(app: &App, owner: &UserId, folders: &[FolderSource]) -> anyhow::Result<()> {
    for FolderSource { id, path, .. } in folders {
        let sound = app.folders().sound(owner, *id).await?;
        let Some(FolderSound { waiting: 1.., .. }) = sound else { continue };
        eprintln!("{}: comparing the sounds of the files. Ctrl-C leaves the rest to the server.", shown(path));
        match app.folders().compare_folder_now(owner, *id).await? {
            Some(n_files) => eprintln!("The sounds of {n_files} files were compared."),
            None => eprintln!("A running server compares them."),
        }
    }
    app.catch_up().await?;
    Ok(())
}

async fn scan(app: &App, owner: &UserId, folders: &[FolderSource]) -> anyhow::Result<CommandOutput> {
    let (mut lines, mut reports) = (vec![], vec![]);
    for FolderSource { id, path, .. } in folders {
        let report = app.folders().sync(owner, *id).await?;
        let ScanReport { files, added, changed, moved, gone, playlists, unreadable, .. } = &report;
        let n_unreadable = unreadable.len();
        lines.push(format!(
            "{path}: {files} files, {added} added, {changed} changed, {moved} moved, {gone} gone, {playlists} playlists, {n_unreadable} unreadable"
        ));
        reports.push(json!({"path": path, "report": report}));
    }
    Ok(CommandOutput { text: lines.join("\n"), json: json!({"folders": reports}) })
}
