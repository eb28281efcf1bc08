//! Which uploads have the same sound as a track? Uploads are not stored, so they are decoded while their temporary files exist.

use std::{fs::File, path::Path, sync::Arc};

use engine::UserId;
use formats::{content_hash, fingerprint_of, visit_audio};
use music::Fingerprint;
use store::Sound;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tracing::{instrument, warn};

use super::Folders;
use crate::{Error, import::Imported};

/// How many MB of uploads, and how many files, may wait: as much as one request can have.
const MOST_WAITING: u32 = 512;

/// An upload that contains audio.
pub struct UploadedAudio {
    name: String,
    file: File,
}

impl UploadedAudio {
    /// None: nothing in it was imported as audio.
    pub fn of(file: File, name: &str, imported: &[Imported]) -> Option<Self> {
        let has_audio = imported.iter().any(|one| one.report.kind.is_audio());
        has_audio.then(|| Self { name: name.to_owned(), file })
    }

    fn n_bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |about| about.len())
    }
}

/// Limits the temporary files that wait, and decodes one at a time.
pub(crate) struct Waiting {
    room: Arc<Semaphore>,
    decoding: Mutex<()>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(MOST_WAITING as usize)), decoding: Mutex::default() }
    }
}

impl Waiting {
    /// None: the semaphore is closed, which nothing does.
    async fn room_for(&self, uploads: &[UploadedAudio]) -> Option<OwnedSemaphorePermit> {
        let n_mb = uploads.iter().map(UploadedAudio::n_bytes).sum::<u64>() >> 20;
        let needed = n_mb.max(uploads.len() as u64).clamp(1, u64::from(MOST_WAITING));
        let needed = u32::try_from(needed).unwrap_or(MOST_WAITING);
        self.room.clone().acquire_many_owned(needed).await.ok()
    }

    pub(super) async fn all_compared(&self) {
        _ = self.room.acquire_many(MOST_WAITING).await;
    }
}

impl Folders {
    /// Waits until there is room for the uploads. The returned future compares them; it ends early with `ended`.
    pub(crate) async fn compare_uploads(
        &self,
        owner: &UserId,
        uploads: Vec<UploadedAudio>,
        ended: CancellationToken,
    ) -> Option<impl Future<Output = ()> + Send + 'static> {
        if !self.compares_sounds || uploads.is_empty() {
            return None;
        }
        let room = self.uploads.room_for(&uploads).await?;
        let (folders, owner) = (self.clone(), owner.clone());
        Some(async move {
            for upload in uploads {
                if let Err(error) = folders.compare_upload(&owner, upload, &ended).await {
                    warn!("The sound of an upload was not compared: {error}");
                }
            }
            drop(room);
        })
    }

    #[instrument(name = "folders.compare_upload", skip_all, fields(user.id = %owner))]
    async fn compare_upload(
        &self,
        owner: &UserId,
        upload: UploadedAudio,
        ended: &CancellationToken,
    ) -> Result<(), Error> {
        let _alone = self.uploads.decoding.lock().await;
        let (tell, mut heard) = mpsc::channel(1);
        let (scratch, ended) = (self.imports.scratch.clone(), ended.clone());
        let UploadedAudio { name, file } = upload;
        let decoding = tokio::task::spawn_blocking(move || {
            visit_audio(file, &name, &scratch, &mut |name, file| {
                let sound = hear(file, name, &ended);
                sound.is_none_or(|sound| tell.blocking_send(sound).is_ok()) && !ended.is_cancelled()
            })
        });
        while let Some((hash, sound)) = heard.recv().await {
            self.compare_uploaded(owner, &hash, sound).await?;
        }
        // It was read before, so only a full disk or a decoder that panics ends it early.
        match decoding.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!("An upload cannot be read again: {error}"),
            Err(error) => warn!("A decoder failed: {error}"),
        }
        Ok(())
    }

    async fn compare_uploaded(&self, owner: &UserId, hash: &str, sound: Fingerprint) -> Result<(), Error> {
        let recordings = self.store.uploaded_recordings(owner, hash).await?;
        // Otherwise the track was erased meanwhile.
        if !recordings.is_empty() {
            self.store.keep_sound(owner, hash, &Sound::Known(sound.clone())).await?;
        }
        // As with the files of folders: a scan at the same time would put a file back to the track that it was.
        let _alone = self.scanning.lock().await;
        for recording in recordings {
            self.merge_same(owner, recording, &sound).await?;
        }
        Ok(())
    }
}

/// None: the file says nothing about its recording.
fn hear(mut file: File, name: &str, ended: &CancellationToken) -> Option<(String, Fingerprint)> {
    let hash = content_hash(&mut file).ok()?;
    let sound = fingerprint_of(file, Path::new(name), &|| !ended.is_cancelled()).ok()?;
    Some((hash, sound))
}
