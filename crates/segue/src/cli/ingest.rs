//! `segue ingest`: enriches and indexes the tracks of all libraries, with a progress bar for each step.

use std::{
    fmt,
    io::{IsTerminal, Write},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use app::{
    App,
    config::Config,
    enrich::{EnrichProgress, Step},
    library::IngestStatus,
};
use engine::UserId;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{terminal::shown, user_arg::UserArg};
use crate::telemetry;

/// Enrich and index the tracks of the library; an interrupted run continues where it stopped
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only print the progress
    #[arg(long)]
    status: bool,
    /// Retry the steps that failed permanently
    #[arg(long)]
    retry_failed: bool,
    /// Let the model write every description that is missing or that another version of Segue wrote
    #[arg(long)]
    describe_again: bool,
    /// Request the data of every track from every source again; an old result stays until the new one has arrived
    #[arg(long)]
    force: bool,
    /// Print the status as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    user: UserArg,
}

pub(super) async fn run(config: Config, args: &Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let (app, owner) = super::open_for(config, &args.user).await?;
    let ended = ingest(&app, &owner, args).await;
    app.stop().await;
    let status = ended?;
    print(&status, args.json)?;
    Ok(if status.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn ingest(app: &Arc<App>, owner: &UserId, args: &Args) -> anyhow::Result<IngestStatus> {
    if args.status {
        return Ok(app.library().ingest_status(owner).await?);
    }
    if args.retry_failed {
        let n = app.library().retry_failed_steps().await?;
        eprintln!("Retrying {n} failed steps.");
    }
    if args.describe_again {
        let n = app.library().describe_again().await?;
        eprintln!("Describing {n} tracks again.");
    }
    if args.force {
        let n = app.library().force_steps().await?;
        eprintln!("Requesting the data of {n} tracks again from every source.");
    }
    app.start_ingestion().await?;
    let bars = Bars::new();
    let mut news = app.library().ingest_news();
    let mut stalled = Stalled::new();
    loop {
        let status = app.library().ingest_status(owner).await?;
        bars.show(&status);
        if status.is_done() {
            bars.finish();
            return Ok(status);
        }
        if stalled.for_too_long(&status) {
            bars.finish();
            eprintln!(
                "Some sources do not answer. The tracks are indexed with the known data; run this command again later."
            );
            return Ok(status);
        }
        // Other nodes make progress without a notification, so the status is read at least once per second.
        let _ = tokio::time::timeout(Duration::from_secs(1), news.changed()).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Detects that there is no progress, for example without a network.
struct Stalled {
    n_ended: u64,
    since: Instant,
}

const MAX_STALL: Duration = Duration::from_secs(30);

impl Stalled {
    fn new() -> Self {
        Self { n_ended: 0, since: Instant::now() }
    }

    fn for_too_long(&mut self, status: &IngestStatus) -> bool {
        let steps = status.steps.values();
        let n_ended = status.index.tracks + steps.map(|step| step.done + step.failed + step.off).sum::<u64>();
        if n_ended != self.n_ended {
            *self = Self { n_ended, since: Instant::now() };
        }
        self.since.elapsed() > MAX_STALL
    }
}

/// A progress bar for each step, on a terminal only.
struct Bars {
    bars: Vec<(Step, ProgressBar)>,
}

impl Bars {
    fn new() -> Self {
        let is_seen = std::io::stderr().is_terminal();
        let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let all = MultiProgress::with_draw_target(target);
        let template = "{prefix:>9} {bar:32} {pos}/{len}  {rate}  {eta} left  {msg}";
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| _ = write!(out, "{:.0}/s", state.per_sec());
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.with_key("rate", rate);
        let bars = Step::ALL.into_iter().map(|step| {
            let bar = all.add(ProgressBar::new(0).with_style(style.clone()).with_prefix(step.name()));
            (step, bar)
        });
        Self { bars: bars.collect() }
    }

    fn show(&self, status: &IngestStatus) {
        for (step, bar) in &self.bars {
            let Some(progress) = status.steps.get(step) else { continue };
            let ended = progress.done + progress.failed + progress.off;
            if bar.length() == Some(0) {
                // The rate counts only the work of this run.
                bar.set_position(ended);
                bar.reset_eta();
            }
            bar.set_length(ended + progress.left());
            bar.set_position(ended);
            if progress.failed > 0 {
                bar.set_message(format!("{} failed", progress.failed));
            }
        }
    }

    fn finish(&self) {
        self.bars.iter().for_each(|(_, bar)| bar.abandon());
    }
}

fn print(status: &IngestStatus, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(status)?)?;
        return Ok(());
    }
    let index = &status.index;
    writeln!(out, "{} tracks are indexed, {} are waiting", index.tracks, index.pending)?;
    write!(out, "{}", table(&status.steps))?;
    if status.looking_for > 0 {
        writeln!(out, "{} imported entries are being searched in catalogues", status.looking_for)?;
    }
    for failure in &status.failures {
        let line =
            format!("{} {} - {}: {}: {}", failure.isrc, failure.artist, failure.title, failure.step, failure.reason);
        writeln!(out, "{}", shown(&line))?;
    }
    if status.failed > 0 {
        eprintln!("{} steps failed; segue ingest --retry-failed tries them again.", status.failed);
    }
    Ok(())
}

fn table(steps: &EnrichProgress) -> String {
    let heading = format!("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "done", "waiting", "running", "failed", "off");
    let rows = steps.iter().map(|(step, n)| {
        let name = step.name();
        format!("{name:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", n.done, n.waiting, n.running, n.failed, n.off)
    });
    std::iter::once(heading).chain(rows).collect()
}
