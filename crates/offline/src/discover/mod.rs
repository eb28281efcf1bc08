//! The Discover agent: searches the index for moods and the catalogue for names, and handles follow-up requests.

mod album;
mod edit;
mod intent;
mod playlist;
mod refine;
mod show;
mod tracks;

use serde_json::{Value, json};

use self::{
    album::album_tracks,
    intent::{Aspect, Intent, Kind, Whose, intent, isrcs},
    playlist::{playlist, playlist_of},
    tracks::{Track, albums_of, meant, named, shown, tracks, tracks_of},
};
use super::{
    Step, Voice,
    language::{
        Talk,
        pick::places,
        text::{folded, trimmed},
    },
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

/// Titles that the user has put in quotes before, in order. If no list was shown, "these songs" refers to them.
fn mentioned(scene: &Scene) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for exchange in &scene.earlier {
        for title in quoted(&exchange.message) {
            if !titles.iter().any(|known| folded(known) == folded(title)) {
                titles.push(title.to_owned());
            }
        }
    }
    titles.truncate(COMPARED);
    titles
}

/// Whether "these" refers to titles of the user and not to the last list.
fn says_i_mentioned(scene: &Scene) -> bool {
    let words = folded(&scene.now.message).join(" ");
    ["i mentioned", "i named", "i listed"].iter().any(|own| words.contains(own))
}

/// The texts in quotes. An apostrophe inside a word is not a quote.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(at, letter)| {
        let is_inside = rest[..*at].chars().next_back().is_some_and(char::is_alphanumeric);
        matches!(letter, '"' | '“' | '„' | '«' | '‘') || *letter == '\'' && !is_inside
    }) {
        let inner = &rest[at + open.len_utf8()..];
        let closes = |(at, letter): &(usize, char)| match open {
            '\'' | '‘' => {
                let goes_on = inner[at + letter.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric);
                matches!(letter, '\'' | '’') && !goes_on
            }
            _ => matches!(letter, '"' | '”' | '“' | '»'),
        };
        let Some((end, letter)) = inner.char_indices().find(closes) else { break };
        found.extend(Some(inner[..end].trim()).filter(|title| !title.is_empty()));
        rest = &inner[end + letter.len_utf8()..];
    }
    found
}

fn search_index(text: String, query: &str, limit: Option<usize>) -> Step {
    const LONGEST_QUERY: usize = 500;
    let query = show::shortened(query, LONGEST_QUERY);
    let input = match limit {
        Some(limit) => json!({"query": query, "limit": limit}),
        None => json!({"query": query}),
    };
    Step::calls(text, "semanticSearch", input)
}

fn tidal_input(query: &str, kind: Kind) -> Value {
    const LONGEST_QUERY: usize = 400;
    let kind = match kind {
        Kind::Tracks => "tracks",
        Kind::Albums => "albums",
        Kind::Both => "both",
    };
    json!({"query": show::shortened(query, LONGEST_QUERY), "searchType": kind})
}

fn failed(voice: &Voice, error: &str) -> Step {
    let full_stop = if error.ends_with(['.', '!', '?']) { "" } else { "." };
    Step::says(voice.say(Phrase::SearchFailed, &[&format!("{}{full_stop}", plain(error))]))
}

fn mood(voice: &Voice, scene: &Scene, query: &str, limit: Option<usize>) -> Step {
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
fn mood_among(voice: &Voice, scene: &Scene, query: &str, limit: Option<usize>, whose: Whose) -> Step {
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
fn has_tidal(scene: &Scene) -> bool {
    let is_off = |error: &str| error.contains("not configured") || error.contains("not set up");
    let said_off = scene.earlier.iter().any(|exchange| exchange.error("tidalSearch").is_some_and(is_off));
    scene.has("tidalSearch") && !said_off
}

/// Searches the catalogue first, and the index if the catalogue fails or finds nothing.
fn catalogue(
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
fn instead_of_tidal(voice: &Voice, scene: &Scene, query: &str) -> Option<String> {
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

fn mix(voice: &Voice, scene: &Scene, query: &str, artist: &str) -> Step {
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
fn more(voice: &Voice, scene: &Scene) -> Step {
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

fn more_like(voice: &Voice, scene: &Scene, which: &str) -> Step {
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

fn is_pointing(voice: &Voice, words: &str) -> bool {
    places(voice.language, words).is_some() || voice.language.words.is("pronoun", &folded(words).join(" "))
}

fn compare(voice: &Voice, scene: &Scene, names: &[String]) -> Step {
    match known_or_searched(voice, scene, names) {
        Ok(tracks) => compare_known(voice, scene, &tracks),
        Err(step) => step,
    }
}

fn compare_known(voice: &Voice, scene: &Scene, these: &[Track]) -> Step {
    let codes: Vec<_> = these.iter().map(|track| track.isrc.clone()).filter(|isrc| !isrc.is_empty()).collect();
    if codes.is_empty() {
        return Step::says(voice.say(Phrase::AskWhichTrack, &[]));
    }
    if let Some(output) = scene.now.output("batchMetadata") {
        return Step::says(show::comparison(voice, &tracks(output)));
    }
    batch(voice, scene, codes)
}

fn details(voice: &Voice, scene: &Scene, which: &str, aspect: Aspect) -> Step {
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

fn look_up(voice: &Voice, scene: &Scene, codes: &[String], aspect: Aspect) -> Step {
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

/// Which of the tracks shown last are in the library, according to earlier results, without a new search.
fn own_these(voice: &Voice, scene: &Scene) -> Step {
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
fn playlists(voice: &Voice, scene: &Scene) -> Step {
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

fn own(voice: &Voice, scene: &Scene, what: &str) -> Step {
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
