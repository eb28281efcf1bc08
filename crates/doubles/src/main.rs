//! `doubles`: serves the doubles on given ports and prints the settings that make Segue use them.

use std::{io::Write, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use axum::Router;
use clap::Parser;
use doubles::{
    fiction, sample,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use tokio::net::TcpListener;

/// Local doubles of the services Segue asks, for a demo without keys or a network.
#[derive(Parser)]
struct Options {
    /// Where the Tidal double listens.
    #[arg(long, default_value = "127.0.0.1:9101")]
    tidal: SocketAddr,
    /// Folder of the sample library; its tracks join the catalogue.
    #[arg(long)]
    sample: Option<PathBuf>,
    /// Enforce Tidal's measured rate limit: two quick calls, then one in five seconds.
    #[arg(long)]
    strict_rate: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut world = fiction::world();
    if let Some(folder) = &options.sample {
        sample::add_to(&mut world, folder)?;
    }
    let limits = if options.strict_rate { Limits::MEASURED } else { Limits::GENEROUS };
    let tidal = TidalDouble::new(world, limits);

    let (listener, addr) = listen(options.tidal).await?;
    let mut out = std::io::stdout();
    writeln!(out, "export TIDAL_CLIENT_ID={CLIENT_ID} TIDAL_CLIENT_SECRET={CLIENT_SECRET}")?;
    writeln!(out, "export TIDAL_API_URL=http://{addr}/v2 TIDAL_AUTH_URL=http://{addr}/v1")?;
    out.flush()?;

    tokio::select! {
        served = serve(listener, tidal.router()) => served,
        stop = tokio::signal::ctrl_c() => Ok(stop?),
    }
}

async fn listen(addr: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    let addr = listener.local_addr()?;
    Ok((listener, addr))
}

async fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    Ok(axum::serve(listener, router).await?)
}
