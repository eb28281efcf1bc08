//! `segue search`: hybrid search from the terminal.

use std::process::ExitCode;

use app::config::Config;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use engine::Outcome;
use serde_json::{Value, json};

use super::{
    acting_user::{user_arg, user_of},
    terminal::shown,
};
use crate::telemetry;

pub(super) fn command() -> Command {
    Command::new("search")
        .about("Search the indexed collection by meaning and words")
        .arg(Arg::new("words").required(true).num_args(1..).help("A mood, a theme, a story, a line, a name"))
        .arg(Arg::new("limit").long("limit").default_value("10").value_parser(value_parser!(u32).range(1..=50)))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print the result as JSON"))
        .arg(user_arg())
}

pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let words: Vec<_> = args.get_many::<String>("words").into_iter().flatten().map(String::as_str).collect();
    let input = json!({"query": words.join(" "), "limit": args.get_one::<u32>("limit")});
    let app = super::open_command(config).await?;
    let owner = user_of(&app, args).await?;
    app.catch_up().await?;
    let outcome = app.call_tool(&owner, "semanticSearch", input).await?;
    app.stop().await;
    match outcome {
        Outcome::Done(done) => {
            print(&done.output, args.get_flag("json"))?;
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
        eprintln!("{n} more left out: nothing tells whether they are within the limits");
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
        println!(
            "{:.2} {owned} {} — {} ({})",
            track["score"].as_f64().unwrap_or(0.0),
            text("title"),
            text("artist"),
            text("album")
        );
        println!("       {}", text("shortDescription"));
    }
}
