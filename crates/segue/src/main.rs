//! The `segue` command.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    segue::cli::run(std::env::args_os()).await
}
