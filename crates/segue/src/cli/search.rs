//! `segue search`: hybrid search from the terminal.

use std::process::ExitCode;

use app::config::Config;
use engine::Outcome;
use serde_json::{Value, json};

use super::{terminal::shown, user_arg::UserArg};
use crate::telemetry;

/// Search the indexed collection by meaning and words
#[derive(clap::Args)]
pub(super) struct Args {
    /// A mood, a theme, a story, a line of lyrics, or a name
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of tracks
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=50))]
    limit: u32,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let input = json!({"query": args.words.join(" "), "limit": args.limit});
    let (app, owner) = super::open_for(config, &args.user).await?;
    app.catch_up().await?;
    let outcome = app.call_tool(&owner, "semanticSearch", input).await?;
    app.stop().await;
    match outcome {
        Outcome::Done(done) => {
            print(&done.output, args.json)?;
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Failed(failure) => anyhow::bail!(failure.error),
    }
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
fn print(output: &Value, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(output)?);
        return Ok(());
    }
    let list = |field: &str| output[field].as_array().cloned().unwrap_or_default();
    let labels: Vec<String> =
        list("applied").iter().filter_map(|applied| applied["label"].as_str().map(str::to_owned)).collect();
    if !labels.is_empty() {
        eprintln!("Limits: {}", labels.join(", "));
    }
    print_tracks(&list("tracks"));
    eprintln!("{}", output["summary"].as_str().unwrap_or_default());
    if let Some(n) = output["undecided"].as_u64() {
        eprintln!("{n} more tracks are left out, because their data does not say whether they meet the limits");
    }
    let nearest = list("nearest");
    if !nearest.is_empty() {
        eprintln!("Nearest:");
        print_tracks(&nearest);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
fn print_tracks(tracks: &[Value]) {
    for track in tracks {
        let text = |field: &str| shown(track[field].as_str().unwrap_or_default());
        let owned = if track["inLibrary"] == true { "♥" } else { " " };
        // A file without tags has neither.
        let by = Some(text("artist")).filter(|name| !name.is_empty()).map(|name| format!(" — {name}"));
        let on = Some(text("album")).filter(|name| !name.is_empty()).map(|name| format!(" ({name})"));
        let (by, on) = (by.unwrap_or_default(), on.unwrap_or_default());
        println!("{:.2} {owned} {}{by}{on}", track["score"].as_f64().unwrap_or(0.0), text("title"));
        println!("       {}", text("shortDescription"));
    }
}
