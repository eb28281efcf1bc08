//! Changes of an existing playlist. If a request is ambiguous, the model asks; it never writes on a guess.

use serde_json::{Value, json};

use super::{
    failed, is_pointing, show,
    tracks::{Track, meant, sure, tracks, tracks_of},
};
use crate::{
    Step, Voice,
    language::{
        pick::{index, places},
        text::trimmed,
    },
    say::{Phrase, plain, strong},
    scene::{Exchange, Scene},
};

/// A change and its playlist; `None` means the playlist that was mentioned last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    Open {
        list: Option<String>,
    },
    Add {
        which: String,
        list: Option<String>,
    },
    Remove {
        which: String,
        list: Option<String>,
    },
    /// To a position counted from 1, or from the end (-1 is the last).
    Move {
        which: String,
        to: i64,
        list: Option<String>,
    },
    Rename {
        list: Option<String>,
        title: String,
    },
}

impl Edit {
    fn list(&self) -> Option<&str> {
        match self {
            Self::Open { list }
            | Self::Add { list, .. }
            | Self::Remove { list, .. }
            | Self::Move { list, .. }
            | Self::Rename { list, .. } => list.as_deref(),
        }
    }
}

pub(crate) fn edit(voice: &Voice, scene: &Scene, edit: &Edit) -> Step {
    if !scene.has("edit_playlist") {
        return Step::says(voice.say(Phrase::NoPlaylistEdit, &[]));
    }
    if let Some(error) = scene.now.error("edit_playlist") {
        return Step::says(voice.say(Phrase::PlaylistEditFailed, &[&plain(error)]));
    }
    if let Some(output) = scene.now.output("edit_playlist") {
        return Step::says(done(voice, edit, output));
    }
    let playlist = match playlist(voice, scene, edit) {
        Ok(playlist) => playlist,
        Err(step) => return step,
    };
    match edit {
        Edit::Open { .. } => match on_it(voice, scene, &playlist) {
            Ok(tracks) => Step::says(opened(voice, scene, &tracks)),
            Err(step) => step,
        },
        Edit::Add { which, .. } => add(voice, scene, &playlist, which),
        Edit::Remove { which, .. } => match positions(voice, scene, &playlist, which) {
            Ok(positions) => change(voice, &playlist, json!({"action": "remove", "tracks": positions})),
            Err(step) => step,
        },
        Edit::Move { which, to, .. } => move_to(voice, scene, &playlist, which, *to),
        Edit::Rename { title, .. } => change(voice, &playlist, json!({"action": "rename", "title": trimmed(title)})),
    }
}

fn change(voice: &Voice, playlist: &str, mut input: Value) -> Step {
    input["playlist"] = json!(playlist);
    Step::calls(voice.say(Phrase::ChangingPlaylist, &[]), "edit_playlist", input)
}

/// The id or title of the requested playlist for the tools, or the step that determines it.
fn playlist(voice: &Voice, scene: &Scene, edit: &Edit) -> Result<String, Step> {
    if let Some(name) = edit.list() {
        return Ok(trimmed(name).to_owned());
    }
    // A read of the playlist in this turn does not change the reference.
    if let Some(last) = scene.earlier.iter().rev().find_map(last_playlist) {
        return Ok(last);
    }
    if let Some(error) = scene.now.error("list_playlists") {
        return Err(failed(voice, error));
    }
    let Some(output) = scene.now.output("list_playlists") else {
        return Err(Step::calls(voice.say(Phrase::LookUp, &[]), "list_playlists", json!({})));
    };
    match lines(output).as_slice() {
        [] => Err(Step::says(voice.say(Phrase::NoPlaylists, &[]))),
        [only] => Ok(address(only)),
        several => {
            let titles = several.iter().filter_map(|line| line["title"].as_str()).take(8);
            let titles: Vec<_> = titles.map(strong).collect();
            Err(Step::says(voice.say(Phrase::AskWhichPlaylist, &[&titles.join(", ")])))
        }
    }
}

/// The playlist of an exchange, if it has one.
fn last_playlist(exchange: &Exchange) -> Option<String> {
    exchange.calls.iter().rev().find_map(|called| {
        let output = called.result.as_ref()?.as_ref().ok()?;
        match called.name {
            "suggestPlaylist" | "edit_playlist" => {
                let named = address(output);
                let asked = called.input.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
                Some(if named.is_empty() { asked } else { named })
            }
            "list_playlists" => match lines(output).as_slice() {
                [only] => Some(address(only)),
                _ => None,
            },
            _ => None,
        }
    })
}

fn lines(output: &Value) -> Vec<&Value> {
    output.get("playlists").and_then(Value::as_array).into_iter().flatten().collect()
}

/// The id if it is known, because two playlists may have the same title.
fn address(playlist: &Value) -> String {
    let text = |field: &str| playlist.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("id").or(text("title")).unwrap_or_default().to_owned()
}

/// The current tracks of the playlist, or the step that reads them.
fn on_it(voice: &Voice, scene: &Scene, playlist: &str) -> Result<Vec<Track>, Step> {
    let is_of_it = |input: &Value| input.get("playlist").and_then(Value::as_str) == Some(playlist);
    let mut read = scene.now.calls.iter().filter(|called| called.name == "list_playlists" && is_of_it(called.input));
    match read.find_map(|called| called.result.as_ref()) {
        Some(Ok(output)) => Ok(tracks(output)),
        Some(Err(error)) => Err(Step::says(voice.say(Phrase::PlaylistEditFailed, &[&plain(error)]))),
        None => {
            let input = json!({"playlist": playlist});
            Err(Step::calls(voice.say(Phrase::LookUp, &[]), "list_playlists", input))
        }
    }
}

/// The positions on the playlist to which some words refer.
fn positions(voice: &Voice, scene: &Scene, playlist: &str, which: &str) -> Result<Vec<String>, Step> {
    let tracks = on_it(voice, scene, playlist)?;
    let unclear = || Step::says(voice.say(Phrase::NotOnPlaylist, &[&plain(which)]));
    let found: Option<Vec<usize>> = match places(voice.language, which) {
        Some(places) => places.into_iter().map(|place| index(place, tracks.len())).collect(),
        None if is_pointing(voice, which) => {
            let meant = meant(voice.language, scene, which);
            let at = |track: &Track| tracks.iter().position(|other| other.code() == track.code());
            // "It" refers to one track, never to a list.
            (meant.len() == 1).then(|| meant.iter().map(at).collect()).flatten()
        }
        None => sure(voice.language, which, &tracks).map(|at| vec![at]),
    };
    let found = found.filter(|found| !found.is_empty()).ok_or_else(unclear)?;
    Ok(found.into_iter().map(|at| (at + 1).to_string()).collect())
}

fn move_to(voice: &Voice, scene: &Scene, playlist: &str, which: &str, to: i64) -> Step {
    let moved = match positions(voice, scene, playlist, which) {
        Ok(moved) => moved,
        Err(step) => return step,
    };
    let n_tracks = on_it(voice, scene, playlist).map_or(0, |tracks| tracks.len());
    match (moved.as_slice(), index(to, n_tracks)) {
        ([_], Some(to)) => change(voice, playlist, json!({"action": "move", "tracks": moved, "position": to + 1})),
        _ => Step::says(voice.say(Phrase::NotOnPlaylist, &[&plain(which)])),
    }
}

/// Adds tracks that were found in this conversation, or one track with exactly this name.
fn add(voice: &Voice, scene: &Scene, playlist: &str, which: &str) -> Step {
    let found = found_before(voice, scene, which);
    let codes: Vec<String> = found.iter().map(Track::code).filter(|code| !code.is_empty()).collect();
    if !codes.is_empty() && codes.len() == found.len() {
        return change(voice, playlist, json!({"action": "add", "tracks": codes}));
    }
    if is_pointing(voice, which) || which.is_empty() {
        return Step::says(voice.say(Phrase::AskWhichTrack, &[]));
    }
    if let Some(error) = scene.now.error("semanticSearch") {
        return failed(voice, error);
    }
    if !scene.now.called("semanticSearch") {
        return Step::calls(voice.say(Phrase::LookUp, &[]), "semanticSearch", json!({"query": which, "limit": 5}));
    }
    Step::says(voice.say(Phrase::DontKnowTrack, &[&plain(which)]))
}

/// Positions and "these" refer to the last search result, never to a playlist, whose tracks are already on it.
fn found_before(voice: &Voice, scene: &Scene, which: &str) -> Vec<Track> {
    if !is_pointing(voice, which) {
        let seen: Vec<Track> = scene.backwards().flat_map(tracks_of).collect();
        return sure(voice.language, which, &seen).map(|at| seen[at].clone()).into_iter().collect();
    }
    let is_found = |exchange: &&Exchange| {
        !exchange.called("suggestPlaylist") && !exchange.called("list_playlists") && !tracks_of(exchange).is_empty()
    };
    let Some(exchange) = scene.earlier.iter().rev().find(is_found) else { return Vec::new() };
    let listed = super::tracks::listed(exchange);
    if let Some(places) = places(voice.language, which) {
        let found: Option<Vec<Track>> =
            places.into_iter().map(|place| listed.get(index(place, listed.len())?).cloned()).collect();
        return found.unwrap_or_default();
    }
    let is_plural = voice.language.words.is("plural", &crate::language::text::folded(which).join(" "));
    if is_plural || listed.len() == 1 { listed } else { Vec::new() }
}

fn opened(voice: &Voice, scene: &Scene, found: &[Track]) -> String {
    let title = scene.now.output("list_playlists").map(lines).and_then(|lines| lines.first()?["title"].as_str());
    let head = voice.say(Phrase::PlaylistHas, &[&plain(title.unwrap_or_default()), &found.len().to_string()]);
    format!("{head}\n{}", show::lines(voice, &found.iter().collect::<Vec<_>>())).trim().to_owned()
}

fn done(voice: &Voice, edit: &Edit, output: &Value) -> String {
    let title = plain(output.get("title").and_then(Value::as_str).unwrap_or_default());
    let changed = output.get("changed").and_then(Value::as_array).into_iter().flatten();
    let names = changed.clone().filter_map(|track| track["title"].as_str()).map(str::to_owned);
    let names = crate::say::list(voice.lang, &names.collect::<Vec<_>>());
    let position = changed.filter_map(|track| track["position"].as_u64()).next().unwrap_or(1).to_string();
    match edit {
        Edit::Add { .. } => voice.say(Phrase::AddedToPlaylist, &[&names, &title]),
        Edit::Remove { .. } => voice.say(Phrase::RemovedFromPlaylist, &[&names, &title]),
        Edit::Move { .. } => voice.say(Phrase::MovedOnPlaylist, &[&names, &position, &title]),
        Edit::Rename { .. } | Edit::Open { .. } => voice.say(Phrase::RenamedPlaylist, &[&title]),
    }
}
