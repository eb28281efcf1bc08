//! Uploads: a form or a plain body becomes files on disk, whatever their size, in a few kilobytes of memory.

use std::{fs::File, io::Seek, path::Path, sync::Arc};

use aide::{OperationInput, generate::GenContext, openapi};
use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::header,
};
use futures::StreamExt;
use multer::Multipart;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;

use crate::{error::ApiError, router::AppState};

/// All files of a request together. The largest history anyone has shown us has 220 MB.
pub(super) const MOST_BYTES: u64 = 512 << 20;

/// Files that were uploaded; gone from disk as soon as they are dropped, or the process is.
pub(super) struct Upload {
    pub(super) files: Vec<Uploaded>,
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
        let folder = &state.app.config.data_dir;
        let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if let Some(content_type) = content_type
            && content_type.to_ascii_lowercase().starts_with("multipart/form-data")
        {
            let boundary = multer::parse_boundary(content_type)
                .map_err(|error| ApiError::invalid(format!("The form cannot be read: {error}.")))?;
            return from_form(Multipart::new(body.into_data_stream(), boundary), folder).await;
        }
        let Query(query) = Query::<PlainQuery>::from_request_parts(&mut head, state).await?;
        let name = query.name.filter(|name| !name.contains('\0')).unwrap_or_else(|| "upload".into());
        let file = from_body(body, folder).await?;
        Ok(Self { files: vec![Uploaded { name, file }] })
    }
}

async fn from_form(mut form: Multipart<'_>, folder: &Path) -> Result<Upload, ApiError> {
    let (mut files, mut left) = (vec![], MOST_BYTES);
    while let Some(mut part) = form.next_field().await.map_err(cut)? {
        let Some(name) = part.file_name().map(str::to_owned) else { continue };
        let mut target = Target::new(folder, left)?;
        while let Some(chunk) = part.chunk().await.map_err(cut)? {
            target.take(&chunk).await?;
        }
        left = target.left;
        files.push(Uploaded { name, file: target.finish().await? });
    }
    if files.is_empty() {
        return Err(ApiError::invalid_field("file", "The form holds no file."));
    }
    Ok(Upload { files })
}

async fn from_body(body: Body, folder: &Path) -> Result<File, ApiError> {
    let mut target = Target::new(folder, MOST_BYTES)?;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        target.take(&chunk.map_err(cut)?).await?;
    }
    target.finish().await
}

/// A file without a name in the data directory, growing.
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
        let too_large = || ApiError::too_large(format!("At most {} MB can be imported at once.", MOST_BYTES >> 20));
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

fn no_room(error: std::io::Error) -> ApiError {
    tracing::error!("An upload cannot be kept: {error}");
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
