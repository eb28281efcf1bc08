//! Test tracks, and a source of changes in memory.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use futures::future::BoxFuture;
use music::{AudioFeatures, DocumentId, Isrc, Track, TrackId};
use search::{
    Change, LiveIndex, SearchPlan, Successor, TrackIndex, TrackSource,
    embed::{EmbedError, Embedder, EmbedderId, StaticTable, TextKind},
};

pub(crate) fn isrc(n: u32) -> Isrc {
    format!("ZZSEG26{n:05}").parse().unwrap()
}

pub(crate) fn document(n: u32) -> DocumentId {
    DocumentId::public(TrackId::of_isrc(&isrc(n)))
}

pub(crate) fn track(n: u32, title: &str, artist: &str, interpretation: &str) -> Track {
    let text = serde_json::json!({
        "isrc": isrc(n), "title": title, "artist": artist, "album": "", "interpretation": interpretation
    });
    serde_json::from_value(text).unwrap()
}

pub(crate) fn with_sound(mut track: Track, energy: f64, tempo: f64) -> Track {
    track.audio_features = Some(AudioFeatures { energy: Some(energy), tempo: Some(tempo), ..AudioFeatures::default() });
    track
}

pub(crate) fn with_lyrics(mut track: Track, lyrics: &str) -> Track {
    track.lyrics = Some(lyrics.into());
    track
}

/// A small library in which each query of the tests has one right answer.
pub(crate) fn small_library() -> Vec<Track> {
    vec![
        with_sound(
            track(1, "Harbour Lights", "Mira Voss", "A calm lullaby about ships coming home at night."),
            0.1,
            62.0,
        ),
        with_sound(
            track(2, "Engine Room", "Steel Parade", "Furious, pounding anthem for running and lifting."),
            0.95,
            168.0,
        ),
        with_lyrics(
            track(3, "Tin Roof", "Ansel Grey", "Grief for a lost mother, told through a thunderstorm."),
            "The rain keeps knocking on the tin roof\nI set a plate for you again\nNobody eats",
        ),
        track(4, "Jóga", "Björk", "Love for a friend and for the landscape of home."),
        track(5, "Группа крови", "Кино", "A soldier leaves for the front and asks for luck."),
        track(6, "初恋", "宇多田ヒカル", "The first love of a young woman, remembered."),
        track(7, "The The", "The The", "A band with a name made of stop words."),
        track(8, "Paper Boats", "Mira Voss", "Children fold boats and let them go down the river."),
    ]
}

pub(crate) fn upserts(tracks: &[Track], first_revision: i64) -> Vec<Change> {
    tracks.iter().zip(first_revision..).map(|(track, revision)| Change::public(revision, track.clone())).collect()
}

pub(crate) fn deletion(n: u32, revision: i64) -> Change {
    Change { revision, id: document(n), readers: vec![], track: None }
}

/// An embedder with another id, in place of a better model that is downloaded later.
pub(crate) struct Better(pub(crate) StaticTable);

impl Embedder for Better {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        self.0.embed(texts, kind)
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "better".into(), ..self.0.id() }
    }
}

/// A slow embedder: it embeds nothing before it is ready.
pub(crate) struct Slow {
    pub(crate) table: StaticTable,
    pub(crate) is_ready: Arc<AtomicBool>,
}

impl Embedder for Slow {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        if kind == TextKind::Document && !self.is_ready.load(Ordering::Relaxed) {
            return Box::pin(async { Err(EmbedError::Setup("not ready".into())) });
        }
        self.table.embed(texts, kind)
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "slow".into(), ..self.table.id() }
    }
}

/// The source of changes in memory.
#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) changes: Mutex<Vec<Change>>,
}

impl TrackSource for Truth {
    fn changes_after(&self, revision: i64, limit: usize) -> BoxFuture<'_, anyhow::Result<Vec<Change>>> {
        let changes = self.changes.lock().unwrap();
        let after = changes.iter().filter(|change| change.revision > revision).take(limit).cloned().collect();
        Box::pin(async move { Ok(after) })
    }
}

/// Checks the replacement of a complete index by the index of another embedder.
pub(crate) async fn takes_over(before: Arc<dyn Successor>, wanted: Arc<dyn Successor>, truth: &Truth) {
    let boats = async |live: &LiveIndex| live.search(&SearchPlan::new("folding boats", 1)).await.unwrap().remove(0);
    // Both indexes are opened after the new one has read one change, as after an interrupted replacement.
    wanted.apply(&truth.changes_after(0, 1).await.unwrap()).await.unwrap();
    let live = LiveIndex::new(wanted.clone(), Some(before.clone())).await.unwrap();
    assert_eq!(live.info().await.unwrap().embedder.model, "segue-static");
    assert_eq!(boats(&live).await.track.title, "Paper Boats", "the old index serves at once");
    truth.changes.lock().unwrap().push(deletion(2, 9));
    drop(before);
    live.follow(truth).await.unwrap();
    let info = live.info().await.unwrap();
    assert_eq!((info.embedder.model.as_str(), info.n_tracks, info.revision), ("better", 7, 9));
    assert_eq!(boats(&live).await.track.title, "Paper Boats");
}
