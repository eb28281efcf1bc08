//! Folders of the server that libraries are synchronized with.

use app::services::folders::{FolderSound, FolderSource, ScanReport};

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/sources",
            get_with(list, |op| op.summary("Folders that your library is synchronized with")).post_with(add, |op| {
                op.summary("Synchronize your library with a folder of the server; operators only")
                    .response::<201, Json<Source>>()
            }),
        )
        .api_route(
            "/api/library/sources/{source_id}",
            delete_with(remove, |op| op.summary("Stop the synchronization with a folder; its tracks stay")),
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

async fn list(State(state): Shared, caller: Caller) -> Result<Json<SourceList>> {
    let mut sources = vec![];
    for folder in state.app.folders().list(&caller.id).await? {
        let sound = state.app.folders().sound(&caller.id, folder.id).await?;
        sources.push(Source { sound, ..Source::from(folder) });
    }
    Ok(Json(SourceList { sources }))
}

/// A path gives access to files of the server.
const OPERATORS_ONLY: &str =
    "Only an operator may name folders of the server: see SEGUE_OPERATORS, or use 'segue library add'";

async fn add(State(state): Shared, caller: Caller, Json(new): Json<NewSource>) -> Result<(StatusCode, Json<Source>)> {
    let operator = operator(&state, &caller, OPERATORS_ONLY)?;
    let SourceKind::Folder = new.kind;
    let folder = state.app.folders().add(&operator, &caller.id, &new.path).await?;
    Ok((StatusCode::CREATED, Json(folder.into())))
}

async fn remove(State(state): Shared, caller: Caller, Path(path): Path<SourcePath>) -> Result<StatusCode> {
    state.app.folders().remove(&caller.id, path.source_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn sync(State(state): Shared, caller: Caller, Path(path): Path<SourcePath>) -> Result<Json<ScanReport>> {
    Ok(Json(state.app.folders().sync(&caller.id, path.source_id).await?))
}
