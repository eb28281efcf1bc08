//! `make eval`: measures the quality of search. It compares BM25, vectors and hybrid search on real captions, claims and
//! conversations with a paired bootstrap, and runs Segue's own queries and ten thousand generated queries on the sample
//! library.
//!
//! Usage: `eval [DATA_DIR|own] [MODELS_DIR]`, where DATA_DIR has `scifact` and `musiccaps` in BEIR's layout and
//! `cpcd-dev`. With QDRANT_URL the same queries are sent to that server too.

#![allow(clippy::print_stdout, reason = "the table is the output of this program")]

mod cpcd;
mod data;
mod generated;
mod kept;
mod metrics;
mod own;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use data::{Collection, Query, Task};
use metrics::{Measure, paired_bootstrap};
use music::Isrc;
use search::{
    Change, EmbeddedIndex, QdrantIndex, QdrantSettings, Ranking, SearchPlan, TrackIndex,
    embed::{Blend, Bridge, Embedder, MiniLm, StaticTable, TextKind, UseM3},
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let data_dir = arguments.next().unwrap_or_else(|| "../shared/data".into());
    let models_dir = arguments.next().unwrap_or_else(|| "segue-data/models".into());
    // The path of the crate is known at compile time; the sample library is in the same repository.
    let sample_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../app/assets/sample");
    for (name, embedder) in embedders(&models_dir)? {
        own::evaluate(name, embedder, &sample_dir).await?;
    }
    if data_dir.as_os_str() == "own" {
        return own::generated(Arc::new(StaticTable::built_in()?), &sample_dir).await;
    }
    let conversations = cpcd::Conversations::load(&data_dir)?;
    for (name, embedder) in embedders(&models_dir)? {
        cpcd::evaluate(name, embedder, &conversations).await?;
    }
    let collections = [data::musiccaps(&data_dir)?, data::scifact(&data_dir)?];
    print_row(
        "embedder",
        "task",
        "",
        ["BM25", "dense", "score", "hybrid", "Qdrant"].map(String::from),
        "hybrid − the better one of BM25 and dense · hybrid − hybrid by score, without the ranker",
    );
    for (name, embedder) in embedders(&models_dir)? {
        for collection in &collections {
            evaluate(name, embedder.clone(), collection)
                .await
                .with_context(|| format!("{name} on {}", collection.name))?;
        }
    }
    own::generated(Arc::new(StaticTable::built_in()?), &sample_dir).await?;
    if let Some(minilm) = MiniLm::find(&models_dir)? {
        as_published(&kept::Kept::open(&models_dir, minilm)?, &collections[1]).await?;
    }
    Ok(())
}

fn embedders(models_dir: &std::path::Path) -> anyhow::Result<Vec<(&'static str, Arc<dyn Embedder>)>> {
    let table = StaticTable::built_in()?;
    let mut embedders: Vec<(&'static str, Arc<dyn Embedder>)> = vec![("built-in table", Arc::new(table.clone()))];
    match MiniLm::find(models_dir)? {
        Some(minilm) => {
            // Every collection uses the same texts, and embedding takes minutes.
            let minilm = Arc::new(kept::Kept::open(models_dir, minilm)?);
            embedders.push(("MiniLM + table (default)", Arc::new(Blend::new(minilm.clone(), table))));
            if let Some(across) = UseM3::find(models_dir)? {
                let across = Arc::new(kept::Kept::open(models_dir, across)?);
                let both = Blend::new(minilm.clone(), StaticTable::built_in()?);
                embedders.push(("MiniLM + table + USE", Arc::new(Bridge::new(both, across.clone()))));
                embedders.push(("table + USE", Arc::new(Bridge::new(StaticTable::built_in()?, across))));
            }
            embedders.push(("MiniLM alone", minilm));
        }
        None => eprintln!("No model in {}; run tools/fetch-models to measure it too.", models_dir.display()),
    }
    Ok(embedders)
}

/// Checks our port of MiniLM against the published result, with one vector per document and without BM25. The published
/// value on SciFact is 0.645.
async fn as_published(minilm: &impl Embedder, scifact: &Collection) -> anyhow::Result<()> {
    let texts: Vec<String> =
        scifact.tracks.iter().map(|track| track.interpretation.clone().unwrap_or_default()).collect();
    let documents = minilm.embed(&texts, TextKind::Document).await?;
    let task = &scifact.tasks[0];
    let claims: Vec<String> = task.queries.iter().map(|query| query.text.clone()).collect();
    let claims = minilm.embed(&claims, TextKind::Query).await?;
    let of_query = task.queries.iter().zip(&claims).map(|(query, claim)| {
        let similarity = |document: &Vec<f32>| document.iter().zip(claim).map(|(a, b)| a * b).sum::<f32>();
        let mut ranked: Vec<_> = documents.iter().map(similarity).zip(&scifact.tracks).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ids: Vec<_> = ranked
            .iter()
            .take(100)
            .map(|(_, track)| scifact.id_of(track.isrc.as_ref().expect("every track has an ISRC")).to_string())
            .collect();
        task.measure.of(&ids, &query.relevant)
    });
    let mean = of_query.sum::<f64>() / task.queries.len() as f64;
    let values = ["".into(), format!("{mean:.4}"), "".into(), "".into(), "".into()];
    print_row("MiniLM as published", task.name, task.measure.name(), values, "published: 0.645");
    Ok(())
}

async fn evaluate(name: &str, embedder: Arc<dyn Embedder>, collection: &Collection) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(dir.path(), embedder.clone())?;
    fill(&index, collection).await?;
    let qdrant = in_qdrant(embedder, collection).await?;
    let mut rankings: Rankings = HashMap::new();
    for task in &collection.tasks {
        for query in &task.queries {
            if !rankings.contains_key(query.id.as_str()) {
                rankings.insert(&query.id, rank(&index, qdrant.as_ref(), &query.text, collection).await?);
            }
        }
        report(name, task, &rankings);
    }
    match qdrant {
        Some(qdrant) => Ok(qdrant.discard().await?),
        None => Ok(()),
    }
}

async fn fill(index: &dyn TrackIndex, collection: &Collection) -> anyhow::Result<()> {
    let started = Instant::now();
    for batch in collection.tracks.chunks(512) {
        let changes: Vec<Change> = batch.iter().map(|track| Change::public(1, track.clone())).collect();
        index.apply(&changes).await?;
    }
    let info = index.info().await?;
    let (n, seconds) = (info.n_tracks, started.elapsed().as_secs_f32());
    eprintln!("{}, {}: {n} documents of {} in {seconds:.1} s", info.engine, info.embedder.model, collection.name);
    Ok(())
}

async fn in_qdrant(embedder: Arc<dyn Embedder>, collection: &Collection) -> anyhow::Result<Option<QdrantIndex>> {
    let Ok(url) = std::env::var("QDRANT_URL") else { return Ok(None) };
    let prefix = format!("segue-eval-{}", std::process::id());
    let settings = QdrantSettings::new(url, std::env::var("QDRANT_API_KEY").ok());
    let settings = QdrantSettings { prefix, timeout: Duration::from_secs(60), ..settings };
    let index = QdrantIndex::connect(settings, embedder).await?;
    fill(&index, collection).await?;
    Ok(Some(index))
}

type Rankings<'a> = HashMap<&'a str, Vec<Vec<String>>>;

/// The first hundred results by words alone, by vectors alone, by the score of hybrid search, by hybrid search, and by hybrid search in
/// Qdrant.
async fn rank(
    index: &EmbeddedIndex,
    qdrant: Option<&QdrantIndex>,
    text: &str,
    collection: &Collection,
) -> anyhow::Result<Vec<Vec<String>>> {
    let ids = |ranked: &[Isrc]| ranked.iter().map(|isrc| collection.id_of(isrc).to_string()).collect();
    let mut lists = Vec::new();
    for ranking in [Ranking::Words, Ranking::Meaning] {
        lists.push(ids(&index.rank(text, 100, ranking).await?));
    }
    let plan = SearchPlan::new(text, 100);
    let mut found = vec![index.search(&plan.clone().by_score()).await?, index.search(&plan).await?];
    if let Some(qdrant) = qdrant {
        found.push(qdrant.search(&plan).await?);
    }
    for hits in found {
        lists.push(ids(&hits.into_iter().filter_map(|hit| hit.track.isrc).collect::<Vec<_>>()));
    }
    Ok(lists)
}

fn report(name: &str, task: &Task, rankings: &Rankings) {
    for measure in Measure::ALL {
        let values = |at: usize| -> Vec<f64> {
            let of_query = |query: &Query| Some(measure.of(rankings[query.id.as_str()].get(at)?, &query.relevant));
            task.queries.iter().filter_map(of_query).collect()
        };
        let lists = [0, 1, 2, 3, 4].map(values);
        let verdict = if measure == task.measure { verdict(measure, &lists) } else { String::new() };
        let means = lists.map(|list| if list.is_empty() { String::new() } else { format!("{:.4}", mean(&list)) });
        print_row(name, task.name, measure.name(), means, &verdict);
    }
}

fn verdict(measure: Measure, [words, meaning, score, hybrid, _]: &[Vec<f64>; 5]) -> String {
    if measure == Measure::Recall100 {
        return format!("{:.0} % of dense kept", 100.0 * mean(hybrid) / mean(meaning));
    }
    let better = if mean(words) >= mean(meaning) { words } else { meaning };
    format!("{} · ranker {}", paired_bootstrap(hybrid, better), paired_bootstrap(hybrid, score))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn print_row(embedder: &str, task: &str, measure: &str, values: [String; 5], verdict: &str) {
    let values = values.map(|value| format!("{value:>7}")).join(" ");
    println!("{embedder:<26} {task:<16} {measure:<8} {values}   {verdict}");
}
