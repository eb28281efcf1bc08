//! Refinements: "no, something louder", "without the sad ones", "older", "in French" change the last search.

use query::{
    features::{Side, SoundPreference},
    plan::{Plan, Shift},
    stop::content_words,
};
use serde_json::Value;

use super::{
    search::mood,
    tracks::{Track, shown},
};
use crate::{
    Step, Voice,
    language::text::{fold, trimmed},
    say::Phrase,
    scene::Scene,
};

/// The changes to the last search, if the message contains nothing else.
pub(crate) fn change(scene: &Scene) -> Option<String> {
    last_query(scene)?;
    let message = without_no(&scene.now.message);
    let plan = query::parse(message, THIS_YEAR);
    let is_sound = |word: &str| !query::features::sound_preferences(word).is_empty();
    let says_more = content_words(&plan.words).iter().any(|content| {
        let word = &plan.words[content.word.start..content.word.end];
        content.weight >= 1.0 && !is_sound(word) && !is_filler(word)
    });
    let compares = plan.sounds.iter().any(|preference: &SoundPreference| preference.is_relative);
    let has_change = compares || !plan.limits.is_empty() || !plan.shifts.is_empty() || says_not_too(&plan);
    (plan.seeds.is_empty() && plan.limits.artist.is_none() && has_change && !says_more && is_short(message))
        .then(|| message.to_owned())
}

/// Any year works here: only "older than 20 years" depends on it, and the tool parses that phrase again.
const THIS_YEAR: i32 = 2026;
const MOST_WORDS: usize = 8;

fn is_short(message: &str) -> bool {
    message.split_whitespace().count() <= MOST_WORDS
}

fn says_not_too(plan: &Plan) -> bool {
    plan.words.trim().is_empty()
        && plan.sounds.iter().any(|preference| matches!(preference.side, Side::Low | Side::High))
}

fn is_filler(word: &str) -> bool {
    matches!(
        fold(word).as_str(),
        "make"
            | "bit"
            | "ones"
            | "rather"
            | "them"
            | "please"
            | "instead"
            | "bitte"
            | "etwas"
            | "lieber"
            | "plutot"
            | "mejor"
            | "ok"
            | "but"
    )
}

/// Removes a leading "no": in "no, something louder" it rejects the results and does not deny loudness.
fn without_no(message: &str) -> &str {
    let message = message.trim();
    let rest = ["no,", "nah,", "hmm,", "no -", "nein,", "non,", "ok,"].into_iter().find_map(|no| {
        message.get(..no.len()).filter(|start| start.eq_ignore_ascii_case(no)).map(|_| &message[no.len()..])
    });
    trimmed(rest.unwrap_or(message))
}

fn last_query(scene: &Scene) -> Option<String> {
    let calls = scene.earlier.iter().rev().flat_map(|exchange| exchange.calls.iter().rev());
    let mut searches = calls.filter(|called| called.name == "semanticSearch" && matches!(called.result, Some(Ok(_))));
    searches.next()?.input.get("query").and_then(Value::as_str).map(str::to_owned)
}

pub(crate) fn refine(voice: &Voice, scene: &Scene, change: &str) -> Step {
    let Some(last) = last_query(scene) else { return Step::says(voice.say(Phrase::AskMood, &[])) };
    let shifts = query::parse(change, THIS_YEAR).shifts;
    let query = match shifts.first() {
        None => format!("{last}, {change}"),
        Some(shift) => match limit(*shift, &shown(scene)) {
            Some(limit) => format!("{last}, {limit}"),
            None => return Step::says(voice.say(Phrase::NoYears, &[])),
        },
    };
    mood(voice, scene, &query, None)
}

/// Converts "older" to an exact limit in words, relative to all shown tracks.
fn limit(shift: Shift, shown: &[Track]) -> Option<String> {
    let years = || shown.iter().filter_map(Track::year);
    let seconds = || shown.iter().filter_map(|track| track.duration).map(|seconds| seconds.round() as u64);
    match shift {
        Shift::Older => years().min().map(|year| format!("before {year}")),
        Shift::Newer => years().max().map(|year| format!("after {year}")),
        Shift::Longer => seconds().max().map(|longest| format!("longer than {longest} seconds")),
        Shift::Shorter => seconds().min().map(|shortest| format!("under {shortest} seconds")),
    }
}
