//! The current user, and what this server consists of.

use std::sync::Arc;

use aide::axum::routing::get_with;
use app::{agents::AGENTS, config::AuthMode, library::IndexStatus};
use axum::{
    Json,
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use engine::UserId;
use futures::{StreamExt, stream};
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
    let mut pieces = Box::pin(state.app.export_json(&caller.id));
    // The first piece here: a database that does not answer is a status, not a cut body.
    let first = pieces.next().await.transpose()?.unwrap_or_default();
    let body = Body::from_stream(stream::iter([Ok(first)]).chain(pieces));
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"segue-export.json\""),
    ];
    Ok((headers, body).into_response())
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct About {
    version: &'static str,
    mode: &'static str,
    model: ModelAbout,
    agents: Vec<AgentAbout>,
    /// Whether the Tidal catalogue can be searched.
    tidal: bool,
    /// What can be searched; absent while the index does not answer, and where several people share this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<IndexStatus>,
    /// How the page signs in where another issuer gives the tokens out.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in: Option<SignInAbout>,
    /// What this server offers beyond the basics.
    features: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SignInAbout {
    /// Answers `{"token": …}` to a browser that is signed in there.
    token_url: String,
    /// Where people sign in; `{return}` in it is the address to come back to.
    sign_in_url: String,
}

#[derive(Serialize, JsonSchema)]
struct ModelAbout {
    id: String,
    offline: bool,
    /// How to connect a real model, when none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    /// Names of the models that a conversation can choose from (`SEGUE_MODELS`); absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    /// The one of `choices` that answers where none is chosen; absent when another one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AgentAbout {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    examples: &'static [&'static str],
}

async fn about(State(state): State<Arc<AppState>>) -> Json<About> {
    let id = state.app.models.active().id().to_owned();
    let offline = id == "offline";
    let hint = "Choose a model server of this machine in the settings, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
                OPENAI_BASE_URL and start Segue again.";
    let choices = state.app.models.named().map(|named| named.name.clone()).collect();
    let choice = state.app.models.active_name().map(str::to_owned);
    let agents = AGENTS.iter().map(|agent| AgentAbout {
        id: agent.id,
        title: agent.title,
        description: agent.description,
        examples: agent.examples,
    });
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        mode: mode(&state),
        model: ModelAbout { id, offline, hint: offline.then_some(hint), choices, choice },
        agents: agents.collect(),
        tidal: state.app.has_catalogue(),
        index: state.index_status.get(index_of(&state)).await,
        sign_in: sign_in(&state),
        features: features(&state),
    })
}

/// How much there is in all, only where all of it is one person's.
async fn index_of(state: &AppState) -> Option<IndexStatus> {
    match state.app.config.auth {
        AuthMode::Local => state.app.library().index_status().await.ok(),
        AuthMode::Accounts | AuthMode::Jwt => None,
    }
}

fn sign_in(state: &AppState) -> Option<SignInAbout> {
    let page = state.app.config.jwt.as_ref()?.page.as_ref()?;
    Some(SignInAbout { token_url: page.token_url.to_string(), sign_in_url: page.sign_in_url.clone() })
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
