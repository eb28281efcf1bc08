//! Pictures of a user's tracks: in their audio files, or beside them.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use engine::UserId;
use formats::audio;
use music::TrackRef;
use tracing::instrument;

use crate::{Error, library::Library};
use store::{ArtworkFile, StoreError};

/// Larger pictures are not shown.
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// A picture as it is stored in its file. Its bytes determine its type.
pub struct TrackPicture {
    pub bytes: Vec<u8>,
    /// Changes with the file.
    pub version: String,
}

impl Library {
    /// The picture of a track in the user's library. A track of another user answers like one that does not exist.
    #[instrument(name = "library.artwork", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn artwork(&self, owner: &UserId, name: &TrackRef) -> Result<TrackPicture, Error> {
        let track = self.store.library_track(owner, name).await?;
        let file = self.store.artwork_of(owner, &track.track_id).await?;
        let read = tokio::task::spawn_blocking(move || read(&file)).await;
        let read = read.map_err(|error| StoreError::Database(sqlx::Error::Io(std::io::Error::other(error))))?;
        read.ok_or(Error::NotFound)
    }
}

/// `None` if the file is missing, is outside its folder because of a link, or has no image.
fn read(file: &ArtworkFile) -> Option<TrackPicture> {
    let is_embedded = file.artwork == "embedded";
    let path = inside(&file.root, if is_embedded { &file.path } else { &file.artwork })?;
    let about = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let version = format!("{:x}-{:x}", changed.as_nanos(), about.len());
    let bytes = if is_embedded { audio::picture(&path)? } else { at_most(&path)? };
    let fits = !bytes.is_empty() && bytes.len() as u64 <= MAX_BYTES;
    fits.then_some(TrackPicture { bytes, version })
}

fn at_most(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    fs::File::open(path).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A link that replaced a file after the scan must not lead out of the folder.
fn inside(root: &str, path: &str) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.starts_with(root))
}
