//! Hot paths of a turn and of a search, each run a number of times. `tools/bench-check` counts their instructions.
//!
//! `hot-paths PATH TIMES`

mod library;
mod search;
mod turn;

use anyhow::Context;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // The first to choose a provider chooses for all; there is no other here.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(times)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: hot-paths PATH TIMES");
    };
    let times: u32 = times.parse().with_context(|| format!("'{times}' is not a number"))?;
    match path.as_str() {
        "encode" => turn::encode(times),
        "decode" => turn::decode(times),
        "fold" => turn::fold(times),
        "append" => turn::append(times).await,
        "journal" => turn::journal(times).await,
        "unfold" => turn::unfold(times),
        "fusion" => search::fusion(times),
        "search" => search::search(times, ::search::Scope::Everything).await,
        "scope" => search::search(times, ::search::Scope::of(search::READER, true, false)).await,
        other => anyhow::bail!("no hot path is called '{other}'"),
    }
}
