//! Logging: text on a terminal, JSON otherwise.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Logs go to stderr; stdout is for results.
pub(crate) fn init(filter: &str) {
    // The MCP library logs every request, so its level is `warn` unless the filter names it.
    let filter = EnvFilter::try_new(format!("rmcp=warn,{filter}")).unwrap_or_else(|_| EnvFilter::new("info"));
    let registry = tracing_subscriber::registry().with(filter);
    // A second initialisation (several commands in one process, as in tests) keeps the first.
    let _ = if std::io::stderr().is_terminal() {
        registry.with(fmt::layer().with_writer(std::io::stderr).with_target(false).compact()).try_init()
    } else {
        registry.with(fmt::layer().with_writer(std::io::stderr).json()).try_init()
    };
}
