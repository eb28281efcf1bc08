//! The JSON API: conversations, tasks, music, tools, and facts about this server. One file for each kind of resource.

mod about;
mod accounts;
mod albums;
mod artwork;
mod connections;
mod consents;
mod conversation_export;
mod conversations;
pub(crate) mod health;
mod import;
mod library;
mod library_bulk;
mod models;
mod page;
mod playlist_edits;
mod playlists;
mod prelude;
mod sample;
mod search;
mod sources;
mod tasks;
mod tools;
mod track_artwork;
mod track_merges;
mod trash;
mod upload;
mod usage;

use crate::router::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .merge(about::routes())
        .merge(accounts::routes())
        .merge(artwork::routes())
        .merge(connections::routes())
        .merge(consents::routes())
        .merge(conversation_export::routes())
        .merge(conversations::routes())
        .merge(import::routes())
        .merge(library::routes())
        .merge(albums::routes())
        .merge(library_bulk::routes())
        .merge(models::routes())
        .merge(playlist_edits::routes())
        .merge(playlists::routes())
        .merge(sample::routes())
        .merge(search::routes())
        .merge(sources::routes())
        .merge(tasks::routes())
        .merge(tools::routes())
        .merge(track_artwork::routes())
        .merge(track_merges::routes())
        .merge(trash::routes())
        .merge(usage::routes())
}

/// Routes without authentication.
pub(crate) fn public_routes() -> Routes {
    Routes::new().merge(about::public_routes()).merge(accounts::public_routes())
}
