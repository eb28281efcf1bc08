//! The list of tools; one file each. A tool reads its input, calls a service and reports.

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

mod format;

use engine::{ToolError, Toolbox};
use tracing::error;

use crate::{
    Error,
    library::Library,
    services::{
        playlists::Playlists,
        tasks::{TaskId, Tasks},
    },
    wordings::Wordings,
};
use search::IndexError;

/// Every tool there is. Agents use some of them; MCP and the API offer all.
pub(crate) fn toolbox(tasks: &Tasks, library: &Library, playlists: &Playlists, wordings: Wordings) -> Toolbox {
    let tidal = &library.tidal;
    Toolbox::default()
        .with(semantic_search::SemanticSearch { library: library.clone(), wordings })
        .with(tidal_search::TidalSearch { tidal: tidal.clone(), library: library.clone() })
        .with(album_tracks::AlbumTracks { tidal: tidal.clone(), library: library.clone() })
        .with(batch_metadata::BatchMetadata { library: library.clone() })
        .with(suggest_playlist::SuggestPlaylist { playlists: playlists.clone() })
        .with(add_task::AddTask { tasks: tasks.clone() })
        .with(list_tasks::ListTasks { tasks: tasks.clone() })
        .with(complete_task::CompleteTask { tasks: tasks.clone() })
        .with(update_task::UpdateTask { tasks: tasks.clone() })
        .with(delete_task::DeleteTask { tasks: tasks.clone() })
}

/// A text that is no task id and the id of another user's task get the same answer.
fn task_id(text: &str) -> Result<TaskId, ToolError> {
    text.trim().parse().map_err(|_| no_such_task())
}

fn no_such_task() -> ToolError {
    ToolError::BadInput("There is no such task. Call list_tasks to see the tasks and their ids.".into())
}

/// What a service error means to a task tool.
fn task_error(error: Error) -> ToolError {
    match error {
        Error::NotFound => no_such_task(),
        other => tool_error(other),
    }
}

/// What a service error means to a tool. The log gets the cause; the model gets what it can act on.
fn tool_error(error: Error) -> ToolError {
    match error {
        Error::Database(cause) => {
            error!("The database failed during a tool call: {cause}");
            ToolError::Unavailable { message: "The database is temporarily unavailable".into(), retryable: false }
        }
        Error::Index(cause) => {
            error!("The index failed during a tool call: {cause}");
            let message = IndexError::MESSAGE.to_owned();
            if cause.is_passing() {
                ToolError::Unavailable { message, retryable: false }
            } else {
                ToolError::Refused(message)
            }
        }
        Error::Catalogue(cause) => cause.into(),
        Error::NotFound
        | Error::Conflict(_)
        | Error::TurnRunning(_)
        | Error::Invalid { .. }
        | Error::WrongLength(_)
        | Error::Incomplete(_)
        | Error::Limited(_)
        | Error::Closing
        | Error::Gone
        | Error::UnknownTrack(_) => ToolError::BadInput(error.to_string()),
    }
}
