//! The current user, and what this server consists of.

use std::sync::Arc;

use aide::axum::routing::get_with;
use app::{agents::AGENTS, config::AuthMode, library::IndexStatus};
use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    auth::Caller,
    error::ApiError,
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/me", get_with(me, |op| op.summary("Who you are")))
        .api_route("/api/export", get_with(export, |op| op.summary("Everything you own, in one document")))
}

/// The page needs it to know whether to show a sign-in.
pub(super) fn public_routes() -> Routes {
    Routes::new().api_route("/api/about", get_with(about, |op| op.summary("What answers, and what there is to ask")))
}

#[derive(Serialize, JsonSchema)]
struct Me {
    id: UserId,
    name: String,
    mode: &'static str,
}

async fn me(State(state): State<Arc<AppState>>, caller: Caller) -> Json<Me> {
    Json(Me { id: caller.id, name: caller.name, mode: mode(&state) })
}

async fn export(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Response, ApiError> {
    let export = state.app.export(&caller.id).await?;
    let disposition = "attachment; filename=\"segue-export.json\"";
    Ok(([(header::CONTENT_DISPOSITION, disposition)], Json(export)).into_response())
}

#[derive(Serialize, JsonSchema)]
struct About {
    version: &'static str,
    mode: &'static str,
    model: ModelAbout,
    agents: Vec<AgentAbout>,
    /// Whether the Tidal catalogue can be searched.
    tidal: bool,
    /// What can be searched; absent while the index does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<IndexStatus>,
    /// What this server offers beyond the basics.
    features: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct ModelAbout {
    id: String,
    offline: bool,
    /// How to connect a real model, when none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct AgentAbout {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    examples: &'static [&'static str],
}

async fn about(State(state): State<Arc<AppState>>) -> Json<About> {
    let id = state.app.model.id().to_owned();
    let offline = id == "offline";
    let hint = "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or SEGUE_MODEL=openai:<model> with OPENAI_BASE_URL for a local \
                server such as Ollama, and start Segue again.";
    let agents = AGENTS.iter().map(|agent| AgentAbout {
        id: agent.id,
        title: agent.title,
        description: agent.description,
        examples: agent.examples,
    });
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        mode: mode(&state),
        model: ModelAbout { id, offline, hint: offline.then_some(hint) },
        agents: agents.collect(),
        tidal: state.app.has_catalogue(),
        index: state.app.library().index_status().await.ok(),
        features: features(&state),
    })
}

fn features(state: &AppState) -> Vec<&'static str> {
    let mut features = vec!["import", "ingest"];
    if state.app.has_catalogue() {
        features.push("catalogue");
    }
    if state.app.config.auth == AuthMode::Accounts {
        features.push("accounts");
    }
    features
}

fn mode(state: &AppState) -> &'static str {
    match state.app.config.auth {
        AuthMode::Local => "local",
        AuthMode::Accounts => "accounts",
        AuthMode::Jwt => "jwt",
    }
}
