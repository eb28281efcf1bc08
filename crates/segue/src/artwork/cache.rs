//! An in-memory image cache with a size limit. The oldest image is removed first.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use reqwest::Url;

use super::Picture;

const MAX_BYTES: usize = 32 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Cache(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    pictures: HashMap<Url, Picture>,
    oldest_first: VecDeque<Url>,
    n_bytes: usize,
}

impl Cache {
    pub(super) fn get(&self, url: &Url) -> Option<Picture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pictures.get(url).cloned()
    }

    pub(super) fn keep(&self, url: Url, picture: Picture) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.pictures.contains_key(&url) {
            return;
        }
        inner.n_bytes += picture.bytes.len();
        inner.oldest_first.push_back(url.clone());
        inner.pictures.insert(url, picture);
        while inner.n_bytes > MAX_BYTES {
            let Some(oldest) = inner.oldest_first.pop_front() else { return };
            let n_freed = inner.pictures.remove(&oldest).map_or(0, |picture| picture.bytes.len());
            inner.n_bytes -= n_freed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_stays_within_its_size_limit_and_keeps_the_newest() {
        let cache = Cache::default();
        let url = |n: usize| -> Url { format!("https://a.example/{n}").parse().unwrap() };
        for n in 0..20 {
            let picture = Picture { bytes: vec![0; 4 * 1024 * 1024].into(), media_type: "image/png" };
            cache.keep(url(n), picture);
        }
        let kept: Vec<_> = (0..20).filter(|n| cache.get(&url(*n)).is_some()).collect();
        assert_eq!(kept, (12..20).collect::<Vec<_>>());
    }
}
