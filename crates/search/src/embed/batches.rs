//! Batches of texts of similar length, computed on several threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use anyhow::{Context, anyhow};

/// The positions of all texts in batches of at most `size` word pieces, or of one longer text. The longest come first, so
/// that no thread begins a long batch when the others have nothing left to do.
pub(super) fn by_length(lengths: &[usize], size: usize) -> Vec<Vec<usize>> {
    let mut positions: Vec<usize> = (0..lengths.len()).collect();
    positions.sort_by_key(|at| std::cmp::Reverse(lengths[*at]));
    let (mut batches, mut space): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
    for at in positions {
        match batches.last_mut().filter(|_| lengths[at] <= space) {
            Some(batch) => batch.push(at),
            None => {
                batches.push(vec![at]);
                space = size.max(lengths[at]);
            }
        }
        space -= lengths[at];
    }
    batches
}

/// Computes one result for each position of the batches, in the order of the positions. Each worker takes the next batch
/// when it has finished one.
pub(super) fn compute<W: Sync, T: Send>(
    workers: &[W],
    batches: &[Vec<usize>],
    run: impl Fn(&W, &[usize]) -> anyhow::Result<Vec<T>> + Sync,
) -> anyhow::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let work = |worker: &W| -> anyhow::Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.extend(batch.iter().copied().zip(run(worker, batch)?));
        }
        Ok(done)
    };
    let mut results: Vec<Option<T>> = batches.iter().flatten().map(|_| None).collect();
    thread::scope(|scope| {
        let work = &work;
        let busy = workers.iter().take(batches.len());
        let threads: Vec<_> = busy.map(|worker| scope.spawn(move || work(worker))).collect();
        for thread in threads {
            for (at, result) in thread.join().map_err(|_| anyhow!("an embedding thread died"))?? {
                results[at] = Some(result);
            }
        }
        anyhow::Ok(())
    })?;
    results.into_iter().collect::<Option<Vec<T>>>().context("a batch has fewer vectors than texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_computed_once_with_texts_of_similar_length() {
        let lengths: Vec<usize> = (0..37).map(|n| n * 7919 % 41).collect();
        let batches = by_length(&lengths, 64);
        let mut sorted = lengths.clone();
        sorted.sort_unstable();
        let taken: Vec<usize> = batches.iter().flatten().rev().map(|at| lengths[*at]).collect();
        assert_eq!(taken, sorted);
        let size = |batch: &Vec<usize>| batch.iter().map(|at| lengths[*at]).sum::<usize>();
        assert!(batches.iter().all(|batch| size(batch) <= 64));
        assert!(batches.windows(2).all(|pair| size(&pair[0]) + lengths[pair[1][0]] > 64), "a batch has space left");
        assert_eq!(by_length(&[3, 90, 2], 64), [vec![1], vec![0, 2]]);
        for workers in [&[1][..], &[1, 2, 3]] {
            let own = |_: &i32, batch: &[usize]| Ok(batch.iter().map(|at| lengths[*at]).collect());
            assert_eq!(compute(workers, &batches, own).unwrap(), lengths);
        }
        assert!(compute::<i32, usize>(&[1], &[], |_, _| unreachable!()).unwrap().is_empty());
    }

    #[test]
    fn a_failed_batch_or_a_missing_vector_is_an_error() {
        let batches = by_length(&[1; 10], 2);
        let failing = |_: &i32, batch: &[usize]| if batch[0] == 4 { Err(anyhow!("no memory")) } else { Ok(vec![0; 2]) };
        assert_eq!(compute(&[1, 2], &batches, failing).unwrap_err().to_string(), "no memory");
        assert!(compute(&[1, 2], &batches, |_, batch| Ok(vec![0; batch.len() - 1])).is_err());
    }
}
