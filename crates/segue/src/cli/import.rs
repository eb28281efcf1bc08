//! `segue import`: a library from the files people have, with a report.

use std::{io::Write, path::PathBuf, process::ExitCode, time::Duration};

use app::{
    App,
    config::Config,
    import::{Given, ImportAnswer, Imported, OpenItem, open_entries_csv},
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use engine::UserId;
use serde_json::json;

use super::{
    acting_user::{user_arg, user_of},
    terminal::shown,
};
use crate::telemetry;

pub(super) fn command() -> Command {
    Command::new("import")
        .about("Import exports, playlists, archives and folders of audio files, and report what matched")
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .num_args(1..)
                .required_unless_present("open")
                .value_parser(value_parser!(PathBuf))
                .help("Files and folders; what each is, its content says"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the report as JSON"))
        .arg(Arg::new("open").long("open").action(ArgAction::SetTrue).help("List entries that are still open"))
        .arg(Arg::new("csv").long("csv").action(ArgAction::SetTrue).requires("open").help("List them as CSV"))
        .arg(
            Arg::new("patience")
                .long("patience")
                .value_name("SECONDS")
                .default_value("60")
                .value_parser(value_parser!(u64))
                .help("How long to ask catalogues elsewhere; the rest is looked for by segue ingest or the server"),
        )
        .arg(user_arg())
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let app = super::open_command(config).await?;
    let owner = user_of(&app, args).await?;
    let code = if args.get_flag("open") {
        list_open(&app, &owner, args).await.map(|()| ExitCode::SUCCESS)
    } else {
        import_all(&app, &owner, args).await
    };
    app.stop().await;
    code
}

async fn import_all(app: &App, owner: &UserId, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    let patience = Duration::from_secs(args.get_one::<u64>("patience").copied().unwrap_or_default());
    let as_json = args.get_flag("json");
    let (mut all, mut n_refused) = (vec![], 0);
    for path in args.get_many::<PathBuf>("files").into_iter().flatten() {
        match app.imports().import(owner, Given::Path(path.clone()), patience).await {
            Ok(imported) => {
                if !as_json {
                    print_reports(&imported)?;
                }
                all.extend(imported);
            }
            Err(error) => {
                n_refused += 1;
                eprintln!(
                    "segue: {}: nothing was imported: {}",
                    shown(&path.display().to_string()),
                    shown(&error.to_string())
                );
            }
        }
    }
    let answer = ImportAnswer::of(&all);
    if as_json {
        writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(&answer)?)?;
    } else if answer.added > 0 {
        eprintln!(
            "{} tracks are new. A running server indexes them by itself; otherwise run: segue ingest",
            answer.added
        );
    }
    Ok(if n_refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_reports(imported: &[Imported]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for Imported { report, kept, .. } in imported {
        write!(out, "{}", shown(&report.to_string()))?;
        writeln!(out, "{:>9}  added to the library, {} already there\n", kept.n_added, kept.n_already_there)?;
    }
    Ok(())
}

async fn list_open(app: &App, owner: &UserId, args: &ArgMatches) -> anyhow::Result<()> {
    let open = app.imports().open_entries(owner).await?;
    let mut out = std::io::stdout().lock();
    if args.get_flag("csv") {
        write!(out, "{}", open_entries_csv(&open))?;
        return Ok(());
    }
    let items: Vec<OpenItem> = open.iter().map(OpenItem::from).collect();
    if args.get_flag("json") {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"entries": items}))?)?;
        return Ok(());
    }
    for item in &items {
        let line = format!("{}:{}  {} - {}  {}", item.file, item.line, item.artist, item.title, item.reason);
        writeln!(out, "{}", shown(&line))?;
        for candidate in &item.candidates {
            let line = format!("{}  {} - {}  {}", candidate.isrc, candidate.artist, candidate.title, candidate.source);
            writeln!(out, "    {}", shown(&line))?;
        }
    }
    eprintln!("{} entries are open.", items.len());
    Ok(())
}
