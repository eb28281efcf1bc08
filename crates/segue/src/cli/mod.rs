//! The command line: one file per command, and the settings that every command takes as flags.

mod backup;
mod chat;
mod choose_model;
mod doctor;
mod export;
mod import;
mod ingest;
mod library;
mod mcp;
mod sample;
mod screen;
mod search;
mod serve;
mod terminal;
mod token;
mod user;
mod user_arg;

use std::{collections::HashMap, ffi::OsString, process::ExitCode, sync::Arc};

use app::{
    App,
    config::{Config, SETTINGS, flag_of},
};
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use engine::UserId;

use self::user_arg::UserArg;

#[derive(Parser)]
#[command(
    name = "segue",
    version,
    about = "A self-hosted chat-agent server: talk about your music, keep your to-do list",
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    action: Action,
}

/// The commands, in the order of the help.
#[derive(Subcommand)]
enum Action {
    Serve(serve::Args),
    Chat(chat::Args),
    Search(search::Args),
    Import(import::Args),
    Ingest(ingest::Args),
    Library(library::Args),
    Sample(sample::Args),
    Doctor(doctor::Args),
    Export(export::Args),
    Backup(backup::BackupArgs),
    Restore(backup::RestoreArgs),
    Mcp(mcp::Args),
    User(user::Args),
    Token(token::Args),
}

/// The whole command. It is here and not in `main.rs`, because an `async fn` is compiled in every crate that awaits it.
pub fn main() -> ExitCode {
    // Before the first thread starts.
    crate::memory::give_back();
    let runtime = tokio::runtime::Runtime::new().expect("the system has threads and sockets");
    let code = runtime.block_on(run(std::env::args_os()));
    // The runtime is not dropped: that would wait for a running embedding, and a supervisor would kill the process.
    // Unfinished work is repeated at the next start.
    runtime.shutdown_background();
    code
}

/// Runs a command. The exit code is 0 on success, 1 on failure, 2 on bad usage.
async fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed =
        command().try_get_matches_from(args).and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // clap chooses the stream: help goes to stdout, mistakes go to stderr.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let config = match Config::load(flags(innermost(&matches))) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("segue: {error}");
            return ExitCode::from(2);
        }
    };
    if let Some(ignored) = &config.ignored_file {
        eprintln!("segue: {ignored}");
    }
    cli.action.run(config).await.unwrap_or_else(|error| {
        eprintln!("segue: {error:#}");
        ExitCode::FAILURE
    })
}

impl Action {
    async fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        match self {
            Action::Serve(_) => serve::run(config).await,
            Action::Chat(args) => chat::run(config, args).await,
            Action::Search(args) => search::run(config, args).await,
            Action::Import(args) => import::run(config, &args).await,
            Action::Ingest(args) => ingest::run(config, &args).await,
            Action::Library(args) => library::run(config, args).await,
            Action::Sample(args) => sample::run(config, args).await,
            Action::Doctor(args) => doctor::run(config, args).await,
            Action::Export(args) => export::run(config, args).await,
            Action::Backup(args) => backup::back_up(config, args).await,
            Action::Restore(args) => backup::restore(config, args).await,
            Action::Mcp(args) => mcp::run(config, args).await,
            Action::User(args) => user::run(config, args).await,
            Action::Token(args) => token::run(config, args).await,
        }
    }
}

fn command() -> Command {
    Cli::command().mut_subcommands(with_settings)
}

/// Adds every setting as a flag, to a command or to the commands below it. `segue serve --help` lists them with the
/// names of their variables.
fn with_settings(command: Command) -> Command {
    if command.has_subcommands() {
        return command.mut_subcommands(with_settings);
    }
    let is_server = command.get_name() == "serve";
    command.args(SETTINGS.iter().map(|setting| {
        let default =
            if setting.default.is_empty() { String::new() } else { format!(" [default: {}]", setting.default) };
        Arg::new(setting.name)
            .long(flag_of(setting.name))
            .value_name("VALUE")
            .help(format!("{}{default} [env: {}]", setting.help, setting.name))
            .help_heading("Settings")
            .hide(!is_server)
    }))
}

fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, below)| innermost(below))
}

fn flags(args: &ArgMatches) -> HashMap<&'static str, String> {
    let given = SETTINGS.iter().filter_map(|setting| {
        let value = args.try_get_one::<String>(setting.name).ok()??;
        Some((setting.name, value.clone()))
    });
    given.collect()
}

/// Starts the application for one command in the terminal. It takes over no turns of dead servers: servers do that.
async fn open_command(config: Config) -> anyhow::Result<Arc<App>> {
    open(Config { takes_turns: false, ..config }).await
}

/// The same for a command that works for one user. It stops the application if that user is unknown.
async fn open_for(config: Config, user: &UserArg) -> anyhow::Result<(Arc<App>, UserId)> {
    let app = open_command(config).await?;
    match user.id(app.config.auth, app.accounts()).await {
        Ok(owner) => Ok((app, owner)),
        Err(error) => {
            app.stop().await;
            Err(error)
        }
    }
}

async fn open(config: Config) -> anyhow::Result<Arc<App>> {
    let model = app::models::choose(&config).await?;
    // The future is boxed, because it is large: it contains every service while it is built.
    Box::pin(App::start(config, model)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap checks its own declarations only when a command is used.
    #[test]
    fn every_command_has_a_valid_declaration() {
        command().debug_assert();
    }

    #[test]
    fn a_setting_is_a_flag_of_commands_of_any_depth() {
        for args in [["segue", "ingest", "--log", "debug"].as_slice(), &["segue", "user", "list", "--log", "debug"]] {
            let matches = command().try_get_matches_from(args).unwrap();
            assert_eq!(flags(innermost(&matches)).get("SEGUE_LOG").map(String::as_str), Some("debug"), "{args:?}");
        }
    }
}
