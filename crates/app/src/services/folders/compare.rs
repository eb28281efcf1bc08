//! The changes in a folder since the last scan. New and changed files are opened to compute a hash of their audio.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
};

use formats::content_hash;
use store::{LibraryFile, MovedFile};

use super::{Fresh, News, look::Seen};

pub(super) struct Compared {
    /// New and changed files.
    pub(super) fresh: Vec<Fresh>,
    pub(super) moved: Vec<MovedFile>,
    pub(super) gone: Vec<String>,
    /// Unchanged files that cannot be read.
    pub(super) unreadable: Vec<(String, String)>,
}

/// A file of the last scan, with its parts.
struct KnownFile {
    parts: Vec<LibraryFile>,
}

impl KnownFile {
    fn first(&self) -> &LibraryFile {
        &self.parts[0]
    }

    fn is_as(&self, seen: &Seen) -> bool {
        let file = self.first();
        !file.is_missing && (file.size, file.modified_ms) == (seen.size, seen.modified_ms) && file.beside == seen.beside
    }
}

pub(super) fn compare(known: Vec<LibraryFile>, seen: Vec<Seen>) -> Compared {
    let mut n_files_of: HashMap<String, usize> = HashMap::new();
    let mut by_path: BTreeMap<String, KnownFile> = BTreeMap::new();
    for file in known {
        if !file.is_missing {
            *n_files_of.entry(file.recording_id.clone()).or_default() += 1;
        }
        by_path.entry(file.path.clone()).or_insert_with(|| KnownFile { parts: vec![] }).parts.push(file);
    }
    let mut compared = Compared { fresh: vec![], moved: vec![], gone: vec![], unreadable: vec![] };
    let mut new = vec![];
    for file in seen {
        match by_path.remove(&file.path.display().to_string()) {
            Some(old) if old.is_as(&file) => {
                let problem = old.first().problem.clone();
                compared.unreadable.extend(problem.map(|why| (old.first().path.clone(), why)));
            }
            Some(old) => compared.fresh.push(changed(file, &old, &n_files_of)),
            None => new.push(file),
        }
    }
    // The remaining known files are missing: moved or deleted.
    let mut lost: HashMap<String, Vec<KnownFile>> = HashMap::new();
    for (path, old) in by_path {
        lost.entry(old.first().content_hash.clone().unwrap_or(path)).or_default().push(old);
    }
    for file in new {
        let hash = hash_of(&file);
        match hash.as_ref().and_then(|hash| lost.get_mut(hash)?.pop()) {
            Some(old) => {
                compared.moved.push(moved(&old, &file));
                compared.fresh.push(Fresh { news: News::Moved, ..reread(file, &old, hash, &n_files_of) });
            }
            None => compared.fresh.push(Fresh { seen: file, hash, news: News::Added, is_pinned: false, same: None }),
        }
    }
    let lost = lost.into_values().flatten().filter(|old| !old.first().is_missing);
    compared.gone.extend(lost.map(|old| old.first().path.clone()));
    compared
}

fn hash_of(file: &Seen) -> Option<String> {
    fs::File::open(&file.path).and_then(content_hash).ok()
}

fn changed(file: Seen, old: &KnownFile, n_files_of: &HashMap<String, usize>) -> Fresh {
    let hash = hash_of(&file);
    reread(file, old, hash, n_files_of)
}

/// A known file that changed: with the same audio it is the same track, even if its tags changed, unless another file
/// is that track too.
fn reread(seen: Seen, old: &KnownFile, hash: Option<String>, n_files_of: &HashMap<String, usize>) -> Fresh {
    let file = old.first();
    let is_alone = n_files_of.get(&file.recording_id).is_none_or(|n| *n <= 1);
    let is_same = hash.is_some() && hash == file.content_hash && old.parts.len() == 1;
    let same = file.recording_id.parse().ok().filter(|_| is_same && (is_alone || file.is_pinned));
    Fresh { seen, hash, news: News::Changed, is_pinned: file.is_pinned && is_same, same }
}

fn moved(old: &KnownFile, file: &Seen) -> MovedFile {
    MovedFile {
        from: old.first().path.clone(),
        to: file.path.display().to_string(),
        size: file.size,
        modified_ms: file.modified_ms,
        beside: file.beside.clone(),
    }
}
