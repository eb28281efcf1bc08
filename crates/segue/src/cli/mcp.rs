//! `segue mcp`: the tools over stdio, for assistants on this machine.

use std::process::ExitCode;

use anyhow::Context;
use app::config::Config;
use clap::{Arg, ArgMatches, Command};
use engine::UserId;
use rmcp::{ServiceExt, transport::stdio};

use crate::{auth::LOCAL_USER, protocols::mcp::ToolServer, telemetry};

pub(super) fn command() -> Command {
    Command::new("mcp").about("Serve the tools over stdio, for a desktop assistant or an editor").arg(
        Arg::new("user")
            .long("user")
            .value_name("ID")
            .default_value(LOCAL_USER)
            .help("Whose library and tasks they are"),
    )
}

/// Stdout belongs to the protocol; everything else goes to stderr.
pub(super) async fn run(config: Config, args: &ArgMatches) -> anyhow::Result<ExitCode> {
    telemetry::init("error");
    let owner = args.get_one::<String>("user").map_or(LOCAL_USER, String::as_str);
    let app = super::open_command(config).await?;
    let server = ToolServer { app: app.clone(), owner: Some(UserId::new(owner)) };
    let served = async {
        let running = server.serve(stdio()).await.context("the client did not begin as MCP clients do")?;
        running.waiting().await.context("the connection broke")
    };
    let ended = served.await;
    app.stop().await;
    ended.map(|_| ExitCode::SUCCESS)
}
