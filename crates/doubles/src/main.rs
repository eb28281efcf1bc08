//! `doubles`: serves the doubles on given ports and prints the settings that make Segue use them.

use std::{io::Write, net::SocketAddr, path::PathBuf};

use anyhow::Context;
use axum::Router;
use clap::{Args, Parser, Subcommand, builder::PossibleValuesParser};
use doubles::{
    deezer::DeezerDouble,
    fiction,
    lrclib::LrclibDouble,
    model::{Family, ModelDouble},
    musicbrainz::MusicBrainzDouble,
    otlp::OtlpDouble,
    qdrant::QdrantDouble,
    reccobeats::ReccoBeatsDouble,
    sample,
    script::Script,
    state::ServiceState,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
    world::World,
};
use tokio::net::TcpListener;

/// Local doubles of the services that Segue calls, for tests and for a demo without API keys or network
///
/// Without a command: Tidal and the four sources that need no key. A command serves one service.
#[derive(Parser)]
#[command(name = "doubles")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Service>,
    /// Address of the Tidal double
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9101")]
    tidal: SocketAddr,
    /// Address of LRCLIB, ReccoBeats, MusicBrainz and Deezer
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9102")]
    sources: SocketAddr,
    #[command(flatten)]
    catalogue: Catalogue,
}

/// What the services know, and how often they answer.
#[derive(Args)]
struct Catalogue {
    /// Folder of the sample library; its tracks are added to the catalogue
    #[arg(long, global = true, value_name = "FOLDER")]
    sample: Option<PathBuf>,
    /// Enforce the limits of the real services: Tidal: one call in 5 s; MusicBrainz: one call per second
    #[arg(long, global = true)]
    strict_rate: bool,
}

#[derive(Subcommand)]
enum Service {
    /// A model server of one family that plays a script
    Model(Model),
    /// Tidal: the catalogue and the token service
    Tidal(Single),
    /// LRCLIB
    Lrclib(Single),
    /// ReccoBeats
    Reccobeats(Single),
    /// MusicBrainz
    Musicbrainz(Single),
    /// Deezer
    Deezer(Single),
    /// Qdrant
    Qdrant(Single),
    /// A trace collector; GET /spans returns the spans that it received
    Otlp(Single),
}

#[derive(Args)]
struct Single {
    /// Address to listen on; each service has its own by default, and port 0 is a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Script of replies and failures: a JSON file with a list of steps, or with scenarios (crates/doubles/README.md)
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

#[derive(Args)]
struct Model {
    #[command(flatten)]
    single: Single,
    /// Model server to imitate
    #[arg(long, value_parser = PossibleValuesParser::new(Family::ALL.map(|(name, _)| name)))]
    family: String,
    /// Name of the model
    #[arg(long, default_value = "double")]
    name: String,
    /// Size of the context; a longer prompt is refused as the model server refuses it
    #[arg(long, value_name = "TOKENS", default_value_t = 4096)]
    context: usize,
}

impl Single {
    /// The script, if it is one for a service that is not a model server.
    fn script(&self) -> anyhow::Result<Option<Script>> {
        let Some(file) = &self.script else { return Ok(None) };
        let script = Script::read(file)?.for_service();
        script.map(Some).with_context(|| format!("{} is not for this service", file.display()))
    }

    fn address(&self, port: u16) -> SocketAddr {
        self.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// Serves, and prints the settings for this address.
    async fn serve(&self, port: u16, settings: impl FnOnce(&str) -> String, router: Router) -> anyhow::Result<()> {
        let (listener, addr) = listen(self.address(port)).await?;
        print(&settings(&format!("http://{addr}")))?;
        serve(listener, router).await
    }

    async fn serve_source(&self, port: u16, setting: &str, state: ServiceState, router: Router) -> anyhow::Result<()> {
        if let Some(script) = self.script()? {
            state.play_script(script);
        }
        self.serve(port, |url| format!("{setting}={url}"), router).await
    }
}

impl Catalogue {
    fn world(&self) -> anyhow::Result<World> {
        let mut world = fiction::world();
        if let Some(folder) = &self.sample {
            sample::add_to(&mut world, folder)?;
        }
        Ok(world)
    }

    fn tidal(&self, world: World) -> TidalDouble {
        TidalDouble::new(world, if self.strict_rate { Limits::MEASURED } else { Limits::GENEROUS })
    }

    fn musicbrainz(&self, world: World) -> MusicBrainzDouble {
        if self.strict_rate { MusicBrainzDouble::strict(world) } else { MusicBrainzDouble::generous(world) }
    }

    fn deezer(&self, world: World) -> DeezerDouble {
        if self.strict_rate { DeezerDouble::strict(world) } else { DeezerDouble::generous(world) }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let serving = async {
        match &arguments.command {
            Some(service) => serve_one(service, &arguments.catalogue).await,
            None => serve_all(&arguments).await,
        }
    };
    tokio::select! {
        served = serving => served,
        stop = tokio::signal::ctrl_c() => Ok(stop?),
    }
}

async fn serve_one(service: &Service, catalogue: &Catalogue) -> anyhow::Result<()> {
    match service {
        Service::Model(model) => serve_model(model).await,
        Service::Tidal(single) => {
            let double = catalogue.tidal(catalogue.world()?);
            if let Some(script) = single.script()? {
                double.play_script(script);
            }
            single.serve(9101, tidal_settings, double.router()).await
        }
        Service::Lrclib(single) => {
            let double = LrclibDouble::new(catalogue.world()?);
            single.serve_source(9105, "LRCLIB_URL", double.0.clone(), double.router()).await
        }
        Service::Reccobeats(single) => {
            let double = ReccoBeatsDouble::new(catalogue.world()?);
            single.serve_source(9106, "RECCOBEATS_URL", double.0.clone(), double.router()).await
        }
        Service::Musicbrainz(single) => {
            let double = catalogue.musicbrainz(catalogue.world()?);
            single.serve_source(9107, "MUSICBRAINZ_URL", double.0.clone(), double.router()).await
        }
        Service::Deezer(single) => {
            let double = catalogue.deezer(catalogue.world()?);
            single.serve_source(9108, "DEEZER_URL", double.0.clone(), double.router()).await
        }
        Service::Qdrant(single) => serve_qdrant(single).await,
        Service::Otlp(single) => {
            let double = OtlpDouble::default();
            if let Some(script) = single.script()? {
                double.play_script(script);
            }
            single.serve(9104, |url| format!("OTEL_EXPORTER_OTLP_ENDPOINT={url}"), double.router()).await
        }
    }
}

async fn serve_model(model: &Model) -> anyhow::Result<()> {
    let known = Family::ALL.into_iter().find(|(name, _)| *name == model.family);
    let (_, family) = known.context("an unknown family")?;
    let double = ModelDouble::new(family, &model.name).context(model.context, 4.0);
    if let Some(file) = &model.single.script {
        double.play_script(Script::read(file)?.for_model()?);
    }
    let settings = |url: &str| match family {
        Family::Anthropic => format!("ANTHROPIC_BASE_URL={url}"),
        _ => format!("OPENAI_BASE_URL={url}/v1"),
    };
    model.single.serve(9103, settings, double.router()).await
}

async fn serve_qdrant(single: &Single) -> anyhow::Result<()> {
    let script = single.script()?;
    let double = QdrantDouble::start_at(single.address(9109)).await?;
    if let Some(script) = script {
        double.play_script(script);
    }
    print(&format!("QDRANT_URL={}", double.url))?;
    std::future::pending().await
}

async fn serve_all(arguments: &Arguments) -> anyhow::Result<()> {
    let (catalogue, world) = (&arguments.catalogue, arguments.catalogue.world()?);
    let sources = Router::new()
        .nest("/lrclib", LrclibDouble::new(world.clone()).router())
        .nest("/reccobeats", ReccoBeatsDouble::new(world.clone()).router())
        .nest("/musicbrainz", catalogue.musicbrainz(world.clone()).router())
        .nest("/deezer", catalogue.deezer(world.clone()).router());
    let tidal = catalogue.tidal(world);
    let (tidal_listener, tidal_addr) = listen(arguments.tidal).await?;
    let (sources_listener, addr) = listen(arguments.sources).await?;
    print(&tidal_settings(&format!("http://{tidal_addr}")))?;
    print(&format!("LRCLIB_URL=http://{addr}/lrclib RECCOBEATS_URL=http://{addr}/reccobeats"))?;
    print(&format!("MUSICBRAINZ_URL=http://{addr}/musicbrainz DEEZER_URL=http://{addr}/deezer"))?;
    tokio::select! {
        served = serve(tidal_listener, tidal.router()) => served,
        served = serve(sources_listener, sources) => served,
    }
}

fn tidal_settings(url: &str) -> String {
    format!(
        "TIDAL_CLIENT_ID={CLIENT_ID} TIDAL_CLIENT_SECRET={CLIENT_SECRET}\n\
         export TIDAL_API_URL={url}/v2 TIDAL_AUTH_URL={url}/v1"
    )
}

fn print(settings: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "export {settings}")?;
    out.flush()
}

async fn listen(addr: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    let addr = listener.local_addr()?;
    Ok((listener, addr))
}

async fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    Ok(axum::serve(listener, router).await?)
}
