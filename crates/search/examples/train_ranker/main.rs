//! `make train-ranker`: fits the weights of the ranker to the judged searches of DATA_DIR with the built-in table and writes
//! `assets/ranker.txt`. It prints, with the table and with MiniLM, how each set is ranked by weights that have not seen it: five
//! folds by query or conversation, and a paired bootstrap.
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

use fit::{Candidate, Listed, Ranker, fit};
use report::{By, Set};
use search::{
    Change, EmbeddedIndex, SearchPlan, TrackIndex,
    embed::{Blend, Embedder, MiniLm, StaticTable},
    embedded::Signalled,
    ranker::{CLASSES, class_of},
    signals::Signals,
};

const N_RESULTS: usize = 100;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let data_dir = arguments.next().unwrap_or_else(|| "../shared/data".into());
    let models_dir = arguments.next().unwrap_or_else(|| "segue-data/models".into());
    let table = StaticTable::built_in()?;
    let sets = sets(&data_dir, Arc::new(table.clone())).await?;
    let seen: Vec<&Listed> = sets.iter().filter(|set| set.is_seen).flat_map(|set| &set.lists).collect();
    let ranker = fit(&seen);
    let file = file(&ranker)?;
    fs::write(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/ranker.txt"), &file)?;
    println!("{file}");
    let folds = report::Folds::fitted(&seen);
    report::print("table", &sets, &folds, &ranker);
    if let Some(minilm) = MiniLm::find(&models_dir)? {
        let both = Blend::new(Arc::new(kept::Kept::open(&models_dir, minilm)?), table);
        report::print("MiniLM", &self::sets(&data_dir, Arc::new(both)).await?, &folds, &ranker);
    }
    Ok(())
}

fn file(ranker: &Ranker) -> anyhow::Result<String> {
    let mut file = String::from(
        "# The weights of the ranker, written by `make train-ranker`: what a signal adds to a track's share of the best score.\n",
    );
    writeln!(file, "# signal\t{}", CLASSES.join("\t"))?;
    for (at, name) in Signals::NAMES.iter().enumerate() {
        writeln!(file, "{name}\t{}", ranker.map(|weights| format!("{:.3}", weights.0[at])).join("\t"))?;
    }
    Ok(file)
}

async fn sets(data_dir: &Path, embedder: Arc<dyn Embedder>) -> anyhow::Result<Vec<Set>> {
    let mut sets = Vec::new();
    for collection in [data::musiccaps(data_dir)?, data::scifact(data_dir)?] {
        let dir = tempfile::tempdir()?;
        let index = EmbeddedIndex::open(dir.path(), embedder.clone())?;
        for batch in collection.tracks.chunks(512) {
            let changes: Vec<Change> = batch.iter().map(|track| Change::public(1, track.clone())).collect();
            index.apply(&changes).await?;
        }
        for task in &collection.tasks {
            // The pairs of C share no word, so that there is nothing to weigh. The moods are aspects too.
            if task.name.starts_with('C') {
                continue;
            }
            let mut lists = Vec::new();
            for query in &task.queries {
                let found = index.signalled(&SearchPlan::new(&query.text, N_RESULTS)).await?;
                let is_relevant = |isrc: &music::Isrc| query.relevant.contains(collection.id_of(isrc));
                lists.push(listed(&query.id, &found, is_relevant, query.relevant.len()));
            }
            let is_seen = !task.name.starts_with('B') && !task.name.ends_with("unseen");
            let by = if task.name.starts_with('D') { By::Mrr } else { By::Ndcg };
            sets.push(Set { name: task.name, by, is_seen, lists });
        }
    }
    sets.extend(conversations(data_dir, embedder).await?);
    Ok(sets)
}

/// The user's words and the helper's queries of each turn.
async fn conversations(data_dir: &Path, embedder: Arc<dyn Embedder>) -> anyhow::Result<[Set; 2]> {
    let data = cpcd::Conversations::load(data_dir)?;
    let dir = tempfile::tempdir()?;
    let index = data.index(dir.path(), embedder).await?;
    let [mut by_user, mut by_helper] = [Vec::new(), Vec::new()];
    for turn in &data.turns {
        let wanted = data.wanted(turn);
        let conversation = turn.id.split(':').next().unwrap_or_default();
        let helper = turn.wizard_queries.iter().map(|query| (query, false));
        for (message, is_user) in helper.chain([(&turn.user, true)]) {
            let found = index.signalled(&cpcd::asked(message)).await?;
            let is_relevant =
                |isrc: &music::Isrc| data.same.get(isrc.as_str()).is_some_and(|same| wanted.contains(same.as_str()));
            let list = listed(conversation, &found, is_relevant, wanted.len());
            if is_user { by_user.push(list) } else { by_helper.push(list) }
        }
    }
    let set = |name, lists| Set { name, by: By::Hit, is_seen: true, lists };
    Ok([set("cpcd-dev, user", by_user), set("cpcd-dev, helper", by_helper)])
}

fn listed(group: &str, found: &[Signalled], is_relevant: impl Fn(&music::Isrc) -> bool, n_relevant: usize) -> Listed {
    let candidate =
        |one: &Signalled| Candidate { score: one.score, signals: one.signals, is_relevant: is_relevant(&one.isrc) };
    Listed {
        group: group.to_owned(),
        class: class_of(found.first().map_or(0, |one| one.n_terms)),
        candidates: found.iter().map(candidate).collect(),
        n_relevant,
    }
}
