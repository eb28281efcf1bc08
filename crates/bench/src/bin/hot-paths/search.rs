//! A search of the sample library, and the fusion of its scores.

use std::{hint::black_box, sync::Arc};

use music::scope::{PUBLIC, SAMPLE, reader};
use search::{
    Change, EmbeddedIndex, Scope, SearchPlan, TrackIndex,
    embed::StaticTable,
    fuse::{Evidence, Scored, Yardstick, places, score},
};

use super::library::{QUERIES, sample};

pub(crate) const READER: &str = "ana";
const LIMIT: usize = 20;
const N_CANDIDATES: u32 = 400;

/// One time is one search with each query.
pub(crate) async fn search(times: u32, scope: Scope) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(folder.path(), Arc::new(StaticTable::built_in()?))?;
    let marks = |n: usize| if n.is_multiple_of(3) { vec![reader(READER), PUBLIC.into()] } else { vec![SAMPLE.into()] };
    let change = |(n, track)| Change { readers: marks(n), ..Change::public(1, track) };
    index.apply(&sample()?.into_iter().enumerate().map(change).collect::<Vec<_>>()).await?;
    for _ in 0..times {
        for query in QUERIES {
            let found = index.search(&SearchPlan::new(query, LIMIT).within(scope.clone())).await?;
            anyhow::ensure!(!found.is_empty(), "'{query}' found nothing");
        }
    }
    Ok(())
}

/// The scores and places of one query's candidates.
pub(crate) fn fusion(times: u32) -> anyhow::Result<()> {
    let part = |n: u32, of: u32| (n * 7919 % of) as f32 / of as f32;
    let sample: Vec<f32> = (0..512).map(|n| part(n, 509)).collect();
    let evidence: Vec<Evidence> = (0..N_CANDIDATES)
        .map(|n| Evidence { words: 9.0 * part(n, 97), similarity: part(n, 211), sound: part(n, 13) })
        .collect();
    for _ in 0..times {
        let yardstick = Yardstick::new(black_box(&sample));
        let sums: Vec<f32> = black_box(&evidence).iter().map(|evidence| yardstick.sum(evidence, 3)).collect();
        let best = sums.iter().copied().fold(0.0, f32::max);
        let scored = sums.iter().zip(&evidence).zip(0u32..);
        let scored = scored.map(|((sum, evidence), key)| {
            let score = score(evidence.similarity, *sum, best);
            Scored { key, score, similarity: evidence.similarity }
        });
        black_box(places(scored.collect(), N_CANDIDATES as usize));
    }
    Ok(())
}
