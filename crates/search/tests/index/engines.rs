//! A score means the same in both engines: it is read from the track, not from what else is in the index.

use std::{path::Path, sync::Arc};

use music::Track;
use search::{
    EmbeddedIndex, Hit, QdrantIndex, QdrantSettings, SearchPlan, TrackIndex,
    embed::{Embedder, StaticTable},
};

use crate::{
    qdrant::{double, on_the_server, patient, settings},
    support::upserts,
};

/// Function words, moods, lines and errands.
const QUERIES: [&str; 14] = [
    "in the",
    "the and of",
    "a train leaving the station",
    "slow sad piano",
    "rainy nights",
    "growing old with someone",
    "songs about the sea",
    "angry breakup",
    "dancing until morning",
    "tax return",
    "printer driver",
    "the weather forecast",
    "first snow",
    "wedding",
];
/// Two measures of similarity and of words differ a little.
const ALIKE: f32 = 0.1;

fn sample() -> Vec<Track> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/assets/sample");
    let files = ["a", "b", "c"].map(|name| std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap());
    files.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn table() -> Arc<dyn Embedder> {
    Arc::new(StaticTable::built_in().unwrap())
}

async fn best(index: &dyn TrackIndex, query: &str) -> f32 {
    let hits: Vec<Hit> = index.search(&SearchPlan::new(query, 10)).await.unwrap();
    hits.first().map_or(0.0, |hit| hit.score)
}

async fn scores_agree(settings: QdrantSettings) {
    let folder = tempfile::tempdir().unwrap();
    let embedded = EmbeddedIndex::open(folder.path(), table()).unwrap();
    let qdrant = QdrantIndex::connect(settings, table()).await.unwrap();
    let changes = upserts(&sample(), 1);
    assert_eq!(changes.len(), 300);
    embedded.apply(&changes).await.unwrap();
    qdrant.apply(&changes).await.unwrap();
    let mut apart = Vec::new();
    for query in QUERIES {
        let (here, there) = (best(&embedded, query).await, best(&qdrant, query).await);
        let is_match = |score| score >= Hit::MATCHES_FROM;
        if (here - there).abs() > ALIKE || is_match(here) != is_match(there) {
            apart.push(format!("'{query}': embedded {here:.2}, Qdrant {there:.2}"));
        }
    }
    assert_eq!(apart, Vec::<String>::new());
    assert!(best(&embedded, "in the").await < Hit::MATCHES_FROM, "function words are no match");
    qdrant.discard().await.unwrap();
}

#[tokio::test]
async fn a_score_means_the_same_in_both_engines() {
    let double = double().await;
    scores_agree(patient(settings(&double))).await;
}

#[tokio::test]
#[ignore = "needs QDRANT_URL"]
async fn a_score_means_the_same_on_the_server() {
    scores_agree(on_the_server("alike")).await;
}
