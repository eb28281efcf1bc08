//! `segue serve`: the server.

use std::process::ExitCode;

use anyhow::Context;
use app::{
    App,
    config::{AuthMode, Config},
};
use clap::Command;
use tokio::net::TcpListener;
use tracing::{info, warn};

use crate::{
    router::router,
    server::{self, ConnectionLimits},
    telemetry,
};

pub(super) fn command() -> Command {
    Command::new("serve").about("Start the server and the page")
}

pub(super) async fn run(config: Config) -> anyhow::Result<ExitCode> {
    telemetry::init(&config.log);
    let listen = config.listen;
    let app = super::open(config).await?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr()?;
    app.start_ingestion().await?;
    info!("Segue is ready on http://{address} with the model {} and {}", app.model.id(), app.store.kind());
    warn_if_no_one_can_sign_in(&app).await?;
    let limits = ConnectionLimits::new(app.config.max_connections);
    let leaving = async {
        ended().await;
        info!("Leaving: no new turns, running ones may finish");
        // Whoever asks meanwhile is answered: that we are leaving, or how their turn goes on.
        tokio::select! {
            () = app.drain() => {}
            () = ended() => {
                warn!("Asked twice: running turns are interrupted");
                app.hurry();
            }
        }
    };
    server::serve(listener, router(app.clone()), limits, leaving).await?;
    app.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn warn_if_no_one_can_sign_in(app: &App) -> anyhow::Result<()> {
    if app.config.auth == AuthMode::Accounts && app.store.accounts().await?.is_empty() {
        warn!("No one can sign in yet: add someone with 'segue user add NAME'");
    }
    Ok(())
}

/// Ctrl-C in a terminal, SIGTERM from a supervisor.
async fn ended() {
    let interrupt = tokio::signal::ctrl_c();
    let mut terminate = match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(terminate) => terminate,
        Err(error) => {
            tracing::warn!("SIGTERM cannot be heard: {error}");
            let _ = interrupt.await;
            return;
        }
    };
    tokio::select! {
        _ = interrupt => {}
        _ = terminate.recv() => {}
    }
}
