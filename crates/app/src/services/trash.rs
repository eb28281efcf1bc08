//! The trash: deleted items, until they are restored, erased or expired. Each kind is restored by its own service.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use tracing::instrument;
use uuid::Uuid;

use crate::Error;
use store::{Store, TRASH_KEPT, TrashKind};

#[derive(Clone)]
pub struct Trash {
    pub(crate) store: Store,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeletedKind {
    Album,
    Conversation,
    Playlist,
    Task,
    Track,
}

/// A deleted item.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deleted {
    pub kind: DeletedKind,
    /// For `DELETE /api/trash/{id}`, and for its own `restore` endpoint, unless it is an album.
    pub id: Uuid,
    /// For the `restore` endpoint of an album.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album_id: Option<String>,
    pub title: String,
    /// The newest message of a conversation, the description of a playlist or task, the artist of a track or an album.
    pub detail: String,
    pub deleted_at: DateTime<Utc>,
    /// After this time it cannot be restored.
    pub expires_at: DateTime<Utc>,
}

impl From<store::TrashItem> for Deleted {
    fn from(item: store::TrashItem) -> Self {
        let kind = match item.kind {
            TrashKind::Album => DeletedKind::Album,
            TrashKind::Conversation => DeletedKind::Conversation,
            TrashKind::Playlist => DeletedKind::Playlist,
            TrashKind::Task => DeletedKind::Task,
            TrashKind::Track => DeletedKind::Track,
        };
        let expires_at = item.deleted_at + TRASH_KEPT;
        let store::TrashItem { kind: _, id, album_id, title, detail, deleted_at } = item;
        Self { kind, id, album_id, title, detail, deleted_at, expires_at }
    }
}

pub struct DeletedPage {
    pub items: Vec<Deleted>,
    pub next: Option<String>,
}

impl Trash {
    /// At most `limit` deleted items, newest first, after the one of `cursor`.
    #[instrument(name = "trash.page", skip_all, fields(user.id = %owner))]
    pub async fn page(&self, owner: &UserId, limit: u32, cursor: Option<&str>) -> Result<DeletedPage, Error> {
        let from = cursor.map(place_of).transpose()?;
        let mut items = self.store.trash(owner, from, limit.saturating_add(1)).await?;
        let has_more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next =
            items.last().filter(|_| has_more).map(|last| format!("{}_{}", last.deleted_at.timestamp_micros(), last.id));
        Ok(DeletedPage { items: items.into_iter().map(Deleted::from).collect(), next })
    }

    /// Erases one item; `NotFound` if it is not in the trash.
    #[instrument(name = "trash.erase", skip_all, fields(user.id = %owner))]
    pub async fn erase(&self, owner: &UserId, id: Uuid) -> Result<(), Error> {
        Ok(self.store.erase(owner, id).await?)
    }

    /// Erases everything in the trash.
    #[instrument(name = "trash.empty", skip_all, fields(user.id = %owner))]
    pub async fn empty(&self, owner: &UserId) -> Result<u64, Error> {
        Ok(self.store.empty_trash(owner).await?)
    }
}

fn place_of(cursor: &str) -> Result<(DateTime<Utc>, Uuid), Error> {
    let place = cursor
        .split_once('_')
        .and_then(|(at, id)| Some((DateTime::from_timestamp_micros(at.parse().ok()?)?, id.parse().ok()?)));
    place.ok_or(Error::Invalid { field: "cursor", problem: "is not the `next` of a page".into() })
}
