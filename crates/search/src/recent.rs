//! The tracks that searches read recently, with their words. A search of the same library reads many of them again.

use std::{
    collections::HashMap,
    hash::Hash,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use music::Track;

use super::{read_track::ReadTrack, track_words::TrackWords};

/// The memory of both generations: about fifteen hundred tracks with lyrics and a description.
const MOST_BYTES: usize = 16 << 20;

/// Two generations: when the young one has half of the memory, it becomes the old one, and tracks that were not read
/// since are dropped.
pub(crate) struct Recent<K> {
    generations: Mutex<Generations<K>>,
    most_bytes: usize,
}

struct Generations<K> {
    young: HashMap<K, Arc<ReadTrack>>,
    old: HashMap<K, Arc<ReadTrack>>,
    n_young_bytes: usize,
}

impl<K> Default for Recent<K> {
    fn default() -> Self {
        Self::with_bytes(MOST_BYTES)
    }
}

impl<K> Recent<K> {
    fn with_bytes(most_bytes: usize) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), n_young_bytes: 0 };
        Self { generations: Mutex::new(generations), most_bytes }
    }
}

impl<K: Eq + Hash> Recent<K> {
    /// The track of a key that never stands for another content.
    pub(crate) fn read<E>(&self, key: K, load: impl FnOnce() -> Result<ReadTrack, E>) -> Result<Arc<ReadTrack>, E> {
        if let Some(read) = self.get(&key) {
            return Ok(read);
        }
        let read = Arc::new(load()?);
        self.put(key, read.clone());
        Ok(read)
    }

    /// A track that was loaded anyway: its words are loaded only if it is new or has changed.
    pub(crate) fn with_words<E>(
        &self,
        key: K,
        track: Track,
        words: impl FnOnce() -> Result<TrackWords, E>,
    ) -> Result<Arc<ReadTrack>, E> {
        if let Some(read) = self.get(&key).filter(|read| read.track == track) {
            return Ok(read);
        }
        let read = Arc::new(ReadTrack::new(track, words()?));
        self.put(key, read.clone());
        Ok(read)
    }

    fn get(&self, key: &K) -> Option<Arc<ReadTrack>> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = generations.young.get(key) {
            return Some(read.clone());
        }
        let (key, read) = generations.old.remove_entry(key)?;
        self.insert(&mut generations, key, read.clone());
        Some(read)
    }

    fn put(&self, key: K, read: Arc<ReadTrack>) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        self.insert(&mut generations, key, read);
    }

    fn insert(&self, generations: &mut Generations<K>, key: K, read: Arc<ReadTrack>) {
        let n_bytes = read.n_bytes();
        if generations.n_young_bytes + n_bytes > self.most_bytes / 2 {
            generations.old = mem::take(&mut generations.young);
            generations.n_young_bytes = 0;
        }
        generations.n_young_bytes += n_bytes;
        if let Some(replaced) = generations.young.insert(key, read) {
            generations.n_young_bytes -= replaced.n_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(title: &str) -> Track {
        Track::named("ZZSEG2600001".parse().unwrap(), title.into(), "Someone".into(), String::new())
    }

    #[test]
    fn a_key_is_loaded_once_until_newer_tracks_take_its_memory() {
        let recent = Recent::with_bytes(16 * ReadTrack::of(track("a")).n_bytes());
        let load = |key: u32| {
            let mut is_loaded = false;
            let read = recent.read(key, || {
                is_loaded = true;
                Ok::<_, ()>(ReadTrack::of(track("a")))
            });
            assert!(read.is_ok());
            is_loaded
        };
        assert!(load(0) && !load(0));
        for key in 1..100 {
            assert!(load(key), "{key}");
            assert!(!load(0), "a key that is used stays: {key}");
        }
        assert!(load(1), "a key that is not used is dropped");
        let generations = recent.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 16);
    }

    #[test]
    fn a_changed_track_gets_its_new_words() {
        let recent = Recent::default();
        let is_named = |name: &str, track: Track| {
            let words = TrackWords::of(&track);
            let read = recent.with_words(1, track, || Ok::<_, ()>(words)).unwrap();
            read.words.is_name(&[name.to_owned()])
        };
        assert!(is_named("harbour", track("Harbour")));
        assert!(is_named("harbour", track("Harbour")));
        assert!(is_named("lantern", track("Lantern")));
        assert!(!is_named("lantern", track("Harbour")));
    }
}
