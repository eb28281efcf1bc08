//! `segue mcp`: serves the tools over stdio, for assistants on this machine.

use std::process::ExitCode;

use anyhow::Context;
use app::config::Config;
use rmcp::{ServiceExt, transport::stdio};

use super::user_arg::UserArg;
use crate::{protocols::mcp::ToolServer, telemetry};

/// Serve the tools over stdio, for a desktop assistant or an editor
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    user: UserArg,
}

/// Only protocol messages go to stdout; everything else goes to stderr.
pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let (app, owner) = super::open_for(config, &args.user).await?;
    let server = ToolServer { app: app.clone(), owner: Some(owner) };
    let served = async {
        let running = server.serve(stdio()).await.context("the client did not send a valid MCP initialisation")?;
        running.waiting().await.context("the connection broke")
    };
    let ended = served.await;
    app.stop().await;
    ended.map(|_| ExitCode::SUCCESS)
}
