//! The test collections as tracks, with their queries.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

use anyhow::Context;
use music::{Isrc, Track};
use serde::Deserialize;

use crate::metrics::Measure;

pub(crate) struct Collection {
    pub(crate) name: &'static str,
    pub(crate) tracks: Vec<Track>,
    pub(crate) tasks: Vec<Task>,
    ids: HashMap<Isrc, String>,
}

pub(crate) struct Task {
    pub(crate) name: &'static str,
    /// The main measure; the others are printed too.
    pub(crate) measure: Measure,
    pub(crate) queries: Vec<Query>,
}

#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) relevant: HashSet<String>,
}

/// The document is the caption, in place of the interpretation. Relevance comes from the aspect list of the same expert.
pub(crate) fn musiccaps(data_dir: &Path) -> anyhow::Result<Collection> {
    let dir = data_dir.join("musiccaps");
    let aspects = lines(&dir.join("queries_aspect.jsonl"))?;
    let all = queries(&aspects, &dir.join("qrels_aspect.tsv"))?;
    let moods = read(&dir.join("queries_mood_ids.txt"))?;
    let moods: HashSet<&str> = moods.split_whitespace().collect();
    let of_mood = all.iter().filter(|query| moods.contains(query.id.as_str())).cloned().collect();
    let other_words = queries(&aspects, &dir.join("qrels_aspect_nolex.tsv"))?;
    let known = queries(&lines(&dir.join("queries_knownitem.jsonl"))?, &dir.join("qrels_knownitem.tsv"))?;
    let tasks = vec![
        Task { name: "A aspects", measure: Measure::Ndcg10, queries: all },
        Task { name: "B moods", measure: Measure::Ndcg10, queries: of_mood },
        Task { name: "C no word", measure: Measure::Recall100, queries: other_words },
        Task { name: "D known items", measure: Measure::Mrr10, queries: known },
    ];
    Collection::new("MusicCaps", &dir, tasks)
}

/// The document is title and text, the query is a claim. Published results use the test split. No weight was chosen with
/// the claims of the training split.
pub(crate) fn scifact(data_dir: &Path) -> anyhow::Result<Collection> {
    let dir = data_dir.join("scifact");
    let claims = lines(&dir.join("queries.jsonl"))?;
    let tasks = vec![
        Task { name: "SciFact", measure: Measure::Ndcg10, queries: queries(&claims, &dir.join("qrels/test.tsv"))? },
        Task {
            name: "SciFact, unseen",
            measure: Measure::Ndcg10,
            queries: queries(&claims, &dir.join("qrels/train.tsv"))?,
        },
    ];
    Collection::new("SciFact", &dir, tasks)
}

impl Collection {
    fn new(name: &'static str, dir: &Path, tasks: Vec<Task>) -> anyhow::Result<Self> {
        let mut collection = Self { name, tracks: Vec::new(), tasks, ids: HashMap::new() };
        for (n, line) in lines(&dir.join("corpus.jsonl"))?.into_iter().enumerate() {
            let isrc: Isrc = format!("ZZEVL26{n:05}").parse()?;
            let text = format!("{} {}", line.title, line.text);
            collection.tracks.push(serde_json::from_value(serde_json::json!({
                "isrc": isrc, "title": "", "artist": "", "album": "", "interpretation": text.trim()
            }))?);
            collection.ids.insert(isrc, line.id);
        }
        Ok(collection)
    }

    pub(crate) fn id_of(&self, isrc: &Isrc) -> &str {
        &self.ids[isrc]
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

fn queries(lines: &[Line], qrels: &Path) -> anyhow::Result<Vec<Query>> {
    let mut relevant: HashMap<String, HashSet<String>> = HashMap::new();
    for row in read(qrels)?.lines().skip(1) {
        if let [query, document, score] = row.split('\t').collect::<Vec<_>>()[..]
            && score.trim() != "0"
        {
            relevant.entry(query.into()).or_default().insert(document.into());
        }
    }
    let judged = lines.iter().filter_map(|line| {
        let relevant = relevant.remove(&line.id)?;
        Some(Query { id: line.id.clone(), text: line.text.clone(), relevant })
    });
    Ok(judged.collect())
}

fn lines(path: &Path) -> anyhow::Result<Vec<Line>> {
    read(path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}
