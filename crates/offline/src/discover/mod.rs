//! The Discover agent: searches the index for moods and the catalogue for names, and handles follow-up requests.

mod album;
mod details;
mod edit;
mod intent;
mod mentioned;
mod own;
mod playlist;
mod refine;
mod search;
mod show;
mod similar;
mod tracks;

use self::{
    album::album_tracks,
    details::{compare, compare_known, details, look_up},
    intent::{Aspect, Intent, Kind, Whose, intent, isrcs},
    mentioned::{mentioned, says_i_mentioned},
    own::{own, own_these, playlists},
    playlist::{playlist, playlist_of},
    search::{catalogue, mix, mood, mood_among, more},
    similar::more_like,
    tracks::shown,
};
use super::{
    Step, Voice,
    language::{Talk, pick::places, text::folded},
    say::{Phrase, plain},
    scene::Scene,
};

pub(crate) fn next_step(voice: &Voice, scene: &Scene) -> Step {
    let codes = isrcs(&scene.now.message);
    if !codes.is_empty() {
        return look_up(voice, scene, &codes, Aspect::Everything);
    }
    match understood(voice, scene) {
        Intent::Mood { query, limit, whose: Whose::Any } => mood(voice, scene, &query, limit),
        Intent::Mood { query, limit, whose } => mood_among(voice, scene, &query, limit, whose),
        Intent::MoodOnTidal { query, limit } => catalogue(voice, scene, &query, Kind::Tracks, limit, show::search),
        Intent::Name { query, kind, limit } => catalogue(voice, scene, &query, kind, limit, show::name_search),
        Intent::Mix { query, name } => mix(voice, scene, &query, &name),
        Intent::AlbumTracks(album) => album_tracks(voice, scene, &album),
        Intent::More => more(voice, scene),
        Intent::MoreLike(which) => more_like(voice, scene, &which),
        Intent::Compare(names) => compare(voice, scene, &names),
        Intent::CompareThese => {
            let these: Vec<_> = shown(scene).into_iter().take(COMPARED).collect();
            let titles = mentioned(scene);
            if (these.is_empty() || says_i_mentioned(scene)) && !titles.is_empty() {
                return compare(voice, scene, &titles);
            }
            compare_known(voice, scene, &these)
        }
        Intent::Details { which, aspect } => details(voice, scene, &which, aspect),
        Intent::Playlist { about, title, limit } => playlist(voice, scene, &about, title, limit),
        Intent::PlaylistOfThese => playlist_of(voice, scene, &shown(scene), None),
        Intent::Own(what) => own(voice, scene, &what),
        Intent::OwnThese => own_these(voice, scene),
        Intent::Refine(change) => refine::refine(voice, scene, &change),
        Intent::Playlists => playlists(voice, scene),
        Intent::LibrarySize => Step::says(voice.say(Phrase::LibraryPage, &[])),
        Intent::Edit(change) => edit::edit(voice, scene, &change),
        Intent::ToPlaylist => Step::says(voice.say(Phrase::AskWhichTrack, &[])),
        Intent::Vague => Step::says(voice.say(Phrase::AskMood, &[])),
        Intent::Player => Step::says(voice.say(Phrase::NoPlayer, &[])),
        Intent::ChangeLibrary => Step::says(voice.say(Phrase::NoLibraryTool, &[])),
        Intent::Talk(talk) => Step::says(voice.talk(talk, Phrase::DiscoverHelp)),
    }
}

const COMPARED: usize = 4;

/// The intent of a message. "Yes" after a question and bare positions are resolved from the conversation.
fn understood(voice: &Voice, scene: &Scene) -> Intent {
    let language = voice.language;
    let message = language.bare(&scene.now.message);
    if places(language, message).is_some() && !shown(scene).is_empty() {
        return Intent::Details { which: message.to_owned(), aspect: Aspect::Everything };
    }
    if let Some(change) = refine::change(scene) {
        return Intent::Refine(change);
    }
    let intent = intent(language, &scene.now.message);
    let asked = scene.last().filter(|last| last.answer.contains('?'));
    match (intent, asked) {
        (Intent::Talk(Talk::Yes), Some(last)) => {
            let quoted = last.answer.split(['“', '„', '«']).nth(1).and_then(|rest| rest.split(['”', '“', '»']).next());
            quoted.map_or(Intent::Vague, |words| Intent::Mood {
                query: words.to_owned(),
                limit: None,
                whose: Whose::Any,
            })
        }
        (Intent::Talk(Talk::No), Some(_)) => Intent::Vague,
        (intent, _) => intent,
    }
}

fn failed(voice: &Voice, error: &str) -> Step {
    let full_stop = if error.ends_with(['.', '!', '?']) { "" } else { "." };
    Step::says(voice.say(Phrase::SearchFailed, &[&format!("{}{full_stop}", plain(error))]))
}

fn is_pointing(voice: &Voice, words: &str) -> bool {
    places(voice.language, words).is_some() || voice.language.words.is("pronoun", &folded(words).join(" "))
}
