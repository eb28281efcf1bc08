//! Connections to a model, the catalogue and an embedder, which operators set on the settings page.

use app::connections::{Checked, ConnectedService, ConnectionLine, NewConnection, ProviderLine, providers};

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/settings/connections",
            get_with(list, |op| op.summary("Connections to other services; operators only")),
        )
        .api_route(
            "/api/settings/connections/{service}",
            put_with(connect, |op| {
                op.summary("Connect the model, the catalogue or the embedder; operators only").description(
                    "Secrets are stored encrypted and never returned. 409 if a setting of the server already makes \
                     this connection. A model is used at once, the others from the next start.",
                )
            })
            .delete_with(disconnect, |op| op.summary("Remove a connection; operators only")),
        )
        .api_route(
            "/api/settings/connections/{service}/test",
            post_with(test, |op| {
                op.summary("Test a connection: the one in the body, or with `{}` the stored one; operators only")
            }),
        )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Connections {
    connections: Vec<ConnectionLine>,
    /// The providers that a model can be connected to.
    providers: Vec<ProviderLine>,
    /// What the operator must set before a secret can be stored; absent when one can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_key: Option<&'static str>,
}

#[derive(Deserialize, JsonSchema)]
struct ServicePath {
    service: ConnectedService,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Test {
    #[serde(default)]
    connection: Option<NewConnection>,
}

const OPERATORS_ONLY: &str = "Only an operator may see and change connections.";

async fn list(State(state): Shared, caller: Caller) -> Result<Json<Connections>> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    let service = state.app.connections();
    let connections = service.list(&operator).await?;
    Ok(Json(Connections { connections, providers: providers(), missing_key: service.missing_key() }))
}

async fn connect(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ServicePath>,
    Json(new): Json<NewConnection>,
) -> Result<Json<ConnectionLine>> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    Ok(Json(state.app.connections().connect(&operator, path.service, &new).await?))
}

async fn disconnect(State(state): Shared, caller: Caller, Path(path): Path<ServicePath>) -> Result<StatusCode> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    state.app.connections().disconnect(&operator, path.service).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn test(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ServicePath>,
    Json(request): Json<Test>,
) -> Result<Json<Checked>> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    Ok(Json(state.app.connections().check(&operator, path.service, request.connection.as_ref()).await?))
}
