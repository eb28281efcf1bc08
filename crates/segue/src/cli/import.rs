//! `segue import`: imports files into a library and prints a report.

use std::{io::Write, path::PathBuf, process::ExitCode, time::Duration};

use app::{
    App,
    config::Config,
    import::{Given, ImportAnswer, Imported, OpenItem},
};
use engine::UserId;
use futures::StreamExt;
use serde_json::json;

use super::{terminal::shown, user_arg::UserArg};
use crate::telemetry;

/// Import exports, playlists, archives and folders of audio files, and report what matched
#[derive(clap::Args)]
pub(super) struct Args {
    /// Files and folders; Segue recognises each by its content
    #[arg(value_name = "FILE", required_unless_present = "open")]
    files: Vec<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// List the entries that no catalogue has confirmed yet
    #[arg(long)]
    open: bool,
    /// List them as CSV
    #[arg(long, requires = "open")]
    csv: bool,
    /// Maximum number of seconds to search catalogues; `segue ingest` or the server continues the search
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    patience: u64,
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: &Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let (app, owner) = super::open_for(config, &args.user).await?;
    let code = if args.open {
        list_open(&app, &owner, args).await.map(|()| ExitCode::SUCCESS)
    } else {
        import_all(&app, &owner, args).await
    };
    app.stop().await;
    code
}

async fn import_all(app: &App, owner: &UserId, args: &Args) -> anyhow::Result<ExitCode> {
    let files = args.files.iter().cloned().map(Given::Path).collect();
    let mut printed = Ok(());
    let print = |imported: &[Imported]| {
        if !args.json && printed.is_ok() {
            printed = print_reports(imported);
        }
    };
    let all = app.imports().import_all(owner, files, Duration::from_secs(args.patience), print).await?;
    printed?;
    for (name, failure) in &all.refused {
        eprintln!("segue: {}: nothing was imported: {}", shown(name), shown(&failure.to_string()));
    }
    let answer = ImportAnswer::of(&all.imported);
    if args.json {
        writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(&answer)?)?;
    } else if answer.added > 0 {
        eprintln!(
            "{} tracks are new. A running server indexes them automatically; otherwise run: segue ingest",
            answer.added
        );
    }
    compare_sounds(app, owner, all.audio).await?;
    Ok(if all.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// After the report, because it takes a while, and all tracks are stored.
async fn compare_sounds(app: &App, owner: &UserId, audio: Vec<Given>) -> anyhow::Result<()> {
    if !app.folders().compares_sounds() {
        return Ok(());
    }
    for given in audio {
        let Given::Path(path) = given else { continue };
        eprintln!("{}: comparing the sounds of the files.", shown(&path.display().to_string()));
        let n_files = app.folders().compare_imported(owner, path).await?;
        eprintln!("The sounds of {n_files} files were compared.");
    }
    Ok(())
}

fn print_reports(imported: &[Imported]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for Imported { report, kept, .. } in imported {
        write!(out, "{}", shown(&report.to_string()))?;
        writeln!(out, "{:>9}  added to the library, {} already there\n", kept.n_added, kept.n_already_there)?;
    }
    Ok(())
}

async fn list_open(app: &App, owner: &UserId, args: &Args) -> anyhow::Result<()> {
    if args.csv {
        let mut pieces = std::pin::pin!(app.imports().open_csv(owner));
        while let Some(piece) = pieces.next().await {
            write!(std::io::stdout(), "{}", piece?)?;
        }
        return Ok(());
    }
    let open = app.imports().open_entries(owner).await?;
    let mut out = std::io::stdout().lock();
    let items: Vec<OpenItem> = open.iter().map(OpenItem::from).collect();
    if args.json {
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
