//! `segue sample`: loads or removes the sample library.

use std::process::ExitCode;

use app::{App, Operator, config::Config, sample};
use engine::UserId;
use serde_json::json;

use super::{terminal::CommandOutput, user_arg::UserArg};
use crate::telemetry;

/// Load or remove the sample library: 300 fictional tracks for trying Segue
#[derive(clap::Args)]
pub(super) struct Args {
    /// Remove it; it is not loaded again automatically
    #[arg(long)]
    remove: bool,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let (app, owner) = super::open_for(config, &args.user).await?;
    let told = if args.remove { remove(&app, &owner).await? } else { load(&app, &owner).await? };
    app.stop().await;
    told.print(args.json)?;
    Ok(ExitCode::SUCCESS)
}

async fn remove(app: &App, owner: &UserId) -> anyhow::Result<CommandOutput> {
    let n_removed = app.library().remove_sample(owner).await?;
    app.catch_up().await?;
    let text = format!("The sample library is removed; {n_removed} of its tracks were removed from the library");
    Ok(CommandOutput { text, json: json!({"removed": n_removed}) })
}

async fn load(app: &App, owner: &UserId) -> anyhow::Result<CommandOutput> {
    let loaded = app.library().load_sample(&Operator::of_this_machine(), owner).await?;
    app.catch_up().await?;
    let indexed = app.library().index_status().await?.tracks;
    let sample::Loaded { n_tracks, n_new, n_added } = loaded;
    let text = format!(
        "{n_tracks} sample tracks, {n_new} new or changed, {n_added} added to the library; {indexed} tracks are indexed"
    );
    Ok(CommandOutput { text, json: json!({"tracks": n_tracks, "new": n_new, "added": n_added, "indexed": indexed}) })
}
