//! The current user, the user's export, and facts about this server.

use app::{agents::AGENTS, config::AuthMode, library::IndexStatus};
use axum::body::Body;
use engine::UserId;
use futures::{StreamExt, stream};

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/me", get_with(me, |op| op.summary("The current user")))
        .api_route("/api/export", get_with(export, |op| op.summary("All your data, in one JSON document")))
}

/// Without authentication: the page reads it to decide whether to show a sign-in.
pub(super) fn public_routes() -> Routes {
    Routes::new()
        .api_route("/api/about", get_with(about, |op| op.summary("Version, model, agents and features of this server")))
}

#[derive(Serialize, JsonSchema)]
struct Me {
    id: UserId,
    name: String,
    mode: &'static str,
}

async fn me(State(state): Shared, caller: Caller) -> Json<Me> {
    Json(Me { id: caller.id, name: caller.name, mode: mode(&state) })
}

async fn export(State(state): Shared, caller: Caller) -> Result<Response> {
    let mut pieces = Box::pin(state.app.export(&caller.id));
    // The first piece is read before the response starts: an error of the database becomes a status, not a cut body.
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
    /// The size of the index; absent while the index does not answer, and on a server with several users.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<IndexStatus>,
    /// How the page signs in when another issuer gives out the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in: Option<SignInAbout>,
    /// Optional features that are on.
    features: Vec<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SignInAbout {
    /// Returns `{"token": …}` to a browser that is signed in at the issuer.
    token_url: String,
    /// The issuer's sign-in page; `{return}` in it stands for the address to return to.
    sign_in_url: String,
}

#[derive(Serialize, JsonSchema)]
struct ModelAbout {
    id: String,
    offline: bool,
    /// How to connect a model; absent when one is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Names of the models that a conversation can choose from (`SEGUE_MODELS`); absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    /// The one of `choices` that answers by default; absent when the default model is not in `choices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AgentAbout {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    /// The question above an empty conversation.
    #[serde(default)]
    greeting: &'static str,
    /// The text in the empty message field.
    #[serde(default)]
    placeholder: &'static str,
    examples: &'static [&'static str],
    /// Segue's own tools that the agent can use.
    #[serde(default)]
    tools: Vec<&'static str>,
}

async fn about(State(state): Shared) -> Json<About> {
    let id = state.app.models().active().id().to_owned();
    let hint = state.app.models().hint();
    let choices = state.app.models().named().map(|named| named.name.clone()).collect();
    let choice = state.app.models().active_name().map(str::to_owned);
    let agents = AGENTS.iter().map(|agent| AgentAbout {
        id: agent.id,
        title: agent.title,
        description: agent.description,
        greeting: agent.greeting,
        placeholder: agent.placeholder,
        examples: agent.examples,
        tools: agent.usable_tools(state.app.has_catalogue()).collect(),
    });
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        mode: mode(&state),
        model: ModelAbout { id, offline: hint.is_some(), hint, choices, choice },
        agents: agents.collect(),
        tidal: state.app.has_catalogue(),
        index: state.index_status.get(index_of(&state)).await,
        sign_in: sign_in(&state),
        features: state.app.features(),
    })
}

/// The size of the whole index; only a server with one user shows it.
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

fn mode(state: &AppState) -> &'static str {
    match state.app.config.auth {
        AuthMode::Local => "local",
        AuthMode::Accounts => "accounts",
        AuthMode::Jwt => "jwt",
    }
}
