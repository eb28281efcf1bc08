//! Models: which one answers, which can be chosen, and which servers run on this machine.

use app::models::{NamedModel, Selected};

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/models",
            get_with(list, |op| op.summary("Models to choose from; for operators also model servers on this machine")),
        )
        .api_route(
            "/api/models/select",
            post_with(select, |op| op.summary("Choose a model server on this machine; operators only")),
        )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModelList {
    /// Names for `model` in `POST /api/chat/stream`.
    models: Vec<Named>,
    /// Only for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<Active>,
    /// Model servers on the usual ports of this machine. They get no text of a user before an operator chooses one. Only
    /// for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Vec<Server>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: String,
    /// In US dollars for a million tokens. Only for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<PricePerMillion>,
}

#[derive(Serialize, JsonSchema)]
struct PricePerMillion {
    input: f64,
    output: f64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Active {
    /// `provider:model`.
    id: String,
    /// `settings`: a setting names it and wins; `operator`: chosen here; `connection`: connected on the settings page; `default`: nothing is chosen.
    chosen_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Server {
    /// "Ollama".
    family: String,
    /// In the form of `OPENAI_BASE_URL`.
    server: String,
    models: Vec<Found>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Found {
    name: String,
    /// What a probe has found, in one line; absent before the first probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<String>,
}

async fn list(State(state): Shared, caller: Caller) -> Json<ModelList> {
    let is_operator = caller.operator(&state.app.config).is_some();
    let named = |model: &NamedModel| Named {
        name: model.name.clone(),
        price: model
            .price
            .filter(|_| is_operator)
            .map(|price| PricePerMillion { input: price.input, output: price.output }),
    };
    let models = state.app.models().named().map(named).collect();
    if !is_operator {
        return Json(ModelList { models, active: None, found: None });
    }
    Json(ModelList { models, active: Some(active(&state)), found: Some(found(&state).await) })
}

fn active(state: &AppState) -> Active {
    let models = state.app.models();
    Active { id: models.active().id().to_owned(), chosen_by: models.chosen_by().as_str(), server: models.server() }
}

async fn found(state: &AppState) -> Vec<Server> {
    let models = state.app.models();
    let server = |found: app::models::FoundServer| Server {
        models: found
            .models
            .iter()
            .map(|name| Found {
                name: name.clone(),
                capabilities: models.capabilities(&found.base_url, name).map(|known| known.to_string()),
            })
            .collect(),
        family: found.family.to_string(),
        server: found.base_url,
    };
    models.look().await.into_iter().map(server).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Select {
    /// A `server` of `GET /api/models`; if absent, the choice is removed.
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SelectedAnswer {
    active: Active,
}

async fn select(State(state): Shared, caller: Caller, Json(request): Json<Select>) -> Result<Json<SelectedAnswer>> {
    let operator = operator(&state, &caller, "Only an operator may choose the model.")?;
    let choice = match (request.server, request.model) {
        (Some(server), Some(model)) => Some(Selected { server, model }),
        (None, None) => None,
        (Some(_), None) => return Err(ApiError::invalid_field("model", "is missing beside server")),
        (None, Some(_)) => return Err(ApiError::invalid_field("server", "is missing beside model")),
    };
    state.app.models().select(&operator, choice).await?;
    Ok(Json(SelectedAnswer { active: active(&state) }))
}
