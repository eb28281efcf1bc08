//! A value that is computed at most once per interval, for any number of callers.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

pub(crate) struct Recent<T> {
    keeps: Duration,
    /// Locked while the value is computed: other callers wait for it.
    value: Mutex<Option<(Instant, T)>>,
}

impl<T: Clone> Recent<T> {
    pub(crate) fn new(keeps: Duration) -> Self {
        Self { keeps, value: Mutex::default() }
    }

    pub(crate) async fn get(&self, make: impl Future<Output = T>) -> T {
        let mut value = self.value.lock().await;
        if let Some((_, known)) = value.as_ref().filter(|(at, _)| at.elapsed() < self.keeps) {
            return known.clone();
        }
        let made = make.await;
        *value = Some((Instant::now(), made.clone()));
        made
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn concurrent_callers_compute_once_and_an_old_value_is_computed_again() {
        let n_made = AtomicU32::new(0);
        let make = || async { n_made.fetch_add(1, Ordering::Relaxed) };
        let recent = Recent::new(Duration::from_secs(3600));
        let all = futures::future::join_all((0..100).map(|_| recent.get(make()))).await;
        assert!(all.iter().all(|value| *value == 0), "{all:?}");
        let never = Recent::new(Duration::ZERO);
        assert_eq!((never.get(make()).await, never.get(make()).await), (1, 2));
    }
}
