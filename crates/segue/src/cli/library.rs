//! `segue library`: folders that are kept in step.

use std::process::ExitCode;

use app::{
    config::Config,
    services::folders::{FolderSource, ScanReport},
};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use super::acting_user::{user_arg, user_of};
use crate::telemetry;

pub(super) fn command() -> Command {
    let folder = Arg::new("folder").value_name("DIR").required(true).help("A folder of audio files");
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON");
    Command::new("library")
        .about("Keep folders of audio files in step with a library")
        .subcommand_required(true)
        .subcommands(
            [
                Command::new("add").about("Scan a folder, and keep it in step from now on").arg(folder),
                Command::new("list").about("The folders that are kept in step"),
                Command::new("sync").about("Scan every folder now"),
            ]
            .map(|command| super::with_settings(command.arg(user_arg()).arg(json()))),
        )
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let Some((name, args)) = args.subcommand() else { return Ok(ExitCode::from(2)) };
    let app = super::open_command(config).await?;
    let owner = user_of(&app, args).await?;
    let folders = app.folders();
    let wanted = match name {
        "add" => {
            let path = args.get_one::<String>("folder").map_or("", String::as_str);
            vec![folders.add(&owner, path).await?]
        }
        _ => folders.list(&owner).await?,
    };
    let mut all = vec![];
    for folder in wanted {
        let report = if name == "list" { None } else { Some(folders.sync(&owner, folder.id).await?) };
        if !args.get_flag("json") {
            println!("{}", line(&folder, report.as_ref()));
        }
        all.push(json!({"path": folder.path, "report": report}));
    }
    app.catch_up().await?;
    app.stop().await;
    if args.get_flag("json") {
        println!("{}", json!({"folders": all}));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(folder: &FolderSource, report: Option<&ScanReport>) -> String {
    let Some(ScanReport { files, added, changed, moved, gone, playlists, unreadable, .. }) = report else {
        return folder.path.clone();
    };
    format!(
        "{}: {files} files, {added} added, {changed} changed, {moved} moved, {gone} gone, {playlists} playlists, {} unreadable",
        folder.path,
        unreadable.len()
    )
}
