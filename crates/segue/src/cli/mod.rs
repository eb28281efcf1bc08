//! The terminal: one file per command, and the settings every command understands.

mod acting_user;
mod backup;
mod chat;
mod doctor;
mod export;
mod import;
mod ingest;
mod library;
mod mcp;
mod sample;
mod search;
mod serve;
mod terminal;
mod token;
mod user;

use std::{collections::HashMap, ffi::OsString, process::ExitCode, sync::Arc};

use app::{
    App,
    config::{Config, SETTINGS, flag_of},
};
use clap::{Arg, ArgMatches, Command};

/// Runs a command. 0 on success, 1 on failure, 2 on bad usage.
pub async fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            // clap knows where its own message belongs: help on stdout, mistakes on stderr.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let Some((name, args)) = matches.subcommand() else { return ExitCode::from(2) };
    // The settings of `segue user add` are on `add`.
    let innermost = args.subcommand().map_or(args, |(_, args)| args);
    let config = match Config::load(flags(innermost)) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("segue: {error}");
            return ExitCode::from(2);
        }
    };
    if let Some(ignored) = &config.ignored_file {
        eprintln!("segue: {ignored}");
    }
    let result = match name {
        "serve" => serve::run(config).await,
        "chat" => chat::run(config, args).await,
        "doctor" => doctor::run(config, args).await,
        "import" => import::run(config, args).await,
        "ingest" => ingest::run(config, args).await,
        "library" => library::run(config, args).await,
        "sample" => sample::run(config, args).await,
        "search" => search::run(config, args).await,
        "backup" => backup::back_up(config, args).await,
        "restore" => backup::restore(config, args).await,
        "export" => export::run(config, args).await,
        "mcp" => mcp::run(config, args).await,
        "user" => user::run(config, args).await,
        "token" => token::run(config, args).await,
        _ => return ExitCode::from(2),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("segue: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    Command::new("segue")
        .about("A self-hosted chat-agent server: talk about your music, keep your to-do list")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(
            [
                serve::command(),
                chat::command(),
                search::command(),
                import::command(),
                ingest::command(),
                library::command(),
                sample::command(),
                doctor::command(),
                export::command(),
                backup::backup_command(),
                backup::restore_command(),
                mcp::command(),
                user::command(),
                token::command(),
            ]
            .map(with_settings),
        )
}

/// Every setting as a flag. The names of the variables are in the help, so it is the reference.
fn with_settings(command: Command) -> Command {
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

fn flags(args: &ArgMatches) -> HashMap<&'static str, String> {
    let given = SETTINGS.iter().filter_map(|setting| {
        let value = args.try_get_one::<String>(setting.name).ok()??;
        Some((setting.name, value.clone()))
    });
    given.collect()
}

/// Starts the application for one command in the terminal. It leaves turns of dead servers to servers.
async fn open_command(config: Config) -> anyhow::Result<Arc<App>> {
    open(Config { takes_turns: false, ..config }).await
}

async fn open(config: Config) -> anyhow::Result<Arc<App>> {
    let model = app::models::choose(&config).await?;
    App::start(config, model).await
}
