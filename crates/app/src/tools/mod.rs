//! The list of tools; one file each.

mod album_tracks;
mod batch_metadata;
mod semantic_search;
mod suggest_playlist;
mod tidal_search;

mod add_task;
mod complete_task;
mod delete_task;
mod list_tasks;
mod update_task;

pub mod results;
mod shelf;

use engine::{ToolError, Toolbox};

use crate::wordings::Wordings;
use sources::tidal::Tidal;
use store::{Store, StoreError, TaskId};

pub use shelf::Shelf;
pub use suggest_playlist::PlaylistTrackResult;

/// Every tool there is. Agents use some of them; MCP and the API offer all.
pub fn toolbox(store: &Store, shelf: &Shelf, tidal: &Tidal, wordings: Wordings) -> Toolbox {
    Toolbox::default()
        .with(semantic_search::SemanticSearch { shelf: shelf.clone(), wordings })
        .with(tidal_search::TidalSearch { tidal: tidal.clone(), shelf: shelf.clone() })
        .with(album_tracks::AlbumTracks { tidal: tidal.clone(), shelf: shelf.clone() })
        .with(batch_metadata::BatchMetadata { shelf: shelf.clone() })
        .with(suggest_playlist::SuggestPlaylist { tidal: tidal.clone(), shelf: shelf.clone() })
        .with(add_task::AddTask { store: store.clone() })
        .with(list_tasks::ListTasks { store: store.clone() })
        .with(complete_task::CompleteTask { store: store.clone() })
        .with(update_task::UpdateTask { store: store.clone() })
        .with(delete_task::DeleteTask { store: store.clone() })
}

/// What is not a task id and what is not this owner's task is the same to the model.
fn task_id(text: &str) -> Result<TaskId, ToolError> {
    text.trim().parse().map_err(|_| no_such_task())
}

fn no_such_task() -> ToolError {
    ToolError::BadInput("There is no such task. Call list_tasks to see the tasks and their ids.".into())
}

/// What a store error means to a task tool.
fn task_error(error: StoreError) -> ToolError {
    match error {
        StoreError::NotFound => no_such_task(),
        other => store_error(other),
    }
}

fn store_error(error: StoreError) -> ToolError {
    match error {
        StoreError::Database(cause) => {
            tracing::error!("The database failed during a tool call: {cause}");
            ToolError::Unavailable { message: "The database is temporarily unavailable".into(), retryable: false }
        }
        StoreError::NotFound | StoreError::Conflict(_) => ToolError::BadInput(error.to_string()),
    }
}

/// A text of at most `max` characters that is not only white space, or what is wrong with it.
fn checked_text(field: &str, text: &str, max: usize) -> Result<String, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ToolError::BadInput(format!("{field} cannot be empty")));
    }
    if text.chars().count() > max {
        return Err(ToolError::BadInput(format!("{field} must be at most {max} characters")));
    }
    Ok(text.to_owned())
}
