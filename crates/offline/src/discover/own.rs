//! What the user has: tracks in the library, playlists.

use serde_json::{Value, json};

use super::{
    failed,
    intent::{Intent, intent},
    search::mood,
    show,
    tracks::{shown, tracks},
};
use crate::{
    Step, Voice,
    say::{Phrase, plain},
    scene::Scene,
};

pub(super) fn own(voice: &Voice, scene: &Scene, what: &str) -> Step {
    let what = match intent(voice.language, what) {
        _ if what.is_empty() => return Step::says(voice.say(Phrase::AskMood, &[])),
        Intent::Mood { query, .. } | Intent::Name { query, .. } | Intent::Mix { query, .. } => query,
        _ => what.to_owned(),
    };
    let Some(output) = scene.now.output("semanticSearch") else {
        return mood(voice, scene, &what, None);
    };
    let owned: Vec<_> = tracks(output).into_iter().filter(|track| track.in_library && show::is_good(track)).collect();
    if owned.is_empty() {
        return Step::says(voice.say(Phrase::NotInLibrary, &[&plain(&what)]));
    }
    let head = voice.say(Phrase::InLibrary, &[]);
    Step::says(format!("{head}\n{}", show::lines(voice, &owned.iter().take(8).collect::<Vec<_>>())))
}

/// Which of the tracks shown last are in the library, according to earlier results, without a new search.
pub(super) fn own_these(voice: &Voice, scene: &Scene) -> Step {
    let these = shown(scene);
    if these.is_empty() {
        return Step::says(voice.say(Phrase::AskWhichTrack, &[]));
    }
    let owned: Vec<_> = these.iter().filter(|track| track.in_library).collect();
    if owned.is_empty() {
        return Step::says(voice.say(Phrase::OwnNoneOfThese, &[]));
    }
    Step::says(format!("{}\n{}", voice.say(Phrase::InLibrary, &[]), show::lines(voice, &owned)))
}

/// Lists the playlists if there is a tool for it; otherwise says where to find them.
pub(super) fn playlists(voice: &Voice, scene: &Scene) -> Step {
    if let Some(error) = scene.now.error("list_playlists") {
        return failed(voice, error);
    }
    match scene.now.output("list_playlists") {
        Some(output) => {
            let titles = output.get("playlists").and_then(Value::as_array).into_iter().flatten();
            let lines = titles.filter_map(|playlist| playlist.get("title")?.as_str());
            let lines: Vec<_> =
                lines.enumerate().map(|(at, title)| format!("{}. **{}**", at + 1, plain(title))).collect();
            let head = if lines.is_empty() { Phrase::NoPlaylists } else { Phrase::YourPlaylists };
            Step::says(format!("{}\n{}", voice.say(head, &[]), lines.join("\n")).trim().to_owned())
        }
        None if scene.has("list_playlists") => Step::calls(voice.say(Phrase::LookUp, &[]), "list_playlists", json!({})),
        None => Step::says(voice.say(Phrase::PlaylistsPage, &[])),
    }
}
