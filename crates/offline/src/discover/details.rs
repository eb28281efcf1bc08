//! What is known about tracks: details, lyrics, a comparison.

use serde_json::json;

use super::{
    failed,
    intent::Aspect,
    is_pointing, show,
    tracks::{Track, meant, named, tracks, tracks_of},
};
use crate::{
    Step, Voice,
    say::{Phrase, plain},
    scene::Scene,
};

pub(super) fn compare(voice: &Voice, scene: &Scene, names: &[String]) -> Step {
    match known_or_searched(voice, scene, names) {
        Ok(tracks) => compare_known(voice, scene, &tracks),
        Err(step) => step,
    }
}

pub(super) fn compare_known(voice: &Voice, scene: &Scene, these: &[Track]) -> Step {
    let codes: Vec<_> = these.iter().map(|track| track.isrc.clone()).filter(|isrc| !isrc.is_empty()).collect();
    if codes.is_empty() {
        return Step::says(voice.say(Phrase::AskWhichTrack, &[]));
    }
    if let Some(output) = scene.now.output("batchMetadata") {
        return Step::says(show::comparison(voice, &tracks(output)));
    }
    batch(voice, scene, codes)
}

pub(super) fn details(voice: &Voice, scene: &Scene, which: &str, aspect: Aspect) -> Step {
    let which = if which.is_empty() { "it" } else { which };
    match known_or_searched(voice, scene, &[which.to_owned()]) {
        Ok(tracks) => {
            const MOST: usize = 5;
            let tracks: Vec<_> = tracks.into_iter().filter(|track| !track.isrc.is_empty()).take(MOST).collect();
            if tracks.is_empty() {
                return Step::says(voice.say(Phrase::NotIndexed, &[&plain(which)]));
            }
            let codes: Vec<_> = tracks.into_iter().map(|track| track.isrc).collect();
            look_up(voice, scene, &codes, aspect)
        }
        Err(step) => step,
    }
}

/// The tracks with these names, or the step that finds them.
fn known_or_searched(voice: &Voice, scene: &Scene, names: &[String]) -> Result<Vec<Track>, Step> {
    let mut found: Vec<Track> = Vec::new();
    let mut unknown = Vec::new();
    for name in names {
        let mut tracks = meant(voice.language, scene, name);
        if tracks.is_empty() {
            tracks = named(voice.language, name, &tracks_of(&scene.now));
        }
        if tracks.is_empty() {
            unknown.push(name);
        }
        for track in tracks {
            if !found.iter().any(|known| known.isrc == track.isrc) {
                found.push(track);
            }
        }
    }
    let Some(first) = unknown.first() else { return Ok(found) };
    if unknown.iter().any(|name| is_pointing(voice, name)) {
        return Err(Step::says(voice.say(Phrase::AskWhichTrack, &[])));
    }
    if let Some(error) = scene.now.error("semanticSearch") {
        return Err(failed(voice, error));
    }
    if scene.now.called("semanticSearch") {
        return Err(Step::says(voice.say(Phrase::DontKnowTrack, &[&plain(first)])));
    }
    let calls = unknown.iter().map(|name| ("semanticSearch", json!({"query": name, "limit": 5}))).collect();
    Err(Step { text: voice.say(Phrase::LookUp, &[]), calls })
}

pub(super) fn look_up(voice: &Voice, scene: &Scene, codes: &[String], aspect: Aspect) -> Step {
    let Some(output) = scene.now.output("batchMetadata") else {
        return batch(voice, scene, codes.to_vec());
    };
    let found = tracks(output);
    if found.is_empty() {
        let known: Vec<_> = scene.backwards().flat_map(tracks_of).filter(|track| codes.contains(&track.isrc)).collect();
        let name = known.first().map_or_else(|| codes.join(", "), |track| track.title.clone());
        return Step::says(voice.say(Phrase::NotIndexed, &[&plain(&name)]));
    }
    Step::says(match aspect {
        Aspect::Everything => show::details(voice, &found),
        Aspect::Lyrics => show::lyrics(voice, &found),
    })
}

fn batch(voice: &Voice, scene: &Scene, codes: Vec<String>) -> Step {
    match scene.now.error("batchMetadata") {
        Some(error) => failed(voice, error),
        None => Step::calls(voice.say(Phrase::LookUp, &[]), "batchMetadata", json!({"isrcs": codes})),
    }
}
