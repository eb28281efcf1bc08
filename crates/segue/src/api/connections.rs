//! The settings page of operators: the model, the catalogue and the embedder are connected, tested and removed.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with, put_with};
use app::connections::{Checked, ConnectionLine, NewConnection, Service};
use axum::{extract::State, http::StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/settings/connections",
            get_with(list, |op| op.summary("How other services are connected; operators only")),
        )
        .api_route(
            "/api/settings/connections/{service}",
            put_with(connect, |op| {
                op.summary("Connect the model, the catalogue or the embedder; operators only").description(
                    "Secrets are stored encrypted and never shown again. A setting of the server wins (409). A model \
                     answers at once; the rest is used from the next start on.",
                )
            })
            .delete_with(disconnect, |op| op.summary("Remove a connection; operators only")),
        )
        .api_route(
            "/api/settings/connections/{service}/test",
            post_with(test, |op| {
                op.summary("Ask the service once, with what is sent or, for `{}`, with what is stored; operators only")
            }),
        )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Connections {
    connections: Vec<ConnectionLine>,
    /// What to set before a secret can be stored; absent when one can.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_key: Option<&'static str>,
}

#[derive(Deserialize, JsonSchema)]
struct ServicePath {
    service: Service,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Test {
    #[serde(default)]
    connection: Option<NewConnection>,
}

fn check_operator(state: &AppState, caller: &Caller) -> Result<(), ApiError> {
    if caller.is_operator(&state.app.config) {
        return Ok(());
    }
    Err(ApiError::forbidden("Only an operator may see and change connections."))
}

async fn list(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Json<Connections>, ApiError> {
    check_operator(&state, &caller)?;
    let connections = state.app.connections().await?;
    Ok(Json(Connections { connections, missing_key: state.app.no_secret_key() }))
}

async fn connect(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ServicePath>,
    Json(new): Json<NewConnection>,
) -> Result<Json<ConnectionLine>, ApiError> {
    check_operator(&state, &caller)?;
    Ok(Json(state.app.connect(path.service, &new).await?))
}

async fn disconnect(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ServicePath>,
) -> Result<StatusCode, ApiError> {
    check_operator(&state, &caller)?;
    state.app.disconnect(path.service).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn test(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ServicePath>,
    Json(request): Json<Test>,
) -> Result<Json<Checked>, ApiError> {
    check_operator(&state, &caller)?;
    Ok(Json(state.app.check_connection(path.service, request.connection.as_ref()).await?))
}
