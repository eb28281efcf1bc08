//! Playlist files of a folder become playlists of its owner. A file is read again when it changes or when a missing
//! audio file of it is added.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::{Component, Path, PathBuf},
};

use engine::UserId;
use formats::gather_upload;
use store::{FolderSource, PlaylistFile};

use super::{Folders, ScanReport, blocking, look::SeenPlaylist};
use crate::Error;

/// The content of a playlist file: its playlists, each with its title and the paths of its tracks in order.
struct Read {
    file: PlaylistFile,
    playlists: Vec<(String, Vec<PathBuf>)>,
}

impl Folders {
    pub(super) async fn keep_playlists(
        &self,
        owner: &UserId,
        source: &FolderSource,
        seen: Vec<SeenPlaylist>,
        report: &mut ScanReport,
    ) -> Result<(), Error> {
        let known = self.store.playlist_files(source.id).await?;
        let mut known: BTreeMap<String, PlaylistFile> =
            known.into_iter().map(|file| (file.path.clone(), file)).collect();
        let files_came = report.added + report.changed + report.moved > 0;
        let is_news = |seen: &SeenPlaylist, old: Option<PlaylistFile>| {
            old.is_none_or(|old| {
                (old.size, old.modified_ms) != (seen.size, seen.modified_ms) || (old.n_missing > 0 && files_came)
            })
        };
        let news: Vec<_> =
            seen.into_iter().filter(|seen| is_news(seen, known.remove(&seen.path.display().to_string()))).collect();
        for path in known.into_keys() {
            self.store.forget_playlist_file(owner, &path).await?;
        }
        if news.is_empty() {
            return Ok(());
        }
        let files = self.store.files_of(source.id).await?.into_iter();
        let whole = files.filter(|file| !file.is_missing && file.problem.is_none() && file.part == 0);
        let tracks: HashMap<String, String> = whole.map(|file| (file.path, file.recording_id)).collect();
        for read in blocking(move || news.into_iter().map(read).collect::<Vec<_>>()).await? {
            match read {
                Ok(read) => {
                    report.playlists += 1;
                    self.keep_playlist(owner, source, &tracks, read).await?;
                }
                Err((path, why)) => report.complain(&path, &why),
            }
        }
        Ok(())
    }

    async fn keep_playlist(
        &self,
        owner: &UserId,
        source: &FolderSource,
        tracks: &HashMap<String, String>,
        Read { mut file, playlists }: Read,
    ) -> Result<(), Error> {
        for (title, paths) in playlists {
            let found: Vec<String> =
                paths.iter().filter_map(|path| tracks.get(&path.display().to_string()).cloned()).collect();
            file.n_missing = i32::try_from(paths.len() - found.len()).unwrap_or(i32::MAX);
            self.store.keep_playlist_file(owner, source.id, &file, &title, &found).await?;
        }
        Ok(())
    }
}

/// The first playlist of a file: these formats have one each.
fn read(seen: SeenPlaylist) -> Result<Read, (String, String)> {
    let path = seen.path.display().to_string();
    let failed = |why: String| (path.clone(), why);
    let name = seen.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = File::open(&seen.path).map_err(|error| failed(error.to_string()))?;
    let (_, gathered) = gather_upload(file, &name).map_err(|error| failed(error.to_string()))?;
    let folder = seen.path.parent().unwrap_or(&seen.path);
    let place = |n: &usize| {
        let location = gathered.tracks.get(*n)?.ids.location.as_deref()?.replace('\\', "/");
        Some(normal(&folder.join(location)))
    };
    let playlists = gathered.playlists.iter().take(1);
    let playlists = playlists.map(|(title, places)| (title.clone(), places.iter().filter_map(place).collect()));
    let (size, modified_ms) = (seen.size, seen.modified_ms);
    Ok(Read { playlists: playlists.collect(), file: PlaylistFile { path, size, modified_ms, n_missing: 0 } })
}

/// The path without `.` and `..`, without access to the file system.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}
