//! Uploads: a form or a plain body becomes files in the data directory. Bytes, parts and what waits in memory are
//! counted; beyond a limit the request is refused.

use std::{
    fs::File,
    io::Seek,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use aide::{OperationInput, generate::GenContext, openapi};
use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::header,
};
use futures::{Stream, StreamExt};
use multer::{Constraints, Multipart, SizeLimit};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;

use crate::{auth::Caller, error::ApiError, import_queue::ImportPlace, router::AppState};

/// All files of a request together. The largest known listening history has 220 MB.
pub(super) const MOST_BYTES: u64 = 512 << 20;
/// Boundaries and headers of a form, beside its files.
const MOST_FORM_BYTES: u64 = MOST_BYTES + (1 << 20);
/// Parts of a form. Each file is an open descriptor.
const MOST_PARTS: usize = 100;
/// Bytes of a form that the parser may keep in memory because it cannot use them yet.
const MOST_WAITING: usize = 256 << 10;

/// Uploaded files. They have no name on disk, so they are deleted when they are dropped or the process ends.
pub(super) struct Upload {
    pub(super) files: Vec<Uploaded>,
    pub(super) place: ImportPlace,
}

pub(super) struct Uploaded {
    pub(super) name: String,
    pub(super) file: File,
}

#[derive(Deserialize, JsonSchema)]
struct PlainQuery {
    /// The name of the file when it is the body itself.
    #[serde(default)]
    name: Option<String>,
}

impl FromRequest<Arc<AppState>> for Upload {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let (mut head, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut head, state).await?;
        let place = state.imports.enter(&caller.id)?;
        if body.size_hint().lower() > MOST_FORM_BYTES {
            return Err(too_large());
        }
        let folder = &state.app.config.data_dir;
        let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if let Some(content_type) = content_type
            && content_type.to_ascii_lowercase().starts_with("multipart/form-data")
        {
            let boundary = multer::parse_boundary(content_type)
                .map_err(|error| ApiError::invalid(format!("The form cannot be read: {error}.")))?;
            return Ok(Self { files: from_form(body, boundary, folder).await?, place });
        }
        let Query(query) = Query::<PlainQuery>::from_request_parts(&mut head, state).await?;
        let name = query.name.filter(|name| !name.contains('\0')).unwrap_or_else(|| "upload".into());
        let file = from_body(body, folder).await?;
        Ok(Self { files: vec![Uploaded { name, file }], place })
    }
}

async fn from_form(body: Body, boundary: String, folder: &Path) -> Result<Vec<Uploaded>, ApiError> {
    let waiting = Arc::new(AtomicUsize::new(0));
    let sizes = Constraints::new().size_limit(SizeLimit::new().whole_stream(MOST_FORM_BYTES));
    let mut form = Multipart::with_constraints(usable(body, waiting.clone()), boundary, sizes);
    let (mut files, mut left, mut n_parts) = (vec![], MOST_BYTES, 0);
    while let Some(mut part) = form.next_field().await.map_err(cut)? {
        n_parts += 1;
        if n_parts > MOST_PARTS {
            return Err(ApiError::too_large(format!("A form can have at most {MOST_PARTS} parts.")));
        }
        let mut target = match part.file_name().map(str::to_owned) {
            Some(name) => Some((name, Target::new(folder, left)?)),
            None => None,
        };
        while let Some(chunk) = part.chunk().await.map_err(cut)? {
            waiting.store(0, Ordering::Relaxed);
            if let Some((_, target)) = &mut target {
                target.take(&chunk).await?;
            }
        }
        waiting.store(0, Ordering::Relaxed);
        if let Some((name, target)) = target {
            left = target.left;
            files.push(Uploaded { name, file: target.finish().await? });
        }
    }
    if files.is_empty() {
        return Err(ApiError::invalid_field("file", "The form has no file."));
    }
    Ok(files)
}

/// The bytes of a form. The stream fails if the parser keeps too many of them; `waiting` counts those that it keeps.
fn usable(body: Body, waiting: Arc<AtomicUsize>) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send {
    body.into_data_stream().map(move |chunk| {
        let chunk = chunk?;
        if waiting.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len() > MOST_WAITING {
            return Err(axum::Error::new(Unusable));
        }
        Ok(chunk)
    })
}

#[derive(Debug, thiserror::Error)]
#[error("no part of the form begins or ends within {} KB", MOST_WAITING >> 10)]
struct Unusable;

async fn from_body(body: Body, folder: &Path) -> Result<File, ApiError> {
    let mut target = Target::new(folder, MOST_BYTES)?;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        target.take(&chunk.map_err(cut)?).await?;
    }
    target.finish().await
}

/// A file without a name in the data directory, while it is written.
struct Target {
    file: tokio::fs::File,
    left: u64,
}

impl Target {
    fn new(folder: &Path, left: u64) -> Result<Self, ApiError> {
        let file = tempfile::tempfile_in(folder).map_err(no_room)?;
        Ok(Self { file: tokio::fs::File::from_std(file), left })
    }

    async fn take(&mut self, chunk: &Bytes) -> Result<(), ApiError> {
        self.left = self.left.checked_sub(chunk.len() as u64).ok_or_else(too_large)?;
        self.file.write_all(chunk).await.map_err(no_room)
    }

    async fn finish(mut self) -> Result<File, ApiError> {
        self.file.flush().await.map_err(no_room)?;
        let mut file = self.file.into_std().await;
        file.rewind().map_err(no_room)?;
        Ok(file)
    }
}

fn too_large() -> ApiError {
    ApiError::too_large(format!("At most {} MB can be imported at once.", MOST_BYTES >> 20))
}

fn no_room(error: std::io::Error) -> ApiError {
    tracing::error!("An upload cannot be stored: {error}");
    ApiError::internal()
}

fn cut(error: impl std::fmt::Display) -> ApiError {
    ApiError::invalid(format!("The upload broke off: {error}."))
}

impl OperationInput for Upload {
    fn operation_input(cx: &mut GenContext, operation: &mut openapi::Operation) {
        Query::<PlainQuery>::operation_input(cx, operation);
        let binary = schemars::json_schema!({"type": "string", "format": "binary"});
        let form = schemars::json_schema!({
            "type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}},
        });
        let media = |json_schema| openapi::MediaType {
            schema: Some(openapi::SchemaObject { json_schema, external_docs: None, example: None }),
            ..Default::default()
        };
        let content =
            [("multipart/form-data".to_owned(), media(form)), ("application/octet-stream".to_owned(), media(binary))];
        operation.request_body = Some(openapi::ReferenceOr::Item(openapi::RequestBody {
            description: Some("A form with one or more files, or the file itself".into()),
            content: content.into_iter().collect(),
            required: true,
            ..Default::default()
        }));
    }
}
