//! New playlists: for a mood, or from the tracks that were just found.

use serde_json::{Value, json};

use super::{
    failed,
    intent::Kind,
    is_pointing,
    search::{has_tidal, search_index, tidal_input},
    show,
    tracks::{Track, meant, tracks, tracks_of},
};
use crate::{
    Step, Voice,
    language::text::words,
    say::{Phrase, plain},
    scene::Scene,
};

/// Searches first, then suggests the tracks that match.
pub(crate) fn playlist(voice: &Voice, scene: &Scene, about: &str, title: Option<String>, limit: Option<usize>) -> Step {
    const LENGTH: usize = 12;
    if is_pointing(voice, about) {
        return playlist_of(voice, scene, &meant(voice.language, scene, about), title);
    }
    if scene.now.called("suggestPlaylist") {
        return playlist_done(voice, scene);
    }
    if let Some(error) = scene.now.error("semanticSearch") {
        return failed(voice, error);
    }
    if scene.now.called("semanticSearch") {
        let is_fit = |track: &Track| show::is_good(track) && !track.isrc.is_empty();
        let good = tracks_of(&scene.now).into_iter().filter(is_fit).take(limit.unwrap_or(LENGTH));
        let good: Vec<_> = good.collect();
        if good.is_empty() {
            return Step::says(voice.say(Phrase::PlaylistEmpty, &[&plain(about)]));
        }
        return suggest(voice, title.unwrap_or_else(|| about.to_owned()), &good, about);
    }
    let mut step = search_index(voice.say(Phrase::SearchIndex, &[&plain(about)]), about, limit);
    let wants_new = words(&scene.now.message)
        .iter()
        .any(|word| matches!(word.folded.as_str(), "new" | "neue" | "neuer" | "nouvelle" | "nueva"));
    if wants_new && has_tidal(scene) {
        step.calls.push(("tidalSearch", tidal_input(about, Kind::Tracks)));
    }
    step
}

pub(crate) fn playlist_of(voice: &Voice, scene: &Scene, these: &[Track], title: Option<String>) -> Step {
    if scene.now.called("suggestPlaylist") {
        return playlist_done(voice, scene);
    }
    let these: Vec<_> = these.iter().filter(|track| !track.isrc.is_empty()).cloned().collect();
    if these.is_empty() {
        return Step::says(voice.say(Phrase::AskMood, &[]));
    }
    let searched = scene.earlier.iter().rev().flat_map(|exchange| exchange.calls.iter().rev());
    let query = searched.filter_map(|called| called.input.get("query")?.as_str()).next().unwrap_or("Segue");
    suggest(voice, title.unwrap_or_else(|| query.to_owned()), &these, query)
}

fn suggest(voice: &Voice, title: String, tracks: &[Track], about: &str) -> Step {
    let mut letters = title.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let reason = |track: &Track| match track.short_description.as_deref() {
        Some(description) => format!("“{}”: {}", plain(about), plain(description)),
        None => format!("“{}”", plain(about)),
    };
    let tracks: Vec<_> = tracks.iter().map(|track| json!({"isrc": track.isrc, "reasoning": reason(track)})).collect();
    let input = json!({"title": text::shortened_at_word(&title, 190), "tracks": tracks});
    Step::calls(voice.say(Phrase::MakingPlaylist, &[]), "suggestPlaylist", input)
}

fn playlist_done(voice: &Voice, scene: &Scene) -> Step {
    if let Some(error) = scene.now.error("suggestPlaylist") {
        return Step::says(voice.say(Phrase::PlaylistFailed, &[&plain(error)]));
    }
    let Some(called) = scene.now.calls.iter().find(|called| called.name == "suggestPlaylist") else {
        return Step::says(voice.say(Phrase::AskMood, &[]));
    };
    // Lists the saved tracks, which may be fewer than suggested. Their details come from the searches.
    let saved = scene.now.output("suggestPlaylist").map(tracks).unwrap_or_default();
    let known: Vec<_> =
        scene.backwards().flat_map(tracks_of).filter(|track| track.short_description.is_some()).collect();
    let chosen = saved.iter().map(|track| known.iter().find(|known| known.isrc == track.isrc).unwrap_or(track));
    let chosen: Vec<_> = chosen.collect();
    let title = plain(called.input.get("title").and_then(Value::as_str).unwrap_or_default());
    let head = voice.say(Phrase::PlaylistMade, &[&title, &chosen.len().to_string()]);
    Step::says(format!("{head}\n{}", show::lines(voice, &chosen)))
}
