//! `segue sample`: loads the sample library.

use std::process::ExitCode;

use app::{config::Config, sample};
use clap::Command;
use engine::UserId;

use crate::{auth::LOCAL_USER, telemetry};

pub(super) fn command() -> Command {
    Command::new("sample").about("Load the sample library: three hundred tracks of fiction to try everything with")
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
pub(super) async fn run(config: Config) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let app = super::open_command(config).await?;
    let loaded = sample::load(app.library(), &UserId::new(LOCAL_USER)).await?;
    app.catch_up().await?;
    let status = app.library().index_status().await?;
    println!(
        "{} sample tracks, {} new or changed, {} added to the library; {} tracks are indexed",
        loaded.n_tracks, loaded.n_new, loaded.n_added, status.tracks
    );
    app.stop().await;
    Ok(ExitCode::SUCCESS)
}
