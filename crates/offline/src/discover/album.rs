//! The tracks of an album that was listed before or that the catalogue finds.

use serde_json::{Value, json};

use super::{
    failed,
    intent::Kind,
    search::{instead_of_tidal, search_index, tidal_input},
    show,
    tracks::{Album, albums_of, shown_albums, tracks},
};
use crate::{
    Step, Voice,
    language::{
        pick::{Pick, by_title, index, places},
        text::folded,
    },
    say::{Phrase, plain},
    scene::Scene,
};

pub(crate) fn album_tracks(voice: &Voice, scene: &Scene, words: &str) -> Step {
    if let Some(output) = scene.now.output("albumTracks") {
        return Step::says(track_list(voice, output));
    }
    if let Some(error) = scene.now.error("albumTracks").or_else(|| scene.now.error("semanticSearch")) {
        return failed(voice, error);
    }
    if let Some(output) = scene.now.output("semanticSearch") {
        return Step::says(show::name_search(voice, words, &tracks(output), None));
    }
    let found = albums_of(&scene.now);
    let album = if found.is_empty() { known_album(voice, scene, words) } else { best_album(voice, &found, words) };
    if let Some(album) = album.filter(|_| scene.has("albumTracks")) {
        let text = voice.say(Phrase::OpenAlbum, &[&plain(&album.title)]);
        return Step::calls(text, "albumTracks", json!({"albumId": album.id}));
    }
    if !found.is_empty() {
        let none = voice.say(Phrase::NoSuchAlbum, &[&plain(words)]);
        return Step::says(format!("{none}\n\n{}", show::catalogue(voice, &[], &found, None)));
    }
    match instead_of_tidal(voice, scene, words) {
        Some(apology) => search_index(apology, words, None),
        None => Step::calls(
            voice.say(Phrase::SearchTidal, &[&plain(words)]),
            "tidalSearch",
            tidal_input(words, Kind::Albums),
        ),
    }
}

fn track_list(voice: &Voice, output: &Value) -> String {
    let text = |field: &str| plain(output.get(field).and_then(Value::as_str).unwrap_or_default());
    let tracks = tracks(output);
    let artist = tracks.first().map_or_else(|| text("artist"), |track| plain(&track.artist));
    let head = voice.say(Phrase::AlbumHas, &[&text("albumTitle"), &artist, &tracks.len().to_string()]);
    format!("{head}\n{}", show::lines(voice, &tracks.iter().collect::<Vec<_>>()))
}

/// An album that was listed before: by position, by "it" or by title.
fn known_album(voice: &Voice, scene: &Scene, words: &str) -> Option<Album> {
    let albums = shown_albums(scene);
    if voice.language.words.is("pronoun", &folded(words).join(" ")) {
        return albums.into_iter().next();
    }
    match places(voice.language, words) {
        Some(places) => albums.get(index(*places.first()?, albums.len())?).cloned(),
        None => best_album(voice, &albums, words),
    }
}

fn best_album(voice: &Voice, albums: &[Album], words: &str) -> Option<Album> {
    let with_artist: Vec<_> = albums.iter().map(|album| format!("{} {}", album.title, album.artist)).collect();
    let by_name = by_title(voice.language, words, albums.iter().map(|album| album.title.as_str()));
    let picks = [by_name, by_title(voice.language, words, with_artist.iter().map(String::as_str))];
    let at = picks.into_iter().find_map(|pick| match pick {
        Pick::These(found) | Pick::Which(found) => found.first().copied(),
        Pick::Mistyped(at) => Some(at),
        Pick::Perhaps(_) | Pick::Nothing => None,
    });
    albums.get(at?).cloned()
}
