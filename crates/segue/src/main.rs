//! The `segue` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("the system has threads and sockets");
    let code = runtime.block_on(segue::cli::run(std::env::args_os()));
    // Not dropped: that would wait for an embedding under way, and whoever asked us to leave would kill us. What is not
    // finished is done again at the next start.
    runtime.shutdown_background();
    code
}
