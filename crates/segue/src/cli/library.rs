//! `segue library`: folders that are kept in step.

use std::process::ExitCode;

use app::config::Config;
use clap::{Arg, ArgMatches, Command};
use engine::UserId;

use crate::{auth::LOCAL_USER, telemetry};

pub(super) fn command() -> Command {
    let user = || Arg::new("user").long("user").default_value(LOCAL_USER).help("Whose library");
    let folder = Arg::new("folder").value_name("DIR").required(true).help("A folder of audio files");
    Command::new("library")
        .about("Keep folders of audio files in step with a library")
        .subcommand_required(true)
        .subcommand(Command::new("add").about("Scan a folder, and keep it in step from now on").arg(folder).arg(user()))
        .subcommand(Command::new("list").about("The folders that are kept in step").arg(user()))
        .subcommand(Command::new("sync").about("Scan every folder now").arg(user()))
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let Some((name, args)) = args.subcommand() else { return Ok(ExitCode::from(2)) };
    let owner = UserId::new(args.get_one::<String>("user").map_or(LOCAL_USER, String::as_str));
    let app = super::open(config).await?;
    let folders = app.folders();
    let wanted = match name {
        "add" => {
            let path = args.get_one::<String>("folder").map_or("", String::as_str);
            vec![folders.add(&owner, path).await?]
        }
        _ => folders.list(&owner).await?,
    };
    for folder in wanted {
        if name == "list" {
            println!("{}", folder.path);
            continue;
        }
        let report = folders.sync(&owner, folder.id).await?;
        println!(
            "{}: {} files, {} added, {} changed, {} moved, {} gone, {} unreadable",
            folder.path,
            report.files,
            report.added,
            report.changed,
            report.moved,
            report.gone,
            report.unreadable.len()
        );
    }
    app.catch_up().await?;
    app.stop().await;
    Ok(ExitCode::SUCCESS)
}
