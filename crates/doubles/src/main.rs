//! `doubles`: serves the doubles on given ports and prints the settings that make Segue use them.

use std::{io::Write, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use axum::Router;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use doubles::{
    deezer::DeezerDouble,
    fiction,
    lrclib::LrclibDouble,
    model::{Family, ModelDouble, Script, parse_script},
    musicbrainz::MusicBrainzDouble,
    otlp::OtlpDouble,
    reccobeats::ReccoBeatsDouble,
    sample,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
    world::World,
};
use tokio::net::TcpListener;

fn command() -> Command {
    Command::new("doubles")
        .about("Local doubles of the services that Segue calls, for a demo without API keys or network")
        .arg(
            Arg::new("tidal")
                .long("tidal")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:9101")
                .value_parser(value_parser!(SocketAddr))
                .help("Address of the Tidal double"),
        )
        .arg(
            Arg::new("sources")
                .long("sources")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:9102")
                .value_parser(value_parser!(SocketAddr))
                .help("Address of LRCLIB, ReccoBeats, MusicBrainz and Deezer"),
        )
        .arg(
            Arg::new("sample")
                .long("sample")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Folder of the sample library; its tracks are added to the catalogue"),
        )
        .arg(
            Arg::new("strict-rate").long("strict-rate").action(ArgAction::SetTrue).help(
                "Enforce the limits of the real services: Tidal: one call in 5 s; MusicBrainz: one call per second",
            ),
        )
        .subcommand(model_command())
        .subcommand(otlp_command())
}

fn listen_argument(default: &'static str) -> Arg {
    let address = Arg::new("listen").long("listen").value_name("ADDRESS").default_value(default);
    address.value_parser(value_parser!(SocketAddr)).help("Address to listen on")
}

fn otlp_command() -> Command {
    let about = "A double of a trace collector; GET /spans returns the spans that it received";
    Command::new("otlp").about(about).arg(listen_argument("127.0.0.1:9104"))
}

async fn serve_otlp(options: &ArgMatches) -> anyhow::Result<()> {
    let (listener, addr) = listen(*options.get_one("listen").context("an address")?).await?;
    writeln!(std::io::stdout(), "export OTEL_EXPORTER_OTLP_ENDPOINT=http://{addr}")?;
    serve(listener, OtlpDouble::default().router()).await
}

fn model_command() -> Command {
    let families = Family::ALL.map(|(name, _)| name);
    Command::new("model")
        .about("A double of one model server that plays a script")
        .arg(Arg::new("family").long("family").required(true).value_parser(families).help("Model server to imitate"))
        .arg(
            Arg::new("script")
                .long("script")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Script of replies: a JSON file with a list of steps, or with scenarios"),
        )
        .arg(listen_argument("127.0.0.1:9103"))
        .arg(Arg::new("name").long("name").default_value("double").help("Name of the model"))
        .arg(
            Arg::new("context")
                .long("context")
                .value_name("TOKENS")
                .default_value("4096")
                .value_parser(value_parser!(usize))
                .help("Size of the context; a longer prompt is refused as the model server refuses it"),
        )
}

async fn serve_model(options: &ArgMatches) -> anyhow::Result<()> {
    let wanted = options.get_one::<String>("family").context("a family")?;
    let (_, family) = Family::ALL.into_iter().find(|(name, _)| name == wanted).context("an unknown family")?;
    let context: usize = *options.get_one("context").context("a size")?;
    let double = ModelDouble::new(family, options.get_one::<String>("name").context("a name")?).context(context, 4.0);
    if let Some(file) = options.get_one::<PathBuf>("script") {
        let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        match parse_script(&text).with_context(|| format!("{} is not a script", file.display()))? {
            Script::Steps(steps) => double.play(steps),
            Script::Scenarios(scenarios) => double.play_scenarios(scenarios),
        }
    }
    let (listener, addr) = listen(*options.get_one("listen").context("an address")?).await?;
    let variable = if family == Family::Anthropic { "ANTHROPIC_BASE_URL=http://" } else { "OPENAI_BASE_URL=http://" };
    let path = if family == Family::Anthropic { "" } else { "/v1" };
    writeln!(std::io::stdout(), "export {variable}{addr}{path}")?;
    serve(listener, double.router()).await
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = command().get_matches();
    match options.subcommand() {
        Some(("model", options)) => return serve_model(options).await,
        Some(("otlp", options)) => return serve_otlp(options).await,
        _ => {}
    }
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

/// The four sources that need no key, in one router.
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
