//! Which imported files have the same sound as a track? Uploads are not stored, so they are decoded while their temporary files
//! exist. Files of a path are decoded after their import.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::UserId;
use formats::{Visit, content_hash, fingerprint_of, visit_audio, visit_audio_at};
use music::Fingerprint;
use store::{Sound, Store};
use tokio::{
    runtime::Handle,
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc},
};
use tokio_util::sync::CancellationToken;
use tracing::{instrument, warn};

use super::Folders;
use crate::{Error, import::Given};

/// How many MB of uploads, and how many files, may wait: as much as one request can have.
const MOST_WAITING: u32 = 512;

/// An upload that contains audio.
pub(super) struct UploadedAudio {
    name: String,
    file: File,
}

impl UploadedAudio {
    /// `None` for a path: its files are decoded where they are.
    fn of(given: Given) -> Option<Self> {
        match given {
            Given::Upload { file, name } => Some(Self { name, file }),
            Given::Path(_) => None,
        }
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
        audio: Vec<Given>,
        ended: CancellationToken,
    ) -> Option<impl Future<Output = ()> + Send + 'static> {
        let uploads: Vec<_> = audio.into_iter().filter_map(UploadedAudio::of).collect();
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
        let (scratch, UploadedAudio { name, file }) = (self.imports.scratch.clone(), upload);
        let visit = move |visit: &mut Visit<'_>| match visit_audio(file, &name, &scratch, visit) {
            Ok(()) => {}
            // It was read before, so only a full disk ends it early.
            Err(error) => warn!("An upload cannot be read again: {error}"),
        };
        self.compare_each(owner, visit, ended).await.map(drop)
    }

    /// Compares the sounds of the audio files at a path that were just imported: a file, an archive or a folder. Returns how many
    /// have a sound to compare.
    #[instrument(name = "folders.compare_imported", skip_all, fields(user.id = %owner))]
    pub async fn compare_imported(&self, owner: &UserId, path: PathBuf) -> Result<usize, Error> {
        let scratch = self.imports.scratch.clone();
        let visit = move |visit: &mut Visit<'_>| match visit_audio_at(&path, &scratch, visit) {
            Ok(()) => {}
            Err(error) => warn!("Imported files cannot be read again: {error}"),
        };
        self.compare_each(owner, visit, &CancellationToken::new()).await
    }

    /// Whether this installation compares sounds.
    pub fn compares_sounds(&self) -> bool {
        self.compares_sounds
    }

    /// Decodes the files that `visit` visits, one after the other, and compares each.
    async fn compare_each(
        &self,
        owner: &UserId,
        visit: impl FnOnce(&mut Visit<'_>) + Send + 'static,
        ended: &CancellationToken,
    ) -> Result<usize, Error> {
        let (tell, mut heard) = mpsc::channel(1);
        let (hearing, ended) = (Hearing { store: self.store.clone(), owner: owner.clone() }, ended.clone());
        let runtime = Handle::current();
        let decoding = background::spawn_blocking(move || {
            visit(&mut |name, file| {
                let sound = hearing.hear(file, name, &runtime, &ended);
                sound.is_none_or(|sound| tell.blocking_send(sound).is_ok()) && !ended.is_cancelled()
            });
        });
        let mut n_files = 0;
        while let Some((hash, sound)) = heard.recv().await {
            self.compare_uploaded(owner, &hash, sound).await?;
            n_files += 1;
        }
        if let Err(error) = decoding.await {
            warn!("A decoder failed: {error}");
        }
        Ok(n_files)
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

/// Decodes the files of one user.
struct Hearing {
    store: Store,
    owner: UserId,
}

impl Hearing {
    /// None: the file says nothing about its recording. Runs on a thread that may wait.
    fn hear(
        &self,
        mut file: File,
        name: &str,
        runtime: &Handle,
        ended: &CancellationToken,
    ) -> Option<(String, Fingerprint)> {
        let hash = content_hash(&mut file).ok()?;
        // Without the answer the file is decoded again, and nothing else is lost.
        let known = runtime.block_on(self.store.sound(&self.owner, &hash)).ok().flatten();
        let sound = match known {
            Some(Sound::Known(sound)) => sound,
            Some(Sound::None(_) | Sound::Damaged(_)) | None => {
                fingerprint_of(file, Path::new(name), &|| !ended.is_cancelled()).ok()?
            }
        };
        Some((hash, sound))
    }
}
