//! `segue doctor`: checks every part and prints one line each, with the problem and its fix.

use std::process::ExitCode;

use anyhow::Context;
use app::Tidal;
use app::{
    config::Config,
    mcp_client::{self, McpServer},
    models::{Chosen, ChosenBy, Kept},
    services::admin::Admin,
};
use serde::Serialize;

use super::terminal::shown;
use crate::telemetry;

/// Check every part and print one line each: what is wrong and how to fix it
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The result of the check of one part.
#[derive(Serialize)]
struct Finding {
    part: &'static str,
    well: bool,
    says: String,
}

fn good(part: &'static str, says: impl Into<String>) -> Finding {
    Finding { part, well: true, says: says.into() }
}

fn bad(part: &'static str, says: impl Into<String>) -> Finding {
    Finding { part, well: false, says: says.into() }
}

pub(super) async fn run(config: Config, args: Args) -> anyhow::Result<ExitCode> {
    telemetry::init("off");
    let mut findings = vec![data_dir(&config), database(&config).await];
    findings.extend(index(&config).await);
    findings.extend(models(&config).await);
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

/// The texts that must not be printed, each with its replacement. URLs may contain passwords before the host and keys in
/// the query.
fn hidden_texts(config: &Config) -> Vec<(String, String)> {
    let mut addresses = vec![config.database_url.clone(), config.tidal.api_url.clone(), config.tidal.auth_url.clone()];
    addresses.extend(config.providers.iter().map(|provider| provider.url.clone()));
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
        Ok(()) => good("data", format!("{path} can be written")),
        Err(error) => {
            bad("data", format!("{path} cannot be written ({error}); set SEGUE_DATA_DIR to a writable folder"))
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
        Err(error) => return bad("database", format!("{error}; check DATABASE_URL and that the database server runs")),
    };
    let finding = match admin.ping().await {
        Ok(()) => good("database", format!("{} answers, schema up to date", admin.database_kind())),
        Err(error) => bad("database", error.to_string()),
    };
    admin.close().await;
    finding
}

/// The index and its embedder.
async fn index(config: &Config) -> [Finding; 2] {
    let status = match index_status(config).await {
        Ok(status) => status,
        Err(error) => {
            let error = format!("{error:#}");
            return [
                bad("index", format!("{error}{}", index_hint(config, &error))),
                bad("embedder", "not checked, because the index cannot be opened"),
            ];
        }
    };
    let embedder = if status.has_better_embedder {
        status.embedder
    } else {
        format!("{} (in the binary; `make models` fetches a better one)", status.embedder)
    };
    [good("index", format!("{}, {} tracks", status.engine, status.tracks)), good("embedder", embedder)]
}

/// What to do about the index, unless the error says it. Settings that are not used are not named.
fn index_hint(config: &Config, error: &str) -> &'static str {
    if error.starts_with("SEGUE_EMBEDDINGS_URL") {
        "; check it, or unset it to use the built-in embedder"
    } else if config.qdrant.is_none() || error.contains("QDRANT_API_KEY") || error.contains("in QDRANT_URL") {
        ""
    } else {
        "; check QDRANT_URL, or unset it to use the built-in index"
    }
}

async fn index_status(config: &Config) -> anyhow::Result<app::IndexOf> {
    let admin = Admin::open(config).await.context("not checked, because the database cannot be opened")?;
    let status = admin.index_status(config).await;
    admin.close().await;
    status
}

async fn tidal(config: &Config) -> Finding {
    let tidal = match Tidal::new(&config.tidal) {
        Ok(tidal) if !tidal.is_configured() => {
            return good("tidal", "off; set TIDAL_CLIENT_ID and TIDAL_CLIENT_SECRET to search the catalogue");
        }
        Ok(tidal) => tidal,
        Err(error) => return bad("tidal", format!("{error:#}")),
    };
    match tidal.search_tracks("hello", 1).await {
        Ok(_) => good("tidal", format!("answers, catalogue of {}", config.tidal.country)),
        Err(error) => bad("tidal", format!("{error}; check the credentials and TIDAL_API_URL")),
    }
}

async fn outside_server(server: &McpServer) -> Finding {
    let name = &server.name;
    match mcp_client::n_offered(server).await {
        Ok(0) => bad("mcp", format!("{name} answers, but offers no allowed tool; see `tools` in [mcp.{name}]")),
        Ok(n_tools) => good("mcp", format!("{name} offers {n_tools} tools")),
        Err(error) => {
            bad("mcp", format!("{name}: {error:#}; check [mcp.{name}] in segue.toml and that the server runs"))
        }
    }
}

async fn tracing(config: &Config) -> Finding {
    match app::observe::check_collector(config).await {
        None => good("tracing", "off; set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY, or OTEL_EXPORTER_OTLP_ENDPOINT"),
        Some(Ok(url)) => good("tracing", format!("{url} accepts spans")),
        Some(Err(error)) => bad("tracing", format!("{error:#}; check the address and the keys")),
    }
}

/// Sends a request to every model of the settings, and lists the model servers on this machine.
async fn models(config: &Config) -> Vec<Finding> {
    let mut findings = vec![model_in_use(config).await];
    for (name, chosen) in app::models::others(config) {
        findings.push(match chosen {
            Ok(chosen) => probed(config, &chosen, &format!("{name}: "), "").await,
            Err(error) => bad("model", format!("{name}: {error:#}")),
        });
    }
    if !config.is_model_set {
        findings
            .extend(app::models::servers(config).await.iter().map(|found| good("server", app::models::said_of(found))));
    }
    findings
}

/// The model that answers: of a setting, of the operator's choice, or of the settings page.
async fn model_in_use(config: &Config) -> Finding {
    let chosen = async {
        if config.is_model_set {
            return Ok((app::models::choose_probed(config).await?, ChosenBy::Settings));
        }
        let admin = Admin::open(config).await.context("not checked, because the database cannot be opened")?;
        let chosen = admin.model_in_use(config).await;
        admin.close().await;
        chosen
    };
    let (chosen, by) = match chosen.await {
        Ok(found) => found,
        Err(error) => return bad("model", format!("{error:#}")),
    };
    let by = match by {
        ChosenBy::Operator => " (chosen by the operator)",
        ChosenBy::Connection => " (connected on the settings page)",
        ChosenBy::Settings | ChosenBy::Default => "",
    };
    probed(config, &chosen, "", by).await
}

/// Sends one small request and saves what it shows.
async fn probed(config: &Config, chosen: &Chosen, name: &str, by: &str) -> Finding {
    let found = match chosen.probe().await {
        None => {
            let hint = format!("set {} for a real one", app::models::settings_for_a_model());
            return good("model", format!("{name}offline (built in, no network; {hint})"));
        }
        Some(Ok(found)) => found,
        Some(Err(error)) => return bad("model", format!("{name}{} {error}{by}", error.for_user())),
    };
    let kept = Kept::open(&config.data_dir);
    match chosen.server().map_or(Ok(()), |server| kept.keep(server, &found)) {
        Ok(()) => good("model", format!("{name}{found}{by}")),
        Err(error) => bad("model", format!("{name}{found}{by}; but the result cannot be saved: {error}")),
    }
}
