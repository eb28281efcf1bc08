//! `doubles`: serves the doubles on given ports and prints the settings that make Segue use them.

use std::{io::Write, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use axum::Router;
use clap::{Arg, ArgAction, Command, value_parser};
use doubles::{
    deezer::DeezerDouble,
    fiction,
    lrclib::LrclibDouble,
    musicbrainz::MusicBrainzDouble,
    reccobeats::ReccoBeatsDouble,
    sample,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
    world::World,
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
            Arg::new("sources")
                .long("sources")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:9102")
                .value_parser(value_parser!(SocketAddr))
                .help("Where LRCLIB, ReccoBeats, MusicBrainz and Deezer listen"),
        )
        .arg(
            Arg::new("sample")
                .long("sample")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("The sample library; its tracks join the catalogue"),
        )
        .arg(Arg::new("strict-rate").long("strict-rate").action(ArgAction::SetTrue).help(
            "Enforce the limits of the real services: Tidal's one call in five seconds, MusicBrainz' one a second",
        ))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = command().get_matches();
    let mut world = fiction::world();
    if let Some(folder) = options.get_one::<PathBuf>("sample") {
        sample::add_to(&mut world, folder)?;
    }
    let is_strict = options.get_flag("strict-rate");
    let sources = sources(&world, is_strict);
    let tidal = TidalDouble::new(world, if is_strict { Limits::MEASURED } else { Limits::GENEROUS });

    let (tidal_listener, tidal_addr) = listen(*options.get_one("tidal").expect("it has a default")).await?;
    let (sources_listener, addr) = listen(*options.get_one("sources").expect("it has a default")).await?;
    let mut out = std::io::stdout();
    writeln!(out, "export TIDAL_CLIENT_ID={CLIENT_ID} TIDAL_CLIENT_SECRET={CLIENT_SECRET}")?;
    writeln!(out, "export TIDAL_API_URL=http://{tidal_addr}/v2 TIDAL_AUTH_URL=http://{tidal_addr}/v1")?;
    writeln!(out, "export LRCLIB_URL=http://{addr}/lrclib RECCOBEATS_URL=http://{addr}/reccobeats")?;
    writeln!(out, "export MUSICBRAINZ_URL=http://{addr}/musicbrainz DEEZER_URL=http://{addr}/deezer")?;
    out.flush()?;

    tokio::select! {
        served = serve(tidal_listener, tidal.router()) => served,
        served = serve(sources_listener, sources) => served,
        stop = tokio::signal::ctrl_c() => Ok(stop?),
    }
}

/// The four sources that need no key, side by side.
fn sources(world: &World, is_strict: bool) -> Router {
    let (musicbrainz, deezer) = match is_strict {
        true => (MusicBrainzDouble::strict(world.clone()), DeezerDouble::strict(world.clone())),
        false => (MusicBrainzDouble::generous(world.clone()), DeezerDouble::generous(world.clone())),
    };
    Router::new()
        .nest("/lrclib", LrclibDouble::new(world.clone()).router())
        .nest("/reccobeats", ReccoBeatsDouble::new(world.clone()).router())
        .nest("/musicbrainz", musicbrainz.router())
        .nest("/deezer", deezer.router())
}

async fn listen(addr: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    let addr = listener.local_addr()?;
    Ok((listener, addr))
}

async fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    Ok(axum::serve(listener, router).await?)
}
