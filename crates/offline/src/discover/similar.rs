//! Tracks like others: "more like these, but calmer".

use super::{
    failed, is_pointing,
    search::{mix, search_index},
    show,
    tracks::{Track, meant, tracks, tracks_of},
};
use crate::{
    Step, Voice,
    language::text::trimmed,
    say::{Phrase, plain},
    scene::Scene,
};

pub(super) fn more_like(voice: &Voice, scene: &Scene, which: &str) -> Step {
    const SEEDS: usize = 3;
    let which = if which.is_empty() { "these" } else { which };
    let seeds: Vec<_> = earlier_meant(voice, scene, which).into_iter().take(SEEDS).collect();
    if seeds.is_empty() && is_pointing(voice, which) {
        return Step::says(voice.say(Phrase::AskWhichTrack, &[]));
    }
    let twist = twist(&scene.now.message);
    if seeds.is_empty() {
        // The search finds the track by its name, and applies "calmer" as a limit relative to it.
        let query = twist.map_or_else(|| which.to_owned(), |twist| format!("like {which} but {twist}"));
        return mix(voice, scene, &query, which);
    }
    if let Some(output) = scene.now.output("semanticSearch") {
        let is_new = |track: &Track| !seeds.iter().any(|seed| seed.isrc == track.isrc);
        let found: Vec<_> = tracks(output).into_iter().filter(is_new).collect();
        let names: Vec<_> = seeds.iter().map(|seed| plain(&seed.title)).collect();
        return Step::says(show::search(voice, &names.join(", "), &found, None));
    }
    let about = |seed: &Track| {
        let names = format!("{} {}", seed.title, seed.artist);
        seed.short_description.clone().filter(|text| !text.is_empty()).unwrap_or(names)
    };
    let mut query = seeds.iter().map(about).collect::<Vec<_>>().join(" ");
    if let Some(twist) = twist {
        query = format!("{twist} {query}");
    }
    match scene.now.error("semanticSearch") {
        Some(error) => failed(voice, error),
        None => search_index(voice.say(Phrase::LookUp, &[]), &query, None),
    }
}

/// The wanted difference: "like X but calmer".
fn twist(message: &str) -> Option<&str> {
    let twist = [" but ", " aber ", " mais ", " pero "].into_iter().find_map(|turn| message.split_once(turn));
    twist.map(|(_, twist)| trimmed(twist)).filter(|twist| !twist.is_empty())
}

/// The conversation before this turn, so that results of this turn do not change the meaning of the words.
fn earlier_meant(voice: &Voice, scene: &Scene, which: &str) -> Vec<Track> {
    let now: Vec<_> = tracks_of(&scene.now);
    let before = scene.earlier.iter().flat_map(tracks_of);
    let before: Vec<_> = before.map(|track| track.isrc).collect();
    let found = meant(voice.language, scene, which).into_iter();
    found.filter(|track| before.contains(&track.isrc) || now.is_empty()).collect()
}
