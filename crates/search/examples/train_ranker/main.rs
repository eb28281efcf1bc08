//! `make train-ranker`: fits the weights of the ranker to the judged searches of DATA_DIR, with the built-in table and with MiniLM beside it, and
//! writes `assets/ranker.txt`. It prints how each set is ranked by weights that have not seen it: five folds by query or conversation, and a
//! paired bootstrap.
//!
//! Usage: `train_ranker [DATA_DIR] [MODELS_DIR]`, see `eval`.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

#[path = "../eval/cpcd.rs"]
#[allow(dead_code, reason = "`eval` uses the rest")]
mod cpcd;
#[path = "../eval/data.rs"]
#[allow(dead_code, reason = "`eval` uses the rest")]
mod data;
mod fit;
#[path = "../eval/kept.rs"]
mod kept;
#[path = "../eval/metrics.rs"]
#[allow(dead_code, reason = "`eval` uses the rest")]
mod metrics;
mod report;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use data::Collection;
use fit::{By, Listed, Ranker, Set, fit};
use search::{
    Change, EmbeddedIndex, SearchPlan, TrackIndex,
    embed::{Blend, Embedder, MiniLm, StaticTable},
    ranker::CLASSES,
    signals::Signals,
};

const N_RESULTS: usize = 100;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let data_dir = arguments.next().unwrap_or_else(|| "../shared/data".into());
    let models_dir = arguments.next().unwrap_or_else(|| "segue-data/models".into());
    let table = StaticTable::built_in()?;
    // The weights hold for both, so both are fitted together.
    let minilm = MiniLm::find(&models_dir)?.context("there is no MiniLM; run tools/fetch-models")?;
    let both = Blend::new(Arc::new(kept::Kept::open(&models_dir, minilm)?), table.clone());
    let sets = sets(&data_dir, [("table", Arc::new(table)), ("MiniLM", Arc::new(both))]).await?;
    let ranker = fit(&sets, &|_| true);
    let file = file(&ranker)?;
    println!("{file}");
    report::print(&sets, &report::Folds::fitted(&sets), &ranker);
    fs::write(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/ranker.txt"), &file)?;
    Ok(())
}

fn file(ranker: &Ranker) -> anyhow::Result<String> {
    let mut file = String::from(
        "# The weights of the ranker, written by `make train-ranker`: what a signal adds to a track's share of the best score.\n",
    );
    writeln!(file, "# signal\t{}", CLASSES.join("\t"))?;
    for (at, name) in Signals::NAMES.iter().enumerate() {
        writeln!(file, "{name}\t{}", ranker.map(|weights| format!("{:.2}", weights.0[at])).join("\t"))?;
    }
    Ok(file)
}

/// Captions and conversations with every embedder, side by side. The claims of SciFact are no messages about music; `eval` says what the weights do to
/// them.
async fn sets(data_dir: &Path, embedders: [(&'static str, Arc<dyn Embedder>); 2]) -> anyhow::Result<Vec<Set>> {
    let mut running = Vec::new();
    for (name, embedder) in embedders {
        running.push(tokio::spawn(judged(name, embedder.clone(), data::musiccaps(data_dir)?)));
        let data = cpcd::Conversations::load(data_dir)?;
        running.push(tokio::spawn(conversations(name, embedder, data)));
    }
    let mut sets = Vec::new();
    for of_collection in running {
        sets.extend(of_collection.await??);
    }
    Ok(sets)
}

async fn judged(name: &'static str, embedder: Arc<dyn Embedder>, collection: Collection) -> anyhow::Result<Vec<Set>> {
    let dir = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(dir.path(), embedder)?;
    for batch in collection.tracks.chunks(512) {
        let changes: Vec<Change> = batch.iter().map(|track| Change::public(1, track.clone())).collect();
        index.apply(&changes).await?;
    }
    let mut sets = Vec::new();
    // The pairs of C share no word, so that there is nothing to weigh.
    for task in collection.tasks.iter().filter(|task| !task.name.starts_with('C')) {
        let mut lists = Vec::new();
        for query in &task.queries {
            let found = index.signalled(&SearchPlan::new(&query.text, N_RESULTS)).await?;
            let is_relevant = |isrc: &music::Isrc| query.relevant.contains(collection.id_of(isrc));
            lists.push(Listed::new(&query.id, &found, is_relevant, query.relevant.len()));
        }
        let by = if task.name.starts_with('D') { By::Mrr } else { By::Ndcg };
        sets.push(Set { embedder: name, name: task.name, by, lists });
    }
    Ok(sets)
}

/// The user's words and the helper's queries of each turn.
async fn conversations(
    name: &'static str,
    embedder: Arc<dyn Embedder>,
    data: cpcd::Conversations,
) -> anyhow::Result<Vec<Set>> {
    let dir = tempfile::tempdir()?;
    let index = data.index(dir.path(), embedder).await?;
    let [mut by_user, mut by_helper] = [Vec::new(), Vec::new()];
    for turn in &data.turns {
        let wanted = data.wanted(turn);
        let conversation = turn.id.split(':').next().unwrap_or_default();
        let helper = turn.wizard_queries.iter().map(|query| (query, false));
        for (message, is_user) in helper.chain([(&turn.user, true)]) {
            let asked = cpcd::asked(message);
            let asked = if is_user { asked.tasting(data.taste(turn)) } else { asked };
            let found = index.signalled(&asked).await?;
            let is_relevant =
                |isrc: &music::Isrc| data.same.get(isrc.as_str()).is_some_and(|same| wanted.contains(same.as_str()));
            let list = Listed::new(conversation, &found, is_relevant, wanted.len());
            if is_user { by_user.push(list) } else { by_helper.push(list) }
        }
    }
    let set = |set, lists| Set { embedder: name, name: set, by: By::Hit, lists };
    Ok(vec![set("cpcd-dev, user", by_user), set("cpcd-dev, helper", by_helper)])
}
