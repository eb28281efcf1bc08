//! Merging and splitting: a user merges two tracks into one recording, or splits the files of one track.

use std::path::Path;

use engine::UserId;
use formats::{FormatKind, ImportedTrack, tracks_of_file};
use music::{TrackId, TrackRef};
use tracing::instrument;
use uuid::Uuid;

use super::{Library, LibraryEntry};
use crate::{
    Error,
    import::{judge, new_track},
};
use store::{FilePart, MergeLine, NewLibraryTrack, StoreError};

/// The result of a merge or split, with the id for its undo.
pub struct Rearranged {
    pub undo_id: Uuid,
    /// The resulting track.
    pub track: LibraryEntry,
}

impl Library {
    /// Merges a track of the user into another one. Other users keep both.
    #[instrument(name = "library.merge", skip_all, fields(user.id = %owner, track.name = %from))]
    pub async fn merge(&self, owner: &UserId, from: &TrackRef, into: &TrackRef) -> Result<Rearranged, Error> {
        let (from, into) = (self.own_id(owner, from).await?, self.own_id(owner, into).await?);
        if from == into {
            return Err(Error::Invalid { field: "into", problem: "must be another track".into() });
        }
        let undo_id = self.store.merge_tracks(owner, from, into).await?;
        self.pipeline.tell();
        let track = self.store.library_track(owner, &TrackRef::Id(into)).await?;
        Ok(Rearranged { undo_id, track: self.entry(owner, track).await? })
    }

    /// Makes a file of a track a separate track: the file at `path`, or the last one.
    #[instrument(name = "library.split", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn split(&self, owner: &UserId, name: &TrackRef, path: Option<&str>) -> Result<Rearranged, Error> {
        let from = self.own_id(owner, name).await?;
        let files = self.store.files_of_track(owner, from).await?;
        if files.len() < 2 {
            return Err(Error::Incomplete("A track with one file or none cannot be split."));
        }
        let chosen = files.iter().rev().find(|file| path.is_none_or(|path| file.path == path));
        let chosen =
            chosen.ok_or_else(|| Error::Invalid { field: "path", problem: "is not a file of this track".into() })?;
        let new = self.track_of_file(owner, chosen).await?;
        let undo_id = self.store.split_track(owner, from, chosen, &new).await?;
        self.pipeline.tell();
        let track = self.store.library_track(owner, &TrackRef::Id(new.track.id)).await?;
        Ok(Rearranged { undo_id, track: self.entry(owner, track).await? })
    }

    /// Merges that were not undone, newest first, from the one `from` on; and where the next page begins. With `into`,
    /// only those of this track.
    #[instrument(name = "library.merges", skip_all, fields(user.id = %owner))]
    pub async fn merges(
        &self,
        owner: &UserId,
        limit: u32,
        from: Option<Uuid>,
        into: Option<&TrackRef>,
    ) -> Result<(Vec<MergeLine>, Option<Uuid>), Error> {
        let into = match into {
            Some(name) => Some(self.own_id(owner, name).await?),
            None => None,
        };
        let mut lines = self.store.merges(owner, limit.saturating_add(1), from, into).await?;
        let next = lines.get(limit as usize).map(|line| line.undo_id);
        lines.truncate(limit as usize);
        Ok((lines, next))
    }

    /// Undoes a merge or a split.
    #[instrument(name = "library.undo_merge", skip_all, fields(user.id = %owner, merge.id = %id))]
    pub async fn undo_merge(&self, owner: &UserId, id: Uuid) -> Result<(), Error> {
        self.store.undo_merge(owner, id).await?;
        self.pipeline.tell();
        Ok(())
    }

    async fn own_id(&self, owner: &UserId, name: &TrackRef) -> Result<TrackId, Error> {
        let track = self.store.library_track(owner, name).await?;
        track.track_id.parse().map_err(|_| Error::NotFound)
    }

    /// The track of a file, as a separate recording.
    async fn track_of_file(&self, owner: &UserId, file: &FilePart) -> Result<NewLibraryTrack, Error> {
        let FilePart { path, part } = file.clone();
        let entry = tokio::task::spawn_blocking(move || read(&path, part)).await;
        let entry = entry.map_err(|error| StoreError::Database(sqlx::Error::Io(std::io::Error::other(error))))?;
        let entry = entry.map_err(|problem| Error::Invalid { field: "path", problem })?;
        let id = TrackId::of_owner(owner.as_str(), &format!("split\n{}\n{}", file.path, file.part));
        let kind = FormatKind::with_id("audio").ok_or(Error::NotFound)?;
        Ok(new_track(&entry, id, &judge(&entry, &[]), kind))
    }
}

fn read(path: &str, part: i32) -> Result<ImportedTrack, String> {
    let path = Path::new(path);
    let sheet = (part > 0).then(|| path.with_extension("cue"));
    let tracks = tracks_of_file(1, path, path, sheet.as_deref(), None);
    let place = usize::try_from(part).unwrap_or(0).saturating_sub(1);
    let entry = tracks.into_iter().nth(place).ok_or("the file has no such part")?;
    entry.map_err(|error| error.problem.to_string())
}
