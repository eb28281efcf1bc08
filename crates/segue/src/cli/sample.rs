//! `segue sample`: loads or removes the sample library.

use std::process::ExitCode;

use app::{config::Config, sample};
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::acting_user::{user_arg, user_of};
use crate::telemetry;

pub(super) fn command() -> Command {
    Command::new("sample")
        .about("Load or remove the sample library: three hundred tracks of fiction to try everything with")
        .arg(Arg::new("remove").long("remove").action(ArgAction::SetTrue).help("Remove it; it stays away"))
        .arg(user_arg())
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let app = super::open_command(config).await?;
    let owner = user_of(&app, args).await?;
    if args.get_flag("remove") {
        let n_removed = app.library().remove_sample(&owner).await?;
        app.catch_up().await?;
        println!("The sample library is removed; {n_removed} of its tracks left the library");
        app.stop().await;
        return Ok(ExitCode::SUCCESS);
    }
    let loaded = sample::load(app.library(), &owner).await?;
    app.catch_up().await?;
    let status = app.library().index_status().await?;
    println!(
        "{} sample tracks, {} new or changed, {} added to the library; {} tracks are indexed",
        loaded.n_tracks, loaded.n_new, loaded.n_added, status.tracks
    );
    app.stop().await;
    Ok(ExitCode::SUCCESS)
}
