//! `make eval`: how good is search? BM25, vectors and hybrid on real captions and claims, with a paired bootstrap.
//!
//! Usage: `eval [DATA_DIR] [MODELS_DIR]`, where DATA_DIR has `scifact` and `musiccaps` in BEIR's layout.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod data;
mod metrics;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Instant};

use anyhow::Context;
use app::{
    embed::{Blend, Cached, Embedder, Kind, MiniLm, StaticTable},
    index::{Change, EmbeddedIndex, Ranking, TrackIndex},
};
use data::{Collection, Task};
use metrics::{Measure, paired_bootstrap};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let data_dir = arguments.next().unwrap_or_else(|| "../shared/data".into());
    let models_dir = arguments.next().unwrap_or_else(|| "segue-data/models".into());
    let collections = [data::musiccaps(&data_dir)?, data::scifact(&data_dir)?];
    println!(
        "{:<28} {:<16} {:>8} {:>8} {:>8}   hybrid against the better one",
        "embedder", "task", "BM25", "dense", "hybrid"
    );
    if let Some(minilm) = MiniLm::find(&models_dir)? {
        as_published(&minilm, &collections[1]).await?;
    }
    for (name, embedder) in embedders(&models_dir)? {
        for collection in &collections {
            evaluate(name, embedder.clone(), collection)
                .await
                .with_context(|| format!("{name} on {}", collection.name))?;
        }
    }
    Ok(())
}

fn embedders(models_dir: &std::path::Path) -> anyhow::Result<Vec<(&'static str, Arc<dyn Embedder>)>> {
    let table = StaticTable::built_in()?;
    let mut embedders: Vec<(&'static str, Arc<dyn Embedder>)> = vec![("built-in table", Arc::new(table.clone()))];
    match MiniLm::find(models_dir)? {
        Some(minilm) => {
            // Both that use it read the same texts, and reading takes minutes.
            let minilm = Arc::new(Cached::with_capacity(minilm, 100_000));
            embedders.push(("MiniLM alone", minilm.clone()));
            embedders.push(("MiniLM + table (default)", Arc::new(Blend::new(minilm, table))));
        }
        None => eprintln!("No model in {}; run tools/fetch-models to measure it too.", models_dir.display()),
    }
    Ok(embedders)
}

/// Whether the port is the model it says it is: one vector a document, as those who published it measured, and nothing of
/// ours in between. They got 0.645 on SciFact.
async fn as_published(minilm: &MiniLm, scifact: &Collection) -> anyhow::Result<()> {
    let texts: Vec<String> =
        scifact.tracks.iter().map(|track| track.interpretation.clone().unwrap_or_default()).collect();
    let documents = minilm.embed(&texts, Kind::Document).await?;
    let task = &scifact.tasks[0];
    let claims: Vec<String> = task.queries.iter().map(|query| query.text.clone()).collect();
    let claims = minilm.embed(&claims, Kind::Query).await?;
    let of_query = task.queries.iter().zip(&claims).map(|(query, claim)| {
        let similarity = |document: &Vec<f32>| document.iter().zip(claim).map(|(a, b)| a * b).sum::<f32>();
        let mut ranked: Vec<_> = documents.iter().map(similarity).zip(&scifact.tracks).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ids: Vec<_> = ranked.iter().take(100).map(|(_, track)| scifact.id_of(&track.isrc).to_string()).collect();
        task.measure.of(&ids, &query.relevant)
    });
    let mean = of_query.sum::<f64>() / task.queries.len() as f64;
    println!("{:<28} {:<16} {:>8} {mean:>8.4} {:>8}   published: 0.645", "MiniLM as published", task.name, "", "");
    Ok(())
}

async fn evaluate(name: &str, embedder: Arc<dyn Embedder>, collection: &Collection) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(dir.path(), embedder)?;
    let started = Instant::now();
    for batch in collection.tracks.chunks(512) {
        let changes: Vec<Change> = batch
            .iter()
            .map(|track| Change { revision: 1, isrc: track.isrc.clone(), track: Some(track.clone()) })
            .collect();
        index.apply(&changes).await?;
    }
    eprintln!(
        "{name}: {} documents of {} in {:.1} s",
        collection.tracks.len(),
        collection.name,
        started.elapsed().as_secs_f32()
    );
    let mut rankings: HashMap<&str, [Vec<String>; 3]> = HashMap::new();
    for task in &collection.tasks {
        for query in &task.queries {
            if !rankings.contains_key(query.id.as_str()) {
                rankings.insert(&query.id, rank(&index, &query.text, collection).await?);
            }
        }
        report(name, task, &rankings);
    }
    Ok(())
}

/// The first hundred by words alone, by vectors alone, and as search really ranks.
async fn rank(index: &EmbeddedIndex, text: &str, collection: &Collection) -> anyhow::Result<[Vec<String>; 3]> {
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for (list, ranking) in lists.iter_mut().zip([Ranking::Words, Ranking::Meaning, Ranking::Hybrid]) {
        let ranked = index.rank(text, 100, ranking).await?;
        *list = ranked.iter().map(|isrc| collection.id_of(isrc).to_string()).collect();
    }
    Ok(lists)
}

fn report(name: &str, task: &Task, rankings: &HashMap<&str, [Vec<String>; 3]>) {
    let values = |at: usize| -> Vec<f64> {
        task.queries.iter().map(|query| task.measure.of(&rankings[query.id.as_str()][at], &query.relevant)).collect()
    };
    let (words, meaning, hybrid) = (values(0), values(1), values(2));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let better = if mean(&words) >= mean(&meaning) { &words } else { &meaning };
    let bootstrap = paired_bootstrap(&hybrid, better);
    let verdict = match task.measure {
        Measure::Recall100 => format!("{:.0} % of dense kept", 100.0 * mean(&hybrid) / mean(&meaning)),
        Measure::Ndcg10 | Measure::Mrr10 => bootstrap.to_string(),
    };
    println!(
        "{name:<28} {:<16} {:>8.4} {:>8.4} {:>8.4}   {verdict}",
        task.name,
        mean(&words),
        mean(&meaning),
        mean(&hybrid)
    );
}
