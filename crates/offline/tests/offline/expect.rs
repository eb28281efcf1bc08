//! The expected result of each utterance (the head of the table explains its format), and the share that is correct.

use std::{collections::BTreeMap, fmt};

use engine::{End, StopReason};
use serde_json::Value;

use crate::world::{Agent, Answered, Tidal};

pub(crate) struct Case<'a> {
    pub(crate) group: &'a str,
    pub(crate) agent: Agent,
    pub(crate) tidal: Tidal,
    pub(crate) tasks: Vec<&'a str>,
    pub(crate) before: Vec<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) expected: Vec<&'a str>,
}

pub(crate) fn cases(data: &str) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    let (mut group, mut agent, mut tidal) = ("", Agent::Tasks, Tidal::On);
    let (mut tasks, mut before) = (Vec::new(), Vec::new());
    let lines = data.lines().skip_while(|line| !line.starts_with("## "));
    for line in lines.filter(|line| !line.trim().is_empty()) {
        if let Some(name) = line.strip_prefix("## ") {
            (group, tidal, tasks, before) = (name, Tidal::On, Vec::new(), Vec::new());
            agent = if name.starts_with("tasks") { Agent::Tasks } else { Agent::Discover };
        } else if let Some((message, expected)) = line.split_once(" => ") {
            let expected = expected.split(" ; ").map(str::trim).collect();
            let (tasks, before) = (tasks.clone(), before.clone());
            cases.push(Case { group, agent, tidal, tasks, before, message: message.trim(), expected });
        } else if let Some(list) = line.strip_prefix("tasks:") {
            tasks = list.split(" | ").map(str::trim).filter(|title| !title.is_empty()).collect();
        } else if let Some(list) = line.strip_prefix("before:") {
            before = list.split(" | ").map(str::trim).filter(|said| !said.is_empty()).collect();
        } else if let Some(mode) = line.strip_prefix("tidal:") {
            tidal = match mode.trim() {
                "on" => Tidal::On,
                "off" => Tidal::Off,
                "down" => Tidal::Down,
                other => panic!("tidal is on, off or down, not {other}"),
            };
        } else {
            panic!("neither a case nor a setting: {line}");
        }
    }
    cases
}

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) n: usize,
    pub(crate) wrong_deletions: Vec<String>,
    groups: BTreeMap<String, (usize, usize)>,
    misses: Vec<String>,
}

impl Report {
    pub(crate) fn note(&mut self, case: &Case, answered: &Answered, music: &Value) {
        let calls: Vec<_> = answered.calls.iter().map(|(name, input)| spelled(answered, music, name, input)).collect();
        let deleted = calls.iter().filter(|call| call.starts_with("delete_task"));
        let wrong = deleted.filter(|call| !case.expected.iter().any(|expected| is_same(expected, call)));
        self.wrong_deletions.extend(wrong.map(|call| format!("{} => {call}", case.message)));
        let is_right = is_right(case, answered, &calls);
        let group = self.groups.entry(case.group.to_owned()).or_default();
        group.0 += usize::from(is_right);
        group.1 += 1;
        self.n += 1;
        if !is_right {
            let text = answered.text.replace('\n', " / ");
            let expected = case.expected.join(" ; ");
            self.misses.push(format!(
                "{}\n    wanted {expected}\n    got    {} ; {text}",
                case.message,
                calls.join(" ; ")
            ));
        }
    }

    pub(crate) fn misses(&self) -> &[String] {
        &self.misses
    }

    fn accuracy(&self) -> f64 {
        1.0 - self.misses.len() as f64 / self.n as f64
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, (right, n)) in &self.groups {
            writeln!(f, "{group:<28} {right:>3} of {n:>3}")?;
        }
        for miss in &self.misses {
            writeln!(f, "  {miss}")?;
        }
        writeln!(f, "{:.1} % of {}, {} wrong deletions", self.accuracy() * 100.0, self.n, self.wrong_deletions.len())
    }
}

const WRITES: [&str; 6] =
    ["add_task", "complete_task", "update_task", "delete_task", "suggestPlaylist", "edit_playlist"];

fn is_right(case: &Case, answered: &Answered, calls: &[String]) -> bool {
    let ended = answered.finished.end == End::Answered(StopReason::Complete) && !answered.text.trim().is_empty();
    let writes = calls.iter().any(|call| WRITES.iter().any(|write| call.starts_with(write)));
    let (mut wanted, mut is_quiet) = (Vec::new(), false);
    for expected in &case.expected {
        let holds = match *expected {
            "asks" => !writes && answered.text.contains('?'),
            "answers" => calls.is_empty(),
            "nothing" => !writes,
            expected => match expected.strip_prefix("says ") {
                Some(words) => answered.text.to_lowercase().contains(&words.to_lowercase()),
                None => {
                    wanted.push(expected);
                    true
                }
            },
        };
        is_quiet |= matches!(*expected, "asks" | "answers" | "nothing");
        if !holds {
            return false;
        }
    }
    let names_lists = wanted.iter().any(|call| call.starts_with("list_tasks"));
    let made: Vec<_> = calls.iter().filter(|call| names_lists || !call.starts_with("list_tasks")).collect();
    let as_wanted = made.len() == wanted.len() && wanted.iter().zip(&made).all(|(wanted, made)| is_same(wanted, made));
    ended && (as_wanted || is_quiet && wanted.is_empty())
}

/// A call in the format of the table.
fn spelled(answered: &Answered, music: &Value, name: &str, input: &Value) -> String {
    let text = |field: &str| input[field].as_str().unwrap_or_default();
    let title = || {
        let found = answered.titles.iter().find(|(id, _)| id == text("task_id"));
        found.map_or("?", |(_, title)| title.as_str())
    };
    let named = |list: &Value, key: &str, value: &Value| {
        let found = list.as_array().into_iter().flatten().find(|item| item[key] == *value);
        found.map_or_else(|| value.to_string(), |item| item["title"].as_str().unwrap_or_default().to_owned())
    };
    let limit = input["limit"].as_u64().map_or_else(String::new, |limit| format!(" #{limit}"));
    match name {
        "add_task" if text("description").is_empty() => format!("add_task {}", text("title")),
        "add_task" => format!("add_task {} // {}", text("title"), text("description")),
        "list_tasks" => format!("list_tasks {}", text("filter")),
        "complete_task" | "delete_task" => format!("{name} {}", title()),
        "update_task" if input.get("title").is_some() => format!("update_task {} // title: {}", title(), text("title")),
        "update_task" => format!("update_task {} // description: {}", title(), text("description")),
        "list_playlists" => format!("list_playlists {}", text("playlist")),
        "edit_playlist" => {
            let tracks = input["tracks"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let tracks: Vec<_> = tracks.collect();
            let to = input["position"].as_u64().map_or_else(String::new, |to| format!(" to {to}"));
            format!("edit_playlist {} {} {}{}{to}", text("playlist"), text("action"), tracks.join(" "), text("title"))
        }
        "semanticSearch" => format!("semanticSearch {}{limit}", text("query")),
        "tidalSearch" => format!("tidalSearch {} @{}{limit}", text("query"), text("searchType")),
        "albumTracks" => format!("albumTracks {}", named(&music["catalogue"]["albums"], "id", &input["albumId"])),
        "batchMetadata" => {
            let codes = input["isrcs"].as_array().into_iter().flatten();
            let titles: Vec<_> = codes.map(|code| named(&music["index"], "isrc", code)).collect();
            format!("batchMetadata {}", titles.join(", "))
        }
        "suggestPlaylist" => {
            format!("suggestPlaylist {} #{}", text("title"), input["tracks"].as_array().map_or(0, Vec::len))
        }
        other => format!("{other} {input}"),
    }
}

/// Removes function words around the search words.
const LITTLE: [&str; 50] = [
    "a",
    "an",
    "the",
    "some",
    "song",
    "songs",
    "music",
    "track",
    "tracks",
    "about",
    "for",
    "to",
    "of",
    "with",
    "and",
    "in",
    "on",
    "my",
    "me",
    "when",
    "im",
    "i",
    "something",
    "like",
    "by",
    "from",
    "that",
    "is",
    "are",
    "it",
    "lieder",
    "musik",
    "über",
    "für",
    "des",
    "chansons",
    "de",
    "la",
    "sur",
    "canciones",
    "para",
    "stuff",
    "un",
    "une",
    "el",
    "una",
    "der",
    "die",
    "das",
    "eine",
];

fn is_same(wanted: &str, made: &str) -> bool {
    let (name, rest) = wanted.split_once(' ').unwrap_or((wanted, ""));
    let (made_name, made_rest) = made.split_once(' ').unwrap_or((made, ""));
    if name != made_name {
        return false;
    }
    if !matches!(name, "semanticSearch" | "tidalSearch" | "suggestPlaylist") {
        return rest.to_lowercase() == made_rest.to_lowercase();
    }
    // `@kind` and `#limit` are compared only if the table contains them.
    let marks: Vec<_> = rest.split(' ').filter(|word| word.starts_with(['@', '#'])).collect();
    let made_marks: Vec<_> = made_rest.split(' ').filter(|word| word.starts_with(['@', '#'])).collect();
    let words = |text: &str| -> Vec<String> {
        let words = text.split(' ').filter(|word| !word.starts_with(['@', '#']));
        let words = words.map(|word| word.to_lowercase().replace(|c: char| !c.is_alphanumeric(), ""));
        words.filter(|word| !word.is_empty() && !LITTLE.contains(&word.as_str())).collect()
    };
    let skips_title = name == "suggestPlaylist" && words(rest).is_empty();
    marks.iter().all(|mark| made_marks.contains(mark)) && (skips_title || words(rest) == words(made_rest))
}
