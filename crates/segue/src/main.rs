//! The `segue` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("the system has threads and sockets");
    let code = runtime.block_on(segue::cli::run(std::env::args_os()));
    // The runtime is not dropped: that would wait for a running embedding, and a supervisor would kill the process.
    // Unfinished work is repeated at the next start.
    runtime.shutdown_background();
    code
}
