//! Searches: a mood in the index, a name in the catalogue, both at once, and more of the last one.

use serde_json::{Value, json};

use super::{
    failed,
    intent::{Kind, Whose},
    show,
    tracks::{Track, albums_of, tracks, tracks_of},
};
use crate::{
    Step, Voice,
    language::text::folded,
    say::{Phrase, plain},
    scene::Scene,
};

pub(super) fn search_index(text: String, query: &str, limit: Option<usize>) -> Step {
    const LONGEST_QUERY: usize = 500;
    let query = text::shortened_at_word(query, LONGEST_QUERY);
    let input = match limit {
        Some(limit) => json!({"query": query, "limit": limit}),
        None => json!({"query": query}),
    };
    Step::calls(text, "semanticSearch", input)
}

pub(super) fn tidal_input(query: &str, kind: Kind) -> Value {
    const LONGEST_QUERY: usize = 400;
    let kind = match kind {
        Kind::Tracks => "tracks",
        Kind::Albums => "albums",
        Kind::Both => "both",
    };
    json!({"query": text::shortened_at_word(query, LONGEST_QUERY), "searchType": kind})
}

pub(super) fn mood(voice: &Voice, scene: &Scene, query: &str, limit: Option<usize>) -> Step {
    if let Some(output) = scene.now.output("semanticSearch") {
        return Step::says(show::search(voice, query, &tracks(output), limit));
    }
    match scene.now.error("semanticSearch") {
        Some(error) => failed(voice, error),
        None => search_index(voice.say(Phrase::SearchIndex, &[&plain(query)]), query, limit),
    }
}

/// A mood among the user's own tracks, or among the others. Many results are requested, so that enough remain after the
/// filter.
pub(super) fn mood_among(voice: &Voice, scene: &Scene, query: &str, limit: Option<usize>, whose: Whose) -> Step {
    const MANY: usize = 50;
    let Some(output) = scene.now.output("semanticSearch") else { return mood(voice, scene, query, Some(MANY)) };
    let is_meant = |track: &Track| track.in_library == (whose == Whose::Mine);
    let found: Vec<_> = tracks(output).into_iter().filter(is_meant).collect();
    if whose == Whose::Mine && !found.iter().any(show::is_good) {
        return Step::says(voice.say(Phrase::NotInLibrary, &[&plain(query)]));
    }
    Step::says(show::search(voice, query, &found, limit))
}

/// Whether to search the catalogue: the tool exists, and no call has reported that it is not configured.
pub(super) fn has_tidal(scene: &Scene) -> bool {
    let is_off = |error: &str| error.contains("not configured") || error.contains("not set up");
    let said_off = scene.earlier.iter().any(|exchange| exchange.error("tidalSearch").is_some_and(is_off));
    scene.has("tidalSearch") && !said_off
}

/// Searches the catalogue first, and the index if the catalogue fails or finds nothing.
pub(super) fn catalogue(
    voice: &Voice,
    scene: &Scene,
    query: &str,
    kind: Kind,
    limit: Option<usize>,
    show_indexed: fn(&Voice, &str, &[Track], Option<usize>) -> String,
) -> Step {
    if let Some(output) = scene.now.output("semanticSearch") {
        return Step::says(show_indexed(voice, query, &tracks(output), limit));
    }
    if let Some(error) = scene.now.error("semanticSearch") {
        return failed(voice, error);
    }
    let (found, albums) = (tracks_of(&scene.now), albums_of(&scene.now));
    if !found.is_empty() || !albums.is_empty() {
        return Step::says(show::catalogue(voice, &found, &albums, limit));
    }
    match instead_of_tidal(voice, scene, query) {
        Some(apology) => search_index(apology, query, limit),
        None => {
            let mut input = tidal_input(query, kind);
            if let Some(limit) = limit {
                input["limit"] = json!(limit);
            }
            Step::calls(voice.say(Phrase::SearchTidal, &[&plain(query)]), "tidalSearch", input)
        }
    }
}

/// The remark before a search of the index if the catalogue failed or found nothing; `None` if it was not searched yet.
pub(super) fn instead_of_tidal(voice: &Voice, scene: &Scene, query: &str) -> Option<String> {
    if !scene.has("tidalSearch") {
        return Some(voice.say(Phrase::SearchIndex, &[&plain(query)]));
    }
    if !has_tidal(scene) {
        return Some(voice.say(Phrase::TidalOff, &[]));
    }
    match scene.now.error("tidalSearch") {
        Some(error) if error.contains("not configured") || error.contains("not set up") => {
            Some(voice.say(Phrase::TidalOff, &[]))
        }
        Some(_) => Some(voice.say(Phrase::TidalFailed, &[])),
        None => scene.now.called("tidalSearch").then(|| voice.say(Phrase::NothingOnTidal, &[&plain(query)])),
    }
}

pub(super) fn mix(voice: &Voice, scene: &Scene, query: &str, artist: &str) -> Step {
    if !scene.now.called("semanticSearch") {
        let mut step = search_index(voice.say(Phrase::SearchBoth, &[]), query, None);
        if has_tidal(scene) {
            step.calls.push(("tidalSearch", tidal_input(artist, Kind::Tracks)));
        } else {
            step.text = voice.say(Phrase::SearchIndex, &[&plain(query)]);
        }
        return step;
    }
    let mut said = match (scene.now.output("semanticSearch"), scene.now.error("semanticSearch")) {
        (Some(output), _) => show::search(voice, query, &tracks(output), None),
        (None, error) => failed(voice, error.unwrap_or_default()).text,
    };
    let catalogue = scene.now.output("tidalSearch").map(tracks).unwrap_or_default();
    if !catalogue.is_empty() {
        said = format!("{}\n\n{said}", show::catalogue(voice, &catalogue, &[], Some(5)));
    }
    Step::says(said)
}

/// Repeats the search for results that were not listed yet.
pub(super) fn more(voice: &Voice, scene: &Scene) -> Step {
    const MORE: usize = 50;
    let is_search = |name: &str| matches!(name, "semanticSearch" | "tidalSearch");
    if scene.now.calls.iter().any(|called| is_search(called.name)) {
        let told: Vec<_> = scene.earlier.iter().flat_map(|exchange| exchange.numbered()).map(folded).collect();
        let new: Vec<_> =
            tracks_of(&scene.now).into_iter().filter(|track| !told.contains(&folded(&track.title))).collect();
        if !new.iter().any(show::is_good) {
            return Step::says(voice.say(Phrase::NoMore, &[]));
        }
        let query = scene.now.calls[0].input.get("query").and_then(Value::as_str).unwrap_or_default();
        return Step::says(show::search(voice, query, &new, None));
    }
    let mut searches = scene.earlier.iter().rev().flat_map(|exchange| exchange.calls.iter().rev());
    let last = searches.find(|called| is_search(called.name) && matches!(called.result, Some(Ok(_))));
    let Some(last) = last else { return Step::says(voice.say(Phrase::AskMood, &[])) };
    let mut input = last.input.clone();
    input["limit"] = json!(MORE);
    let name = if last.name == "tidalSearch" { "tidalSearch" } else { "semanticSearch" };
    Step::calls(voice.say(Phrase::LookUp, &[]), name, input)
}
