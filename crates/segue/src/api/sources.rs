//! Folders that are kept in step with a library.

use std::sync::Arc;

use aide::axum::routing::{delete_with, get_with, post_with};
use app::services::folders::{FolderSound, FolderSource, ScanReport};
use axum::{extract::State, http::StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/sources",
            get_with(list, |op| op.summary("Folders that are kept in step with your library")).post_with(add, |op| {
                op.summary("Keep a folder of the server in step with your library; operators only")
                    .response::<201, Json<Source>>()
            }),
        )
        .api_route(
            "/api/library/sources/{source_id}",
            delete_with(remove, |op| op.summary("Keep a folder in step no more; its tracks stay")),
        )
        .api_route("/api/library/sources/{source_id}/sync", post_with(sync, |op| op.summary("Scan a folder now")))
}

#[derive(Serialize, JsonSchema)]
struct Source {
    /// `folder`.
    kind: &'static str,
    #[serde(flatten)]
    folder: FolderSource,
    /// In a list, unless sounds are not compared: how far it has come.
    #[serde(skip_serializing_if = "Option::is_none")]
    sound: Option<FolderSound>,
}

impl From<FolderSource> for Source {
    fn from(folder: FolderSource) -> Self {
        Self { kind: "folder", folder, sound: None }
    }
}

#[derive(Serialize, JsonSchema)]
struct SourceList {
    sources: Vec<Source>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewSource {
    /// `folder`.
    kind: SourceKind,
    /// A folder of the server.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SourceKind {
    Folder,
}

#[derive(Deserialize, JsonSchema)]
struct SourcePath {
    source_id: Uuid,
}

async fn list(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Json<SourceList>, ApiError> {
    let mut sources = vec![];
    for folder in state.app.folders().list(&caller.id).await? {
        let sound = state.app.folders().sound(&caller.id, folder.id).await?;
        sources.push(Source { sound, ..Source::from(folder) });
    }
    Ok(Json(SourceList { sources }))
}

/// A path names a file of the server: only an operator may.
fn check_operator(state: &AppState, caller: &Caller) -> Result<(), ApiError> {
    if caller.is_operator(&state.app.config) {
        return Ok(());
    }
    Err(ApiError::forbidden(
        "Only an operator may name folders of the server: see SEGUE_OPERATORS, or use 'segue library add'",
    ))
}

async fn add(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(new): Json<NewSource>,
) -> Result<(StatusCode, Json<Source>), ApiError> {
    check_operator(&state, &caller)?;
    let SourceKind::Folder = new.kind;
    let folder = state.app.folders().add(&caller.id, &new.path).await?;
    Ok((StatusCode::CREATED, Json(folder.into())))
}

async fn remove(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<SourcePath>,
) -> Result<StatusCode, ApiError> {
    state.app.folders().remove(&caller.id, path.source_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn sync(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<SourcePath>,
) -> Result<Json<ScanReport>, ApiError> {
    Ok(Json(state.app.folders().sync(&caller.id, path.source_id).await?))
}
