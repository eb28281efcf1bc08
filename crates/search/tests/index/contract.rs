//! The contract of every index. Each test is a function of an empty index, and every backend runs all of them.

use std::collections::BTreeSet;

use music::{AudioFeatures, DocumentId, Track, TrackId};
use query::{Feature, FeatureRange};
use search::{Change, Filter, Hit, Scope, SearchPlan, TrackIndex, scope};

pub(crate) use crate::words::{
    emoji_are_words, errands_in_other_languages_match_nothing, names_are_found_in_other_scripts,
};

use crate::support::{deletion, document, small_library, track, upserts, with_lyrics, with_sound};

async fn found(index: &dyn TrackIndex, plan: SearchPlan) -> Vec<String> {
    index.search(&plan).await.unwrap().into_iter().map(|hit| hit.track.title).collect()
}

pub(crate) async fn queries_find_their_track(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    for (query, title) in [
        ("something quiet for falling asleep", "Harbour Lights"),
        ("workout music with power", "Engine Room"),
        ("mourning a dead parent", "Tin Roof"),
        ("rain on the tin roof", "Tin Roof"),
        ("bjork", "Jóga"),
        ("BJÖRK Jóga", "Jóga"),
        ("кино", "Группа крови"),
        ("группы крови", "Группа крови"),
        ("宇多田", "初恋"),
        ("The The", "The The"),
        ("folding boats", "Paper Boats"),
    ] {
        assert_eq!(found(index, SearchPlan::new(query, 3)).await.first().map(String::as_str), Some(title), "{query}");
    }
}

pub(crate) async fn scores_say_when_nothing_matches(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let best = async |query: &str| index.search(&SearchPlan::new(query, 1)).await.unwrap()[0].score;
    for good in ["lullaby about ships coming home", "Paper Boats by Mira Voss", "кино группа крови"] {
        let score = best(good).await;
        assert!((0.5..=1.0).contains(&score), "{good}: {score}");
    }
    for nonsense in ["quarterly tax filing deadlines", "kubernetes ingress controller yaml"] {
        let score = best(nonsense).await;
        assert!((0.0..Hit::MATCHES_FROM).contains(&score), "{nonsense}: {score}");
    }
}

pub(crate) async fn a_hit_says_why(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let why = |hits: Vec<Hit>| hits[0].why.clone();
    let rain = why(index.search(&SearchPlan::new("Plates set for the dead in the rain", 1)).await.unwrap());
    assert_eq!(rain.lyric.as_deref(), Some("I set a plate for you again"));
    assert_eq!(rain.words, ["plates", "set", "rain"]);
    let calm = why(index.search(&SearchPlan::new("calm lullaby", 1)).await.unwrap());
    assert_eq!((calm.words.join(" "), calm.features.join(" ")), ("calm lullaby".into(), "low energy (0.10)".into()));
}

pub(crate) async fn a_title_is_found_although_hundreds_of_tracks_use_its_words_more_often(index: &dyn TrackIndex) {
    let about = "An almanac of ditches. Copper, and once more copper. Then a ditch, and the almanac.";
    let mut tracks: Vec<_> = (0..500).map(|n| track(n, "Almanac Copper", "Ditch Almanac", about)).collect();
    tracks.push(track(1000, "Copper Ditch Almanac", "Corvin Cavendish", ""));
    index.apply(&upserts(&tracks, 1)).await.unwrap();
    let found = found(index, SearchPlan::new("Copper Ditch Almanac", 3)).await;
    assert!(found.iter().any(|title| title == "Copper Ditch Almanac"), "{found:?}");
}

pub(crate) async fn filters_narrow_both_sides(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let feature =
        |feature, min, max| Filter { features: vec![FeatureRange { feature, min, max }], ..Filter::default() };
    let only =
        |n: &[u32]| Filter { tracks: Some(n.iter().map(|n| TrackId(document(*n).0)).collect()), ..Filter::default() };
    let by = |artist: &str| Filter { artist: Some(artist.into()), ..Filter::default() };
    for (filter, expected) in [
        (feature(Feature::Energy, Some(0.5), None), vec!["Engine Room"]),
        (feature(Feature::Tempo, None, Some(100.0)), vec!["Harbour Lights"]),
        (feature(Feature::Valence, Some(0.0), None), vec![]),
        (only(&[3, 8]), vec!["Paper Boats", "Tin Roof"]),
        (only(&[]), vec![]),
        (by("voss mira"), vec!["Harbour Lights", "Paper Boats"]),
        (by("bjork"), vec!["Jóga"]),
        (by("nobody"), vec![]),
        (Filter { title: Some("paper".into()), ..by("mira") }, vec!["Paper Boats"]),
    ] {
        let mut titles = found(index, SearchPlan::new("night songs about the sea", 10).only(filter.clone())).await;
        titles.sort();
        assert_eq!(titles, expected, "{filter:?}");
    }
}

/// Tracks that each lack some data, for the tests of limits.
fn dated() -> Vec<Track> {
    let fact = |n: u32, title: &str, artist: &str, change: fn(&mut Track)| {
        let mut track = track(n, title, artist, "A song about the sea, with drums.");
        change(&mut track);
        track
    };
    vec![
        fact(11, "Old Tide", "Ansel Grey", |track| {
            (track.release_date, track.duration) = (Some("1994-03-01".into()), Some(179.9));
            (track.language, track.explicit, track.lyrics) = (Some("fr".into()), Some(false), Some("La mer".into()));
        }),
        fact(12, "New Tide", "Ansel Grey", |track| {
            (track.release_date, track.duration) = (Some("2001".into()), Some(180.0));
            (track.language, track.explicit, track.lyrics) = (Some("en".into()), Some(true), Some("The sea".into()));
        }),
        fact(13, "Wordless Tide", "Mira Voss", |track| {
            (track.release_date, track.duration) = (Some("1999-12-31".into()), Some(400.0));
            track.language = Some("en".into());
            track.interpretation = Some("The sea on a piano.".into());
            track.audio_features = Some(AudioFeatures {
                instrumentalness: Some(0.9),
                tempo: Some(120.0),
                key: Some(9),
                mode: Some(0),
                ..AudioFeatures::default()
            });
        }),
        fact(14, "Unknown Tide", "Mira Voss", |_| ()),
    ]
}

/// The titles, the number of matches, and the number of undecided tracks.
async fn within(index: &dyn TrackIndex, message: &str) -> (Vec<String>, usize, usize) {
    let found = index.find(&SearchPlan::of(&query::parse(message, 2026), 10)).await.unwrap();
    let mut titles: Vec<String> = found.hits.into_iter().map(|hit| hit.track.title).collect();
    titles.sort();
    (titles, found.total, found.undecided)
}

pub(crate) async fn limits_in_words_are_kept_exactly(index: &dyn TrackIndex) {
    index.apply(&upserts(&dated(), 1)).await.unwrap();
    for (message, expected, undecided) in [
        ("the sea from the 90s", vec!["Old Tide", "Wordless Tide"], 1),
        ("from the 90s", vec!["Old Tide", "Wordless Tide"], 1),
        ("the sea before 1994", vec![], 1),
        ("the sea under 3 minutes", vec!["Old Tide"], 1),
        ("the sea, at most 3 minutes", vec!["New Tide", "Old Tide"], 1),
        ("the sea in French", vec!["Old Tide"], 1),
        ("the sea in English", vec!["New Tide"], 1),
        ("the sea, not in English", vec!["Old Tide", "Wordless Tide"], 1),
        ("the sea, instrumental", vec!["Wordless Tide"], 1),
        ("the sea with vocals", vec!["New Tide", "Old Tide"], 1),
        ("the sea, no explicit lyrics", vec!["Old Tide"], 2),
        ("the sea around 120 bpm", vec!["Wordless Tide"], 3),
        ("the sea in A minor", vec!["Wordless Tide"], 3),
        ("the sea in A major", vec![], 3),
        ("the sea by Mira Voss", vec!["Unknown Tide", "Wordless Tide"], 0),
        ("the sea without drums", vec!["Wordless Tide"], 0),
        ("the sea without piano", vec!["New Tide", "Old Tide", "Unknown Tide"], 0),
        ("without drums", vec!["Wordless Tide"], 0),
        ("songs by Ansel Grey from the 90s", vec!["Old Tide"], 0),
    ] {
        let (titles, total, unknown) = within(index, message).await;
        assert_eq!((&titles, unknown), (&expected.iter().map(ToString::to_string).collect(), undecided), "{message}");
        assert_eq!(total, titles.len(), "{message}");
    }
    let (titles, total, _) = within(index, "the sea, at most one per artist").await;
    assert_eq!((titles.len(), total), (2, 4), "{titles:?}");
    assert_eq!(within(index, "the sea, at most 3 songs").await.0.len(), 3);
}

pub(crate) async fn what_is_denied_is_neither_found_nor_a_reason(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let plan = SearchPlan::of(&query::parse("songs of home without lullaby", 2026), 10);
    for hit in index.search(&plan).await.unwrap() {
        assert_ne!(hit.track.title, "Harbour Lights");
        assert!(hit.why.words.iter().all(|word| word != "lullaby"), "{:?}", hit.why);
    }
}

pub(crate) async fn what_is_like_a_track_is_not_the_track(index: &dyn TrackIndex) {
    let calm = with_sound(track(21, "Slow Run", "Steel Parade", "Pounding music for running, but gently."), 0.4, 120.0);
    index.apply(&upserts(&[small_library(), vec![calm]].concat(), 1)).await.unwrap();
    let seed = index.get(&[document(2)]).await.unwrap().remove(0);
    let plan = SearchPlan::like(&seed, &query::parse("like Engine Room but calmer", 2026), 10);
    let titles = found(index, plan).await;
    assert_eq!(titles, ["Slow Run", "Harbour Lights"], "only tracks with a known energy below that of the seed");
}

pub(crate) async fn a_scope_shows_own_documents_and_hides_the_rest(index: &dyn TrackIndex) {
    let marks = |marks: &[&str]| marks.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (ann, bob) = (scope::reader("ann"), scope::reader("bob"));
    let not_ann = scope::shadowed("ann");
    let readers = [
        marks(&[scope::PUBLIC, &ann, &bob]),
        marks(&[scope::PUBLIC, &bob]),
        marks(&[&ann]),
        marks(&[scope::PUBLIC, scope::SAMPLE]),
        marks(&[scope::PUBLIC, &bob, &not_ann]),
    ];
    let document = |(n, readers): (usize, Vec<String>)| {
        let track = track(n as u32, &format!("Boat {n}"), "Someone", "A song about a boat on the river.");
        Change { readers, ..Change::public(n as i64 + 1, track) }
    };
    let changes: Vec<_> = readers.into_iter().enumerate().map(document).collect();
    index.apply(&changes).await.unwrap();
    let seen = async |scope: Scope, limit| {
        let mut titles = found(index, SearchPlan::new("a boat on the river", limit).within(scope)).await;
        titles.sort();
        titles
    };
    assert_eq!(seen(Scope::of("ann", false, false), 10).await, ["Boat 0", "Boat 2"]);
    assert_eq!(seen(Scope::of("bob", true, false), 10).await, ["Boat 0", "Boat 1", "Boat 3", "Boat 4"]);
    assert_eq!(seen(Scope::of("ann", true, true), 10).await, ["Boat 0", "Boat 1", "Boat 2", "Boat 3"]);
    assert_eq!(seen(Scope::of("eve", false, false), 10).await, [""; 0]);
    assert_eq!(seen(Scope::of("ann", false, false), 1).await.len(), 1, "the limit counts what is in scope");
    let by = Filter { title: Some("2".into()), ..Filter::default() };
    let both = SearchPlan::new("a boat", 10).only(by).within(Scope::of("bob", true, true));
    assert!(found(index, both).await.is_empty(), "a filter does not widen a scope");
    index.apply(&[Change { revision: 9, readers: marks(&[&bob]), ..changes[2].clone() }]).await.unwrap();
    assert_eq!(seen(Scope::of("ann", false, false), 10).await, ["Boat 0"]);
}

pub(crate) async fn a_scope_holds_for_lists_totals_and_what_is_undecided(index: &dyn TrackIndex) {
    let (ann, bob) = (scope::reader("ann"), scope::reader("bob"));
    let readers = [vec![ann.clone()], vec![bob.clone()], vec![ann.clone(), bob.clone()], vec![bob.clone()]];
    let document = |(n, (track, readers)): (usize, (Track, Vec<String>))| Change {
        readers,
        ..Change::public(n as i64 + 1, track)
    };
    let changes: Vec<_> = dated().into_iter().zip(readers).enumerate().map(document).collect();
    index.apply(&changes).await.unwrap();
    let seen = async |message: &str, user: &str, only: Filter| {
        let plan = SearchPlan::of(&query::parse(message, 2026), 10).within(Scope::of(user, false, false));
        let filter = Filter { mark: only.mark, not_mark: only.not_mark, ..plan.filter.clone() };
        let found = index.find(&plan.only(filter)).await.unwrap();
        let mut titles: Vec<String> = found.hits.into_iter().map(|hit| hit.track.title).collect();
        titles.sort();
        (titles.join(", "), found.total, found.undecided)
    };
    let all = Filter::default;
    // The undecided track belongs to Bob, so Ann's count does not include it.
    assert_eq!(seen("the sea from the 90s", "ann", all()).await, ("Old Tide, Wordless Tide".into(), 2, 0));
    assert_eq!(seen("from the 90s", "ann", all()).await, ("Old Tide, Wordless Tide".into(), 2, 0));
    assert_eq!(seen("from the 90s", "bob", all()).await, ("Wordless Tide".into(), 1, 1));
    assert_eq!(seen("&&&", "ann", all()).await, (String::new(), 0, 0));
    let own = |mark: &String| Filter { mark: Some(mark.clone()), ..all() };
    let new = |mark: &String| Filter { not_mark: Some(mark.clone()), ..all() };
    assert_eq!(seen("the sea", "ann", own(&bob)).await.0, "Wordless Tide");
    assert_eq!(seen("the sea", "ann", new(&bob)).await.0, "Old Tide");
}

pub(crate) async fn more_wordings_find_more(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let plan = SearchPlan::new("folding boats", 2).also(["pounding anthem for running".into()]);
    assert_eq!(found(index, plan).await, ["Paper Boats", "Engine Room"]);
}

pub(crate) async fn tracks_are_fetched_by_code_in_the_order_asked(index: &dyn TrackIndex) {
    let tracks: Vec<_> = (0..150).map(|n| track(n, &format!("Song {n}"), "Someone", "Words.")).collect();
    index.apply(&upserts(&tracks, 1)).await.unwrap();
    let asked: Vec<_> = (0..100).rev().map(|n| document(n * 2)).collect();
    let got = index.get(&asked).await.unwrap();
    let id = |track: &Track| DocumentId::public(track.id);
    let expected: Vec<_> =
        asked.iter().copied().filter(|asked| tracks.iter().any(|track| id(track) == *asked)).collect();
    assert_eq!(got.iter().map(id).collect::<Vec<_>>(), expected);
    assert_eq!(got[0], tracks[148]);
    let known = index.contains(&[document(3), document(999), document(149)]).await.unwrap();
    assert_eq!(known, BTreeSet::from([document(3), document(149)]));
}

pub(crate) async fn a_change_replaces_and_a_deletion_removes(index: &dyn TrackIndex) {
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    // The words of a track that was searched for are kept in memory.
    let boats = index.search(&SearchPlan::new("folding boats", 3)).await.unwrap();
    assert_eq!(index.search(&SearchPlan::new("folding boats", 3)).await.unwrap(), boats);
    assert_eq!((boats[0].track.title.as_str(), boats[0].why.words.len()), ("Paper Boats", 2));
    let rewritten = with_lyrics(track(8, "Paper Boats", "Mira Voss", "Now about volcanoes."), "Lava, lava");
    index.apply(&upserts(std::slice::from_ref(&rewritten), 20)).await.unwrap();
    index.apply(&[deletion(1, 21), deletion(404, 22)]).await.unwrap();
    let info = index.info().await.unwrap();
    assert_eq!((info.n_tracks, info.revision), (7, 22));
    assert_eq!(index.get(&[document(8), document(1)]).await.unwrap(), [rewritten]);
    let volcanoes = index.search(&SearchPlan::new("volcanoes lava", 1)).await.unwrap().remove(0);
    assert_eq!((volcanoes.track.title.as_str(), volcanoes.score >= Hit::MATCHES_FROM), ("Paper Boats", true));
    assert_eq!(volcanoes.why.words, ["volcanoes", "lava"], "by its new words");
    assert_eq!(volcanoes.why.lyric.as_deref(), Some("Lava, lava"));
    assert!(!found(index, SearchPlan::new("lullaby ships harbour", 10)).await.contains(&"Harbour Lights".into()));
    index.apply(&[deletion(8, 23), upserts(&small_library()[7..], 24).remove(0)]).await.unwrap();
    assert_eq!(index.get(&[document(8)]).await.unwrap(), small_library()[7..], "the last change of a batch counts");
}

pub(crate) async fn an_empty_index_answers_with_nothing(index: &dyn TrackIndex) {
    assert_eq!(index.info().await.unwrap().n_tracks, 0);
    assert!(found(index, SearchPlan::new("anything", 5)).await.is_empty());
    assert!(index.get(&[document(1)]).await.unwrap().is_empty());
    index.apply(&[]).await.unwrap();
}

/// Makes a test with these attributes for every function of the contract, each with a new index from `$fresh`.
macro_rules! contract_of {
    ($(#[$attribute:meta])* $fresh:path) => {
        $crate::contract::contract_of!([$(#[$attribute])*] $fresh; queries_find_their_track scores_say_when_nothing_matches a_hit_says_why
            limits_in_words_are_kept_exactly what_is_denied_is_neither_found_nor_a_reason what_is_like_a_track_is_not_the_track
            a_title_is_found_although_hundreds_of_tracks_use_its_words_more_often
            filters_narrow_both_sides a_scope_shows_own_documents_and_hides_the_rest a_scope_holds_for_lists_totals_and_what_is_undecided
            names_are_found_in_other_scripts emoji_are_words errands_in_other_languages_match_nothing
            more_wordings_find_more tracks_are_fetched_by_code_in_the_order_asked
            a_change_replaces_and_a_deletion_removes an_empty_index_answers_with_nothing);
    };
    ($attributes:tt $fresh:path; $($promise:ident)*) => {
        $($crate::contract::promise!($attributes $fresh, $promise);)*
    };
}
pub(crate) use contract_of;

macro_rules! promise {
    ([$(#[$attribute:meta])*] $fresh:path, $promise:ident) => {
        #[tokio::test]
        $(#[$attribute])*
        async fn $promise() {
            let fresh = $fresh(stringify!($promise)).await;
            $crate::contract::$promise(&fresh.index).await;
            fresh.done().await;
        }
    };
}
pub(crate) use promise;
