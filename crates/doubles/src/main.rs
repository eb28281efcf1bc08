//! `doubles`: serves the doubles on given ports and prints the settings that make Segue use them.

use std::{io::Write, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use axum::Router;
use clap::{Arg, ArgAction, Command, value_parser};
use doubles::{
    fiction, sample,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use tokio::net::TcpListener;

fn command() -> Command {
    Command::new("doubles")
        .about("Local doubles of the services Segue asks, for a demo without keys or a network")
        .arg(
            Arg::new("tidal")
                .long("tidal")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:9101")
                .value_parser(value_parser!(SocketAddr))
                .help("Where the Tidal double listens"),
        )
        .arg(
            Arg::new("sample")
                .long("sample")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("The sample library; its tracks join the catalogue"),
        )
        .arg(
            Arg::new("strict-rate")
                .long("strict-rate")
                .action(ArgAction::SetTrue)
                .help("Enforce Tidal's measured rate limit: two quick calls, then one in five seconds"),
        )
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = command().get_matches();
    let mut world = fiction::world();
    if let Some(folder) = options.get_one::<PathBuf>("sample") {
        sample::add_to(&mut world, folder)?;
    }
    let limits = if options.get_flag("strict-rate") { Limits::MEASURED } else { Limits::GENEROUS };
    let tidal = TidalDouble::new(world, limits);

    let (listener, addr) = listen(*options.get_one("tidal").expect("it has a default")).await?;
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
