//! Which files have the same sound? Files of folders are decoded, one at a time, and tracks with the same sound are merged.

use std::{path::PathBuf, time::Instant};

use engine::UserId;
use formats::{NoFingerprint, fingerprint};
use music::{Fingerprint, TrackId, TrackRef};
use store::{FolderSource, LibraryTrack, Sound, StoreError, UncomparedFile};
use tokio_util::sync::CancellationToken;
use tracing::{info, instrument, warn};
use uuid::Uuid;

use super::{Folders, look::stamp, same_track::merged, watch::LOOK_EVERY};
use crate::Error;

/// How much of the time decoding may take: after each file it rests as long as the file took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Calm,
    Fast,
}

impl Folders {
    /// Compares the sounds of new and changed files until `ended`.
    pub(super) async fn keep_comparing(&self, ended: &CancellationToken) {
        if !self.compares_sounds {
            return;
        }
        while !ended.is_cancelled() {
            match self.compare_all(Pace::Calm, ended).await {
                Ok(0) => {}
                Ok(n_files) => info!("The sounds of {n_files} files were compared"),
                Err(error) => warn!("Sounds cannot be compared, trying again: {error}"),
            }
            tokio::select! {
                () = ended.cancelled() => {}
                () = self.scanned.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Compares the sound of every file that is to be compared, in the folders of this node. Returns how many they are. Waits
    /// for uploads too.
    #[instrument(name = "folders.compare_sounds", skip_all)]
    pub async fn compare_sounds(&self) -> Result<usize, Error> {
        if !self.compares_sounds {
            return Ok(0);
        }
        self.uploads.all_compared().await;
        self.compare_all(Pace::Fast, &CancellationToken::new()).await
    }

    /// Compares the sounds of one folder, with no pauses. Returns how many files were compared, or None if another node does it
    /// or sounds are not compared.
    #[instrument(name = "folders.compare_folder_now", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn compare_folder_now(&self, owner: &UserId, id: Uuid) -> Result<Option<usize>, Error> {
        let source = self.store.folder(owner, id).await?;
        if !self.compares_sounds || !self.claims(&source).await? {
            return Ok(None);
        }
        let compared = self.compare_folder(&source, Pace::Fast, &CancellationToken::new()).await;
        // The server that runs next need not wait for the lease.
        self.store.release_folders(&self.node).await?;
        compared.map(Some)
    }

    async fn compare_all(&self, pace: Pace, ended: &CancellationToken) -> Result<usize, Error> {
        let mut n_files = 0;
        for source in self.store.all_folders().await? {
            n_files += self.compare_folder(&source, pace, ended).await?;
        }
        Ok(n_files)
    }

    async fn compare_folder(
        &self,
        source: &FolderSource,
        pace: Pace,
        ended: &CancellationToken,
    ) -> Result<usize, Error> {
        let owner = UserId::new(source.owner.clone());
        let (mut after, mut n_files) = (String::new(), 0);
        while let Some(file) = self.store.next_uncompared(&owner, source.id, &after).await? {
            if ended.is_cancelled() || !self.claims(source).await? {
                break;
            }
            let started = Instant::now();
            if let Some(sound) = self.sound_of(&owner, &file, ended).await? {
                self.compare(&owner, &file, &sound).await?;
                n_files += 1;
            }
            after = file.path;
            if pace == Pace::Calm {
                // The end of the process ends the rest too.
                _ = tokio::time::timeout(started.elapsed(), ended.cancelled()).await;
            }
        }
        Ok(n_files)
    }

    /// None: the file has changed since it was scanned, or is gone. The next scan tells.
    async fn sound_of(
        &self,
        owner: &UserId,
        file: &UncomparedFile,
        ended: &CancellationToken,
    ) -> Result<Option<Sound>, Error> {
        if let Some(known) = self.store.sound(owner, &file.content_hash).await? {
            return Ok(Some(known));
        }
        let (path, scanned) = (PathBuf::from(&file.path), (file.size, file.modified_ms));
        let ended = ended.clone();
        let decode = move || {
            let is_as_scanned = stamp(&path).is_ok_and(|now| now == scanned);
            is_as_scanned.then(|| fingerprint(&path, &|| !ended.is_cancelled()))
        };
        let sound = match background::spawn_blocking(decode).await {
            Ok(Some(Ok(known))) => Sound::Known(known),
            Ok(Some(Err(why @ NoFingerprint::Undecodable(_)))) => Sound::Damaged(why.to_string()),
            Ok(Some(Err(NoFingerprint::Stopped)) | None) => return Ok(None),
            Ok(Some(Err(why))) => Sound::None(why.to_string()),
            Err(error) if error.is_panic() => Sound::Damaged("the decoder failed".into()),
            // The process ends.
            Err(_) => return Ok(None),
        };
        self.store.keep_sound(owner, &file.content_hash, &sound).await?;
        Ok(Some(sound))
    }

    async fn compare(&self, owner: &UserId, file: &UncomparedFile, sound: &Sound) -> Result<(), Error> {
        // A scan at the same time would put a file back to the track that it was.
        let _alone = self.scanning.lock().await;
        let recording = self.store.recording_to_compare(owner, &file.path, &file.content_hash).await?;
        if let (Sound::Known(sound), Some(recording)) = (sound, recording) {
            self.merge_same(owner, recording, sound).await?;
        }
        Ok(self.store.set_compared(owner, &file.path, &file.content_hash).await?)
    }

    /// Merges the tracks of this user that have the same sound.
    pub(super) async fn merge_same(&self, owner: &UserId, recording: String, sound: &Fingerprint) -> Result<(), Error> {
        let mut similar = self.store.similar_files(owner, &recording, sound).await?;
        similar.extend(self.store.similar_uploads(owner, &recording, sound).await?);
        let same = similar.into_iter().filter(|other| other.fingerprint.is_same_recording(sound));
        let mut recording = recording;
        for other in same.map(|other| other.recording_id) {
            let (here, there) = (self.track(owner, &recording).await?, self.track(owner, &other).await?);
            let Some((here, there)) = here.zip(there).filter(|(here, there)| here.track_id != there.track_id) else {
                continue;
            };
            let Some((from, into)) = merged(&here, &there) else { continue };
            match self.store.merge_by_sound(owner, &from.track_id, &into.track_id).await {
                Ok(Some(_)) => {
                    recording.clone_from(&into.track_id);
                    self.pipeline.tell();
                }
                // The user has parted them, or one was removed meanwhile.
                Ok(None) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// A track that is in the library, or the one that it was merged into.
    async fn track(&self, owner: &UserId, recording: &str) -> Result<Option<LibraryTrack>, Error> {
        let Ok(id) = recording.parse::<TrackId>() else { return Ok(None) };
        if let Some(track) = self.library_track(owner, id).await? {
            return Ok(Some(track));
        }
        // The names of an upload stay with its own recording, so that an undo needs to move nothing.
        match self.store.merged(owner).await?.get(&id) {
            Some(into) => self.library_track(owner, *into).await,
            None => Ok(None),
        }
    }

    async fn library_track(&self, owner: &UserId, id: TrackId) -> Result<Option<LibraryTrack>, Error> {
        match self.store.library_track(owner, &TrackRef::Id(id)).await {
            Ok(track) => Ok(Some(track)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
