//! Imports: upload files, read the report, and resolve entries without a match.

use std::time::Duration;

use app::{
    App,
    import::{Given, ImportAnswer, ImportError, ImportFailure, ImportedAll, LineFailure, OpenItem},
    library::LibraryEntry,
    services::imports::ImportLine,
};
use axum::body::Body;
use engine::UserId;
use futures::{Stream, StreamExt, stream};
use music::TrackRef;

use super::{
    page::PageLimit,
    prelude::*,
    upload::{Upload, Uploaded},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/import",
            post_with(import, |op| {
                op.summary("Import files: exports, playlists, archives, audio").response::<201, Json<ImportAnswer>>()
            }),
        )
        .api_route("/api/library/imports", get_with(imports, |op| op.summary("Your imports, newest first")))
        .api_route(
            "/api/library/unmatched",
            get_with(unmatched, |op| {
                op.summary("Entries without a match; with `format=csv` as a file").response::<200, Json<OpenList>>()
            }),
        )
        .api_route(
            "/api/library/unmatched/retry",
            post_with(retry, |op| {
                op.summary("Search again for every entry without a match").response::<202, Json<Retried>>()
            }),
        )
        .api_route(
            "/api/library/unmatched/{entry_id}",
            post_with(choose, |op| op.summary("Choose the recording of an entry"))
                .delete_with(dismiss, |op| op.summary("Dismiss an entry")),
        )
        .api_route("/api/library/unmatched/{entry_id}/restore", post_with(restore, |op| op.summary("Undo a dismissal")))
}

/// How long a request waits for catalogues, with all of its files. Entries that are left are matched in the background.
const PATIENCE: Duration = Duration::from_secs(10);

async fn import(State(state): Shared, caller: Caller, upload: Upload) -> Result<(StatusCode, Json<ImportAnswer>)> {
    // A task of its own: the import continues, and keeps its place in the queue, when its client disconnects.
    let app = state.app.clone();
    let work = state.app.spawn(async move { import_all(&app, &caller.id, upload).await });
    let ImportedAll { imported, refused, .. } = work.await.map_err(|_| ApiError::internal())??;
    let mut refused = only_files(refused)?;
    if imported.is_empty()
        && let Some((_, error)) = refused.pop()
    {
        return Err(ImportFailure::File(error).into());
    }
    let mut answer = ImportAnswer::of(&imported);
    answer.failures.extend(refused.into_iter().map(|(file, error)| refusal(file, &error)));
    Ok((StatusCode::CREATED, Json(answer)))
}

async fn import_all(app: &App, owner: &UserId, upload: Upload) -> Result<ImportedAll> {
    let Upload { files, place } = upload;
    let turn = place.turn().await?;
    let files = files.into_iter().map(|Uploaded { file, name }| Given::Upload { file, name }).collect();
    let mut all = app.imports().import_all(owner, files, PATIENCE, |_| {}).await?;
    drop(turn);
    app.compare_uploads(owner, std::mem::take(&mut all.audio)).await;
    Ok(all)
}

/// The files that were refused. A failure that no file caused is the failure of the whole request.
fn only_files(refused: Vec<(String, ImportFailure)>) -> Result<Vec<(String, ImportError)>> {
    let of_file = |(name, failure)| match failure {
        ImportFailure::File(error) => Ok((name, error)),
        other @ (ImportFailure::Service(_) | ImportFailure::Bug(_)) => Err(other.into()),
    };
    refused.into_iter().map(of_file).collect()
}

/// A file of which nothing was imported, in a request with other files that were.
fn refusal(file: String, error: &ImportError) -> LineFailure {
    let line = if let ImportError::Broken(error) = error { error.line } else { 0 };
    LineFailure { file, line, reason: error.to_string() }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ImportQuery {
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
    #[serde(default)]
    cursor: Option<Uuid>,
}

#[derive(Serialize, JsonSchema)]
struct ImportList {
    imports: Vec<ImportLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Uuid>,
}

async fn imports(State(state): Shared, caller: Caller, Query(query): Query<ImportQuery>) -> Result<Json<ImportList>> {
    let (imports, next) = state.app.imports().list(&caller.id, query.limit.checked("limit")?, query.cursor).await?;
    Ok(Json(ImportList { imports, next }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OpenQuery {
    /// csv; without it, JSON.
    #[serde(default)]
    format: Option<String>,
    /// A CSV file contains all entries.
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
    #[serde(default)]
    cursor: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct OpenList {
    entries: Vec<OpenItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

async fn unmatched(State(state): Shared, caller: Caller, Query(query): Query<OpenQuery>) -> Result<Response> {
    match query.format.as_deref() {
        None => {
            let (limit, offset) = (query.limit.checked("limit")?, query.cursor.unwrap_or(0));
            let (open, next) = state.app.imports().open_page(&caller.id, limit, offset).await?;
            Ok(Json(OpenList { entries: open.iter().map(OpenItem::from).collect(), next }).into_response())
        }
        Some("csv") => as_csv(state.app.imports().open_csv(&caller.id)).await,
        Some(_) => Err(ApiError::invalid_field("format", "must be csv, or left out for JSON")),
    }
}

async fn as_csv(pieces: impl Stream<Item = Result<String, app::Error>> + Send + 'static) -> Result<Response> {
    let mut pieces = Box::pin(pieces);
    // The first pieces are read before the response starts: an error of the database becomes a status, not a cut body.
    let heading = pieces.next().await.transpose()?.unwrap_or_default();
    let first = pieces.next().await.transpose()?.unwrap_or_default();
    let body = Body::from_stream(stream::iter([Ok(heading), Ok(first)]).chain(pieces));
    let disposition = "attachment; filename=\"unmatched.csv\"";
    let headers = [(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}

#[derive(Serialize, JsonSchema)]
struct Retried {
    /// Number of entries that are searched again.
    entries: u64,
}

async fn retry(State(state): Shared, caller: Caller) -> Result<(StatusCode, Json<Retried>)> {
    let entries = state.app.imports().retry(&caller.id).await?;
    Ok((StatusCode::ACCEPTED, Json(Retried { entries })))
}

#[derive(Deserialize, JsonSchema)]
struct EntryPath {
    entry_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// One of the candidates, or any other known recording: an ISRC or a trackId.
    isrc: TrackRef,
}

async fn choose(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<EntryPath>,
    Json(choice): Json<Choice>,
) -> Result<Json<LibraryEntry>> {
    Ok(Json(state.app.imports().choose(&caller.id, path.entry_id, &choice.isrc).await?))
}

async fn dismiss(State(state): Shared, caller: Caller, Path(path): Path<EntryPath>) -> Result<StatusCode> {
    state.app.imports().dismiss(&caller.id, path.entry_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(State(state): Shared, caller: Caller, Path(path): Path<EntryPath>) -> Result<StatusCode> {
    state.app.imports().restore(&caller.id, path.entry_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
