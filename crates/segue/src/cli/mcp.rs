//! `segue mcp`: the tools over stdio, for assistants on this machine.

use std::process::ExitCode;

use anyhow::Context;
use app::config::Config;
use clap::{ArgMatches, Command};
use rmcp::{ServiceExt, transport::stdio};

use super::acting_user::{user_arg, user_of};
use crate::{protocols::mcp::ToolServer, telemetry};

pub(super) fn command() -> Command {
    Command::new("mcp").about("Serve the tools over stdio, for a desktop assistant or an editor").arg(user_arg())
}

/// Stdout belongs to the protocol; everything else goes to stderr.
pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let app = super::open_command(config).await?;
    let owner = user_of(&app, args).await?;
    let server = ToolServer { app: app.clone(), owner: Some(owner) };
    let served = async {
        let running = server.serve(stdio()).await.context("the client did not begin as MCP clients do")?;
        running.waiting().await.context("the connection broke")
    };
    let ended = served.await;
    app.stop().await;
    ended.map(|_| ExitCode::SUCCESS)
}
