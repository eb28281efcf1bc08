//! Queries with another spelling than the library: other scripts, emoji, other languages, typos.

use std::sync::Arc;

use futures::future::BoxFuture;
use search::{
    Hit, SearchPlan, TrackIndex,
    embed::{Bridge, EmbedError, Embedder, EmbedderId, StaticTable, TextKind, Votes},
};

use crate::support::{small_library, track, upserts};

async fn best(index: &dyn TrackIndex, message: &str) -> Option<Hit> {
    let plan = SearchPlan::of(&query::parse(message, 2026), 3);
    index.search(&plan).await.unwrap().into_iter().next().filter(|hit| hit.score >= Hit::MATCHES_FROM)
}

pub(crate) async fn names_are_found_in_other_scripts(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    for (message, title) in
        [("gruppa krovi", "Группа крови"), ("songs by Kino", "Группа крови"), ("Ансел Грей", "Tin Roof")]
    {
        assert_eq!(best(index, message).await.map(|hit| hit.track.title).as_deref(), Some(title), "{message}");
    }
}

pub(crate) async fn emoji_are_words(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    for (message, title) in [("🏃💪", "Engine Room"), ("👶🌙", "Harbour Lights")] {
        assert_eq!(best(index, message).await.map(|hit| hit.track.title).as_deref(), Some(title), "{message}");
    }
}

pub(crate) async fn errands_in_other_languages_match_nothing(index: &dyn TrackIndex) {
    let mut tracks = small_library();
    let mut coins = track(9, "Empty Pockets", "Mira Voss", "No money until Friday, and a laugh about it.");
    coins.tags = vec!["money".into()];
    tracks.push(coins);
    index.apply(&upserts(&tracks, 1)).await.unwrap();
    let title = |hit: Hit| hit.track.title;
    for wish in ["Lieder über Geld", "des chansons sur l'argent", "canciones sobre el dinero"] {
        assert_eq!(best(index, wish).await.map(title).as_deref(), Some("Empty Pockets"), "{wish}");
    }
    for errand in ["Geld vom Konto abheben", "retirer de l'argent à la banque", "sacar dinero de la cuenta"] {
        assert_eq!(best(index, errand).await.map(title), None, "{errand}");
    }
}

/// An embedder with a dictionary of Russian words, in place of the multilingual model.
struct Dictionary(StaticTable);

impl Embedder for Dictionary {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        let read = |text: &String| text.replace("колыбельная", "lullaby").replace("корабль", "ships");
        let texts: Vec<String> = texts.iter().map(read).collect();
        Box::pin(async move { self.0.embed(&texts, kind).await })
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "dictionary".into(), ..self.0.id() }
    }

    /// A message with little more than ships is about daily life.
    fn votes(&self, vector: &[f32]) -> Votes {
        let alike: f32 = self.0.vector("ships").iter().zip(vector).map(|(a, b)| a * b).sum();
        Votes { english: None, across: (alike > 0.6).then_some(1.0) }
    }
}

pub(crate) fn bridged() -> Arc<dyn Embedder> {
    let table = StaticTable::built_in().unwrap();
    Arc::new(Bridge::new(table.clone(), Dictionary(table)))
}

/// For an empty index of [`bridged`].
pub(crate) async fn other_languages_are_understood(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    for (message, title) in [
        ("колыбельная корабль", "Harbour Lights"),
        ("lullaby about ships", "Harbour Lights"),
        ("folding boats", "Paper Boats"),
    ] {
        assert_eq!(best(index, message).await.map(|hit| hit.track.title).as_deref(), Some(title), "{message}");
    }
    assert_eq!(
        best(index, "корабль корабль корабль колыбельная").await,
        None,
        "the embedder says that it is about daily life"
    );
    // Neither embedder knows this.
    assert_eq!(best(index, "აბრაკადაბრა").await, None);
}

/// For the embedded index, which can look up its words.
pub(crate) async fn typos_are_read_as_the_nearest_word(index: &dyn TrackIndex) {
    let mut tracks = small_library();
    tracks.push(track(9, "Larger Than Life", "Backstreet Boys", "A loud pop song about fame."));
    index.apply(&upserts(&tracks, 1)).await.unwrap();
    for (message, title) in [
        ("harbuor ligths", "Harbour Lights"),
        ("a song about a steel parrade", "Engine Room"),
        ("back street boys", "Larger Than Life"),
        ("thunderstrom", "Tin Roof"),
    ] {
        assert_eq!(best(index, message).await.map(|hit| hit.track.title).as_deref(), Some(title), "{message}");
    }
    // Known words and short words are not corrected.
    assert_eq!(best(index, "bots").await, None);
    // A message about an errand ("printer") is not corrected, even if a word is similar to a known one.
    assert_eq!(best(index, "printer thunderstrom").await, None);
}
