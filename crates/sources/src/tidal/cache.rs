//! A bounded cache with an expiry time.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Drops the oldest entry when it is full, and every entry after `life`.
pub(super) struct Cache<K, V> {
    entries: Mutex<Entries<K, V>>,
    capacity: usize,
    life: Duration,
}

struct Entries<K, V> {
    by_key: HashMap<K, (V, Instant)>,
    /// Oldest first. Every key is here exactly once.
    order: VecDeque<K>,
}

impl<K: Eq + Hash + Clone, V: Clone> Cache<K, V> {
    pub(super) fn new(capacity: usize, life: Duration) -> Self {
        Self { entries: Mutex::new(Entries { by_key: HashMap::new(), order: VecDeque::new() }), capacity, life }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (value, kept_at) = entries.by_key.get(key)?;
        (kept_at.elapsed() < self.life).then(|| value.clone())
    }

    pub(super) fn keep(&self, key: K, value: V) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_key.insert(key.clone(), (value, Instant::now())).is_some() {
            entries.order.retain(|known| *known != key);
        }
        entries.order.push_back(key);
        while entries.order.len() > self.capacity {
            if let Some(oldest) = entries.order.pop_front() {
                entries.by_key.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn entries_are_dropped_when_expired_or_too_many() {
        let cache = Cache::new(2, Duration::from_secs(60));
        cache.keep("a", 1);
        cache.keep("b", 2);
        cache.keep("a", 3);
        cache.keep("c", 4);
        assert_eq!((cache.get(&"a"), cache.get(&"b"), cache.get(&"c")), (Some(3), None, Some(4)));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!((cache.get(&"a"), cache.get(&"c")), (None, None));
    }
}
