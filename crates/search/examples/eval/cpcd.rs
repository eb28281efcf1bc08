//! Conversations about playlists (CPCD): how often is a track of the final playlist among the first ten results? The query
//! is the current message, without and with what was liked and refused before, all messages so far, or the query that the human assistant typed.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::Path,
    sync::Arc,
};

use anyhow::Context;
use music::Track;
use query::plan::Seed;
use search::{Change, EmbeddedIndex, SearchPlan, Taste, TrackIndex, embed::Embedder};
use serde::Deserialize;

use crate::metrics::paired_bootstrap;

pub(crate) struct Conversations {
    pub(crate) tracks: Vec<Track>,
    pub(crate) turns: Vec<Turn>,
    /// Versions of one recording have the same name.
    pub(crate) same: HashMap<String, String>,
    artists: HashMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct Turn {
    #[serde(rename = "_id")]
    pub(crate) id: String,
    history: Vec<Said>,
    pub(crate) user: String,
    pub(crate) wizard_queries: Vec<String>,
    liked_so_far: Vec<String>,
    goal: Vec<String>,
}

#[derive(Deserialize)]
struct Said {
    user: String,
    disliked: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    title: String,
    artists: Vec<String>,
    #[serde(default)]
    album: Option<String>,
    same: String,
}

const THIS_YEAR: i32 = 2026;

impl Conversations {
    pub(crate) fn load(data_dir: &Path) -> anyhow::Result<Self> {
        let dir = data_dir.join("cpcd-dev");
        let (mut tracks, mut same, mut artists) = (Vec::new(), HashMap::new(), HashMap::new());
        for (n, line) in read(&dir.join("tracks.jsonl"))?.lines().enumerate() {
            let line: Line = serde_json::from_str(line)?;
            // The ISRC contains the name of the recording, because no query searches the ISRC.
            let isrc = format!("ZZCPC26{n:05}");
            tracks.push(serde_json::from_value(serde_json::json!({
                "isrc": isrc, "title": line.title, "artist": line.artists.join(", "),
                "album": line.album.unwrap_or_default()
            }))?);
            artists.insert(line.id.clone(), line.artists.join(", "));
            same.insert(isrc, line.same.clone());
            same.insert(line.id, line.same);
        }
        let turns = read(&dir.join("turns.jsonl"))?;
        let turns = turns.lines().map(|line| Ok(serde_json::from_str(line)?)).collect::<anyhow::Result<_>>()?;
        Ok(Self { tracks, turns, same, artists })
    }

    /// The relevant recordings of a turn, by name.
    pub(crate) fn wanted(&self, turn: &Turn) -> HashSet<&str> {
        let liked: HashSet<&String> = turn.liked_so_far.iter().filter_map(|id| self.same.get(id)).collect();
        let goal = turn.goal.iter().filter_map(|id| self.same.get(id));
        goal.filter(|same| !liked.contains(same)).map(String::as_str).collect()
    }

    /// What was liked and refused before a turn.
    pub(crate) fn taste(&self, turn: &Turn) -> Taste {
        let artist = |id: &String| self.artists.get(id).map(String::as_str);
        let refused = turn.history.iter().flat_map(|said| &said.disliked);
        Taste::of(turn.liked_so_far.iter().filter_map(artist), refused.filter_map(artist))
    }

    pub(crate) async fn index(&self, dir: &Path, embedder: Arc<dyn Embedder>) -> anyhow::Result<EmbeddedIndex> {
        let index = EmbeddedIndex::open(dir, embedder)?;
        for batch in self.tracks.chunks(512) {
            let changes: Vec<Change> = batch.iter().map(|track| Change::public(1, track.clone())).collect();
            index.apply(&changes).await?;
        }
        Ok(index)
    }

    async fn is_hit(
        &self,
        index: &EmbeddedIndex,
        queries: &[String],
        turn: &Turn,
        (by_score, taste): (bool, &Taste),
    ) -> anyhow::Result<bool> {
        let wanted = self.wanted(turn);
        for query in queries {
            let found = index.search(&SearchPlan { by_score, ..asked(query).tasting(taste.clone()) }).await?;
            let codes = found.iter().filter_map(|hit| hit.track.isrc.as_ref());
            if codes.into_iter().any(|isrc| self.same.get(isrc.as_str()).is_some_and(|same| wanted.contains(&**same))) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The search that Segue makes for a message. A seed that is not in the index becomes part of the search words.
pub(crate) fn asked(message: &str) -> SearchPlan {
    let mut plan = query::parse(message, THIS_YEAR);
    for seed in std::mem::take(&mut plan.seeds) {
        if let Seed::Named(name) = seed {
            plan.words = format!("{name} {}", plan.words).trim().to_owned();
        }
    }
    SearchPlan::of(&plan, 10)
}

pub(crate) async fn evaluate(name: &str, embedder: Arc<dyn Embedder>, data: &Conversations) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let index = data.index(dir.path(), embedder).await?;
    type Wording = fn(&Turn) -> Vec<String>;
    let wordings: [(&str, bool, Wording); 4] = [
        ("user's words", false, |turn| vec![turn.user.clone()]),
        ("user's words and likes", true, |turn| vec![turn.user.clone()]),
        ("all words so far", false, |turn| {
            let said = turn.history.iter().map(|said| said.user.as_str()).chain([turn.user.as_str()]);
            vec![said.collect::<Vec<_>>().join(". ")]
        }),
        ("helper's queries", false, |turn| turn.wizard_queries.clone()),
    ];
    for (by, has_taste, wording) in wordings {
        let asked: Vec<(&Turn, Vec<String>)> = data.turns.iter().map(|turn| (turn, wording(turn))).collect();
        let asked: Vec<_> = asked.into_iter().filter(|(_, queries)| !queries.is_empty()).collect();
        let mut of_conversation: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
        for (turn, queries) in &asked {
            let conversation = turn.id.split(':').next().unwrap_or_default();
            let taste = if has_taste { data.taste(turn) } else { Taste::default() };
            let before = data.is_hit(&index, queries, turn, (true, &taste)).await?;
            let after = data.is_hit(&index, queries, turn, (false, &taste)).await?;
            let hits = [before, after].map(|is_hit| f64::from(u8::from(is_hit)));
            of_conversation.entry(conversation).or_default().push(hits);
        }
        let means = |at: usize| -> Vec<f64> {
            let mean = |hits: &Vec<[f64; 2]>| hits.iter().map(|hit| hit[at]).sum::<f64>() / hits.len() as f64;
            of_conversation.values().map(mean).collect()
        };
        let [before, after] = [means(0), means(1)];
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        println!(
            "{name:<26} cpcd-dev         hit@10   {:>7.4}   by {by}, {} turns; by score {:.4}: ranker {}",
            mean(&after),
            asked.len(),
            mean(&before),
            paired_bootstrap(&after, &before)
        );
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}
