//! `segue serve`: the server.

use std::process::ExitCode;

use anyhow::Context;
use app::{
    App,
    config::{AuthMode, Config},
};
use engine::UserId;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tracing::{info, warn};

use crate::{
    auth::LOCAL_USER,
    router::router,
    server::{self, ConnectionLimits},
    telemetry,
};

/// Start the server and the page
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) async fn run(config: Config) -> anyhow::Result<ExitCode> {
    telemetry::init(&config.log);
    let listen = config.listen;
    let app = super::open(config).await?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr()?;
    app.start_ingestion().await?;
    app.start_folders().await?;
    let owner = (app.config.auth == AuthMode::Local).then(|| UserId::new(LOCAL_USER));
    if app.config.sample && app.library().offer_sample(owner.as_ref()).await? {
        info!("The sample library is loaded; remove it with 'segue sample --remove' or in the page");
    }
    // Installed before the address is logged: without a handler, a signal would kill the process.
    let mut signals = ShutdownSignals::listen().context("the signal handlers cannot be installed")?;
    info!(
        "Segue is ready on http://{address} with the model {} and {}",
        app.models().active().id(),
        app.database_kind()
    );
    let models = app.models().clone();
    app.spawn(async move { models.announce().await });
    warn_without_accounts(&app).await?;
    let limits = ConnectionLimits::of(&app.config);
    #[cfg(debug_assertions)]
    app.arm_crash_point();
    let leaving = async {
        signals.received().await;
        info!("Shutting down: no new turns are accepted, and running turns may finish");
        // Requests are still answered: a new turn with 503, a running turn with its stream.
        tokio::select! {
            () = app.drain() => {}
            () = signals.received() => {
                warn!("Second signal: running turns are interrupted");
                app.skip_drain();
            }
        }
    };
    server::serve(listener, router(app.clone()), limits, leaving).await?;
    app.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn warn_without_accounts(app: &App) -> anyhow::Result<()> {
    if app.config.auth == AuthMode::Accounts && app.accounts().list().await?.is_empty() {
        warn!("There are no accounts, so no user can sign in. Add one with 'segue user add NAME'");
    }
    Ok(())
}

/// SIGINT (Ctrl-C in a terminal) and SIGTERM (from a supervisor). The handlers are installed when this is created.
struct ShutdownSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl ShutdownSignals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
