//! Lists a folder: every file with its role, and every skipped file with the reason. No file is opened here.

use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
};

use lofty::file::FileType;

/// The role of a file in a music folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    Audio,
    /// An export or a playlist, by its extension. Its content decides which.
    Export,
    /// `Song.lrc`: the lyrics of the audio file of the same name.
    Lyrics,
    CueSheet,
    /// `cover.jpg`, `folder.png`: the picture of the album in this folder.
    Artwork,
    Archive,
}

/// Why a file is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Files that operating systems and programs leave behind.
    Junk,
    /// Links are not followed, because a folder that contains itself would never end.
    Link,
    UnsupportedAudio,
    Other,
    /// With the message of the operating system.
    Unreadable(String),
}

impl Skip {
    /// The reason without details, for counting.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Junk => "system files (._*, @eaDir, .Trash, Thumbs.db)",
            Self::Link => "links (they are not followed)",
            Self::UnsupportedAudio => "audio in a format that is not supported (WMA, DSD, MIDI and others)",
            Self::Other => "files that are neither audio nor exports",
            Self::Unreadable(_) => "cannot be read",
        }
    }
}

/// One item in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderItem {
    pub path: PathBuf,
    pub what: Result<FileRole, Skip>,
}

/// Everything below `folder`, depth first, sorted by name. A folder that cannot be read is one skipped item.
pub fn walk(folder: &Path) -> Walk {
    Walk { pending: VecDeque::from([Pending::Folder(folder.to_owned())]) }
}

/// See [`walk`]. It holds only the names of the folders that are open, not of all files.
pub struct Walk {
    pending: VecDeque<Pending>,
}

enum Pending {
    Folder(PathBuf),
    Found(FolderItem),
}

impl Iterator for Walk {
    type Item = FolderItem;

    fn next(&mut self) -> Option<FolderItem> {
        loop {
            match self.pending.pop_front()? {
                Pending::Found(found) => return Some(found),
                Pending::Folder(path) => match inside(&path) {
                    Ok(inside) => inside.into_iter().rev().for_each(|pending| self.pending.push_front(pending)),
                    Err(error) => return Some(FolderItem { what: Err(Skip::Unreadable(error.to_string())), path }),
                },
            }
        }
    }
}

fn inside(folder: &Path) -> io::Result<Vec<Pending>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries.into_iter().filter_map(|entry| pending(&entry)).collect())
}

fn pending(entry: &fs::DirEntry) -> Option<Pending> {
    let path = entry.path();
    let found = |what| Some(Pending::Found(FolderItem { path: path.clone(), what }));
    if is_junk(&entry.file_name().to_string_lossy()) {
        return found(Err(Skip::Junk));
    }
    match entry.file_type() {
        Err(error) => found(Err(Skip::Unreadable(error.to_string()))),
        Ok(kind) if kind.is_symlink() => found(Err(Skip::Link)),
        Ok(kind) if kind.is_dir() => Some(Pending::Folder(path)),
        Ok(kind) if kind.is_file() => found(role(&path)),
        // Sockets, pipes and devices: reading one could block forever.
        Ok(_) => found(Err(Skip::Other)),
    }
}

fn is_junk(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower.starts_with("._")
        || lower.starts_with(".trash")
        || matches!(
            lower.as_str(),
            "@eadir"
                | "#recycle"
                | "$recycle.bin"
                | "__macosx"
                | ".ds_store"
                | "thumbs.db"
                | "desktop.ini"
                | "lost+found"
        )
}

/// Determined by the name alone.
pub fn role(path: &Path) -> Result<FileRole, Skip> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "lrc" => Ok(FileRole::Lyrics),
        "cue" => Ok(FileRole::CueSheet),
        "zip" => Ok(FileRole::Archive),
        "jpg" | "jpeg" | "png" | "webp"
            if matches!(stem.as_str(), "cover" | "folder" | "front" | "album" | "albumart") =>
        {
            Ok(FileRole::Artwork)
        }
        "csv" | "tsv" | "txt" | "json" | "jsonl" | "xml" | "xspf" | "jspf" | "m3u" | "m3u8" | "pls" | "wpl" | "nml" => {
            Ok(FileRole::Export)
        }
        "wma" | "asf" | "dsf" | "dff" | "mid" | "midi" | "ra" | "ram" | "rm" | "m4p" | "aax" | "aa" | "amr" | "tta"
        | "mka" | "ac3" | "dts" | "au" | "mod" | "xm" | "it" | "s3m" => Err(Skip::UnsupportedAudio),
        _ if FileType::from_path(path).is_some() => Ok(FileRole::Audio),
        _ => Err(Skip::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_role_or_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("Album/@eaDir")).unwrap();
        for name in [
            "Album/01 Rain.flac",
            "Album/01 Rain.lrc",
            "Album/._01 Rain.flac",
            "Album/@eaDir/x.mp3",
            "Album/cover.jpg",
            "Album/scan.jpg",
            "Album/old.wma",
            "Album/whole.cue",
            "list.m3u8",
            "data.zip",
            "notes.doc",
        ] {
            fs::write(at(name), "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), at("loop")).unwrap();
        let found: Vec<String> = walk(folder.path())
            .map(|found| {
                let path = found.path.strip_prefix(folder.path()).unwrap().display().to_string();
                format!("{path}: {:?}", found.what.map_err(|skip| skip.reason().split(' ').next().unwrap()))
            })
            .collect();
        assert_eq!(
            found,
            [
                "Album/._01 Rain.flac: Err(\"system\")",
                "Album/01 Rain.flac: Ok(Audio)",
                "Album/01 Rain.lrc: Ok(Lyrics)",
                "Album/@eaDir: Err(\"system\")",
                "Album/cover.jpg: Ok(Artwork)",
                "Album/old.wma: Err(\"audio\")",
                "Album/scan.jpg: Err(\"files\")",
                "Album/whole.cue: Ok(CueSheet)",
                "data.zip: Ok(Archive)",
                "list.m3u8: Ok(Export)",
                #[cfg(unix)]
                "loop: Err(\"links\")",
                "notes.doc: Err(\"files\")",
            ]
        );
        let missing = walk(&at("missing")).next().unwrap();
        assert!(matches!(missing.what, Err(Skip::Unreadable(_))), "{missing:?}");
    }
    /// The superuser may read every folder, so the test deletes one instead.
    #[test]
    fn an_unreadable_folder_is_reported_and_the_rest_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/1.mp3", "b/2.mp3", "c/3.mp3"] {
            fs::create_dir(folder.path().join(&name[..1])).unwrap();
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let mut walk = walk(folder.path());
        assert!(walk.next().unwrap().path.ends_with("a/1.mp3"));
        fs::remove_dir_all(folder.path().join("b")).unwrap();
        let lost = walk.next().unwrap();
        assert!(lost.path.ends_with("b") && matches!(lost.what, Err(Skip::Unreadable(_))), "{lost:?}");
        assert!(walk.next().unwrap().path.ends_with("c/3.mp3"));
        assert_eq!(walk.next(), None);
    }
}
