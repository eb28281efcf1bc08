//! `segue doctor`: one line for each part, what is wrong and how to mend it.

use std::process::ExitCode;

use anyhow::Context;
use app::Tidal;
use app::{
    config::Config,
    mcp_client::{self, OutsideServer},
    models::{Kept, Selected},
    services::admin::Admin,
};
use serde::Serialize;

use super::terminal::shown;
use crate::telemetry;

/// Check every part, one line each: what is wrong and how to mend it
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// What the doctor says of one part.
#[derive(Serialize)]
struct Finding {
    part: &'static str,
    well: bool,
    says: String,
}

fn well(part: &'static str, says: impl Into<String>) -> Finding {
    Finding { part, well: true, says: says.into() }
}

fn ill(part: &'static str, says: impl Into<String>) -> Finding {
    Finding { part, well: false, says: says.into() }
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("off");
    let mut findings = vec![data_dir(&config), database(&config).await];
    findings.extend(index(&config).await);
    findings.extend(model(&config).await);
    findings.extend([tidal(&config).await, tracing(&config).await]);
    for server in &config.mcp {
        findings.push(outside_server(server).await);
    }
    let hidden = hidden_texts(&config);
    for finding in &mut findings {
        finding.says = shown(&without(&hidden, &finding.says));
    }
    print(&findings, args.json)?;
    Ok(if findings.iter().all(|finding| finding.well) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What must not be printed, with what stands for it: addresses hold passwords, in front of the host and behind the path.
fn hidden_texts(config: &Config) -> Vec<(String, String)> {
    let mut addresses = vec![
        config.database_url.clone(),
        config.anthropic.url.clone(),
        config.openai.url.clone(),
        config.tidal.api_url.clone(),
        config.tidal.auth_url.clone(),
    ];
    addresses.extend(config.qdrant.iter().map(|qdrant| qdrant.url.clone()));
    addresses.extend(config.embeddings.iter().map(|embeddings| embeddings.url.clone()));
    addresses.extend(config.traces.iter().map(|traces| traces.url.clone()));
    addresses.extend(config.mcp.iter().filter_map(|server| server.url.clone()));
    let mut hidden = Vec::new();
    for address in addresses {
        let Ok(url) = address.parse::<reqwest::Url>() else { continue };
        let Some(host) = url.host_str() else { continue };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let plain = format!("{}://{host}{port}{}", url.scheme(), url.path().trim_end_matches('/'));
        if plain != address {
            hidden.extend([(url.to_string(), plain.clone()), (address, plain)]);
        }
        let secrets = url.password().into_iter().chain(url.query());
        hidden.extend(secrets.filter(|secret| !secret.is_empty()).map(|secret| (secret.to_owned(), "…".to_owned())));
    }
    hidden
}

fn without(hidden: &[(String, String)], text: &str) -> String {
    hidden.iter().fold(text.to_owned(), |text, (secret, instead)| text.replace(secret, instead))
}

#[expect(clippy::print_stdout, reason = "results belong on stdout")]
fn print(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({"findings": findings}))?);
        return Ok(());
    }
    for Finding { part, well, says } in findings {
        println!("{} {part:<10} {says}", if *well { "✓" } else { "✗" });
    }
    Ok(())
}

fn data_dir(config: &Config) -> Finding {
    let path = config.data_dir.display();
    match std::fs::create_dir_all(&config.data_dir).and_then(|()| tempfile_in(&config.data_dir)) {
        Ok(()) => well("data", format!("{path} can be written")),
        Err(error) => {
            ill("data", format!("{path} cannot be written ({error}); set SEGUE_DATA_DIR to a folder of yours"))
        }
    }
}

fn tempfile_in(folder: &std::path::Path) -> std::io::Result<()> {
    let file = folder.join(".doctor");
    std::fs::write(&file, b"")?;
    std::fs::remove_file(file)
}

async fn database(config: &Config) -> Finding {
    let admin = match Admin::open(config).await {
        Ok(admin) => admin,
        Err(error) => return ill("database", format!("{error}; check DATABASE_URL and that the server is up")),
    };
    let finding = match admin.ping().await {
        Ok(()) => well("database", format!("{} answers, schema up to date", admin.database_kind())),
        Err(error) => ill("database", error.to_string()),
    };
    admin.close().await;
    finding
}

/// The index and the embedder that feeds it.
async fn index(config: &Config) -> [Finding; 2] {
    let status = match index_status(config).await {
        Ok(status) => status,
        Err(error) => {
            let how = "check QDRANT_URL and SEGUE_EMBEDDINGS_URL, or unset them for what is built in";
            return [ill("index", format!("{error:#}; {how}")), ill("embedder", "cannot be told without the index")];
        }
    };
    let embedder = if status.has_better_embedder {
        status.embedder
    } else {
        format!("{} (in the binary; `make models` fetches a better one)", status.embedder)
    };
    [well("index", format!("{}, {} tracks", status.engine, status.tracks)), well("embedder", embedder)]
}

async fn index_status(config: &Config) -> anyhow::Result<app::IndexOf> {
    let admin = Admin::open(config).await.context("cannot be told without the database")?;
    let status = admin.index_status(config).await;
    admin.close().await;
    status
}

async fn tidal(config: &Config) -> Finding {
    let tidal = match Tidal::new(&config.tidal) {
        Ok(tidal) if !tidal.is_configured() => {
            return well("tidal", "off; set TIDAL_CLIENT_ID and TIDAL_CLIENT_SECRET for the catalogue");
        }
        Ok(tidal) => tidal,
        Err(error) => return ill("tidal", format!("{error:#}")),
    };
    match tidal.search_tracks("hello", 1).await {
        Ok(_) => well("tidal", format!("answers, catalogue of {}", config.tidal.country)),
        Err(error) => ill("tidal", format!("{error}; check the credentials and TIDAL_API_URL")),
    }
}

async fn outside_server(server: &OutsideServer) -> Finding {
    let name = &server.name;
    match mcp_client::n_offered(server).await {
        Ok(0) => ill("mcp", format!("{name} answers, but offers nothing that is allowed; see `tools` in [mcp.{name}]")),
        Ok(n_tools) => well("mcp", format!("{name} offers {n_tools} tools")),
        Err(error) => ill("mcp", format!("{name}: {error:#}; check [mcp.{name}] in segue.toml and that it runs")),
    }
}

async fn tracing(config: &Config) -> Finding {
    match app::observe::check_collector(config).await {
        None => well("tracing", "off; set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY, or OTEL_EXPORTER_OTLP_ENDPOINT"),
        Some(Ok(url)) => well("tracing", format!("{url} takes spans")),
        Some(Err(error)) => ill("tracing", format!("{error:#}; check the address and the keys")),
    }
}

/// The model, really asked; and servers of this machine that could answer.
async fn model(config: &Config) -> Vec<Finding> {
    let chosen = match app::models::choose_probed(config).await {
        Ok(chosen) => chosen,
        Err(error) => return vec![ill("model", format!("{error:#}"))],
    };
    let kept = Kept::open(&config.data_dir);
    let first = match chosen.probe().await {
        None => {
            let hint = "set OPENAI_BASE_URL, OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one";
            match kept.selected().filter(|_| !config.is_model_set) {
                Some(Selected { server, model }) => {
                    well("model", format!("{model} of {server}, chosen by the operator"))
                }
                None => well("model", format!("offline (built in, no network; {hint})")),
            }
        }
        Some(Ok(found)) => match chosen.server().map_or(Ok(()), |server| kept.keep(server, &found)) {
            Ok(()) => well("model", found.to_string()),
            Err(error) => ill("model", format!("{found}; but it cannot be kept: {error}")),
        },
        Some(Err(error)) => ill("model", format!("{} {error}", error.for_user())),
    };
    let mut findings = vec![first];
    if !config.is_model_set {
        findings
            .extend(app::models::servers(config).await.iter().map(|found| well("server", app::models::said_of(found))));
    }
    findings
}
