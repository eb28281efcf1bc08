//! Plain JSON: conversations, tasks, music, tools, and what the house says about itself.

mod about;
mod conversations;
pub(crate) mod health;
mod library;
mod playlists;
mod search;
mod tasks;
mod tools;

use crate::router::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .merge(about::routes())
        .merge(conversations::routes())
        .merge(tasks::routes())
        .merge(tools::routes())
        .merge(library::routes())
        .merge(playlists::routes())
        .merge(search::routes())
}
