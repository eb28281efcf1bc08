//! The tools with a task list and a library in memory. They validate their input like the real tools.

use std::sync::{Arc, Mutex};

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::world::{Task, Tidal};

/// Any output: the fields of a tool, as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Output(Value);

impl Report for Output {
    fn summary(&self) -> String {
        "Done".into()
    }
    fn count(&self) -> usize {
        self.0.get("tracks").or(self.0.get("tasks")).and_then(Value::as_array).map_or(0, Vec::len)
    }
}

macro_rules! tool {
    ($tool:ident, $name:literal, $effect:ident, $input:ident, |$self:ident, $in:ident| $body:expr) => {
        impl Tool for $tool {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $name;
            const EFFECT: Effect = Effect::$effect;
            type Input = $input;
            type Output = Output;
            async fn call(&self, _: &ToolContext, $in: $input) -> Result<Output, ToolError> {
                let $self = self;
                $body
            }
        }
    };
}

pub(crate) struct AddTask(pub(crate) Arc<Mutex<Vec<Task>>>);
pub(crate) struct ListTasks(pub(crate) Arc<Mutex<Vec<Task>>>);
pub(crate) struct CompleteTask(pub(crate) Arc<Mutex<Vec<Task>>>);
pub(crate) struct UpdateTask(pub(crate) Arc<Mutex<Vec<Task>>>);
pub(crate) struct DeleteTask(pub(crate) Arc<Mutex<Vec<Task>>>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTask {
    title: String,
    description: Option<String>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    filter: Option<String>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ById {
    task_id: String,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    task_id: String,
    title: Option<String>,
    description: Option<String>,
}

tool!(AddTask, "add_task", Writes, NewTask, |tool, input| {
    if !(1..=200).contains(&input.title.chars().count()) {
        return Err(ToolError::BadInput("a title has 1 to 200 characters".into()));
    }
    let mut tasks = tool.0.lock().unwrap();
    let id = format!("00000000-0000-7000-9000-{:012}", tasks.len());
    let description = input.description.unwrap_or_default();
    tasks.push(Task { id, title: input.title, description, completed: false });
    Ok(Output(json!(tasks.last())))
});
tool!(ListTasks, "list_tasks", Reads, Filter, |tool, input| {
    let takes = |task: &&Task| match input.filter.as_deref() {
        Some("pending") => !task.completed,
        Some("completed") => task.completed,
        _ => true,
    };
    Ok(Output(json!({"tasks": tool.0.lock().unwrap().iter().filter(takes).collect::<Vec<_>>()})))
});
tool!(CompleteTask, "complete_task", Writes, ById, |tool, input| {
    edit(&tool.0, &input.task_id, |task| task.completed = true)
});
tool!(UpdateTask, "update_task", Writes, Change, |tool, input| {
    edit(&tool.0, &input.task_id, |task| {
        task.title = input.title.unwrap_or(task.title.clone());
        task.description = input.description.unwrap_or(task.description.clone());
    })
});
tool!(DeleteTask, "delete_task", Deletes, ById, |tool, input| {
    let gone = edit(&tool.0, &input.task_id, |_| {})?;
    tool.0.lock().unwrap().retain(|task| task.id != input.task_id);
    Ok(gone)
});

fn edit(tasks: &Mutex<Vec<Task>>, id: &str, change: impl FnOnce(&mut Task)) -> Result<Output, ToolError> {
    let mut tasks = tasks.lock().unwrap();
    let Some(task) = tasks.iter_mut().find(|task| task.id == id) else {
        return Err(ToolError::BadInput("no such task".into()));
    };
    change(task);
    Ok(Output(json!(task)))
}

pub(crate) struct SemanticSearch(pub(crate) Arc<Value>);
pub(crate) struct TidalSearch(pub(crate) Arc<Value>, pub(crate) Tidal);
pub(crate) struct AlbumTracks(pub(crate) Arc<Value>, pub(crate) Tidal);
pub(crate) struct BatchMetadata(pub(crate) Arc<Value>);
pub(crate) struct SuggestPlaylist(pub(crate) Arc<Value>, pub(crate) Playlists);
pub(crate) struct ListPlaylists(pub(crate) Playlists);
pub(crate) struct EditPlaylist(pub(crate) Arc<Value>, pub(crate) Playlists);

/// Titles and tracks. The id of a playlist is "p" and its position.
pub(crate) type Playlists = Arc<Mutex<Vec<(String, Vec<Value>)>>>;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    query: String,
    limit: Option<usize>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CatalogueQuery {
    query: String,
    search_type: String,
    limit: Option<usize>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AlbumId {
    album_id: String,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Codes {
    isrcs: Vec<String>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suggestion {
    title: String,
    tracks: Vec<Suggested>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suggested {
    isrc: String,
    reasoning: String,
}

tool!(SemanticSearch, "semanticSearch", Reads, Query, |tool, input| {
    if input.query.trim().is_empty() {
        return Err(ToolError::BadInput("Query cannot be empty".into()));
    }
    let mut found: Vec<(f64, Value)> = Vec::new();
    for track in tool.0["index"].as_array().unwrap() {
        let (known, asked) = (track.to_string().to_lowercase(), input.query.to_lowercase());
        let words: Vec<_> = asked.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).collect();
        let hits = words.iter().filter(|word| known.contains(&word.chars().take(4).collect::<String>())).count();
        let score = if hits > 0 { 0.5 + 0.45 * hits as f64 / words.len() as f64 } else { 0.05 };
        found.push((score, without_texts(track, score)));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let any_good = found.iter().any(|(score, _)| *score > 0.3);
    found.retain(|(score, _)| *score > 0.3 || !any_good);
    found.truncate(input.limit.unwrap_or(if any_good { 20 } else { 3 }));
    Ok(Output(json!({"tracks": found.into_iter().map(|(_, track)| track).collect::<Vec<_>>(), "query": input.query})))
});

/// The compact form: no lyrics, a score.
fn without_texts(track: &Value, score: f64) -> Value {
    let mut track = track.clone();
    for field in ["lyrics", "interpretation", "audioFeatures"] {
        track.as_object_mut().unwrap().remove(field);
    }
    track["score"] = json!(score);
    track
}

fn check(tidal: Tidal) -> Result<(), ToolError> {
    match tidal {
        Tidal::On => Ok(()),
        Tidal::Off => Err(ToolError::Refused("Tidal is not configured. Try searching your indexed collection.".into())),
        Tidal::Down => Err(ToolError::Unavailable {
            message: "Tidal service is temporarily unavailable. Try searching your indexed collection instead.".into(),
            retryable: true,
        }),
    }
}

tool!(TidalSearch, "tidalSearch", Reads, CatalogueQuery, |tool, input| {
    check(tool.1)?;
    let asked = input.query.to_lowercase();
    let words: Vec<_> = asked.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
    let fits = |item: &&Value| {
        let known = item.to_string().to_lowercase();
        words.iter().all(|word| known.contains(word))
    };
    let pick = |kind: &str| {
        let items = tool.0["catalogue"][kind].as_array().unwrap().iter().filter(fits);
        items.take(input.limit.unwrap_or(20)).cloned().collect::<Vec<_>>()
    };
    Ok(Output(match input.search_type.as_str() {
        "tracks" => json!({"tracks": pick("tracks")}),
        "albums" => json!({"albums": pick("albums")}),
        _ => json!({"tracks": pick("tracks"), "albums": pick("albums")}),
    }))
});
tool!(AlbumTracks, "albumTracks", Reads, AlbumId, |tool, input| {
    check(tool.1)?;
    let albums = tool.0["catalogue"]["albums"].as_array().unwrap();
    let Some(album) = albums.iter().find(|album| album["id"] == input.album_id.as_str()) else {
        return Err(ToolError::BadInput("no such album".into()));
    };
    let tracks =
        tool.0["catalogue"]["tracks"].as_array().unwrap().iter().filter(|track| track["album"] == album["title"]);
    Ok(Output(
        json!({"albumId": input.album_id, "albumTitle": album["title"], "artist": album["artist"], "tracks": tracks.collect::<Vec<_>>()}),
    ))
});
tool!(BatchMetadata, "batchMetadata", Reads, Codes, |tool, input| {
    let tracks = tool.0["index"].as_array().unwrap().iter();
    let found: Vec<_> = tracks.filter(|track| input.isrcs.iter().any(|isrc| track["isrc"] == isrc.as_str())).collect();
    Ok(Output(json!({"tracks": found})))
});
tool!(SuggestPlaylist, "suggestPlaylist", Writes, Suggestion, |tool, input| {
    let known = input.tracks.iter().all(|track| track.isrc.len() == 12 && !track.reasoning.is_empty());
    if !known || input.title.is_empty() || input.tracks.is_empty() {
        return Err(ToolError::BadInput("every track needs its code and a reason".into()));
    }
    let all =
        [&tool.0["index"], &tool.0["catalogue"]["tracks"]].map(|list| list.as_array().unwrap()).into_iter().flatten();
    let saved: Vec<_> = all.filter(|track| input.tracks.iter().any(|chosen| track["isrc"] == *chosen.isrc)).collect();
    let mut playlists = tool.1.lock().unwrap();
    playlists.push((input.title.clone(), saved.into_iter().cloned().collect()));
    Ok(Output(
        json!({"id": format!("p{}", playlists.len() - 1), "title": input.title, "tracks": playlists.last().unwrap().1}),
    ))
});

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListedPlaylist {
    playlist: Option<String>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaylistEdit {
    playlist: String,
    action: String,
    title: Option<String>,
    #[serde(default)]
    tracks: Vec<String>,
    position: Option<usize>,
}

fn playlist_at(playlists: &[(String, Vec<Value>)], name: &str) -> Result<usize, ToolError> {
    let named = (0..playlists.len())
        .filter(|at| format!("p{at}") == name || playlists[*at].0.to_lowercase() == name.to_lowercase());
    match named.collect::<Vec<_>>().as_slice() {
        [one] => Ok(*one),
        _ => Err(ToolError::BadInput("There is no such playlist".into())),
    }
}

tool!(ListPlaylists, "list_playlists", Reads, ListedPlaylist, |tool, input| {
    let playlists = tool.0.lock().unwrap();
    let line = |at: usize| json!({"id": format!("p{at}"), "title": playlists[at].0, "tracks": playlists[at].1.len()});
    match input.playlist {
        Some(name) => {
            let at = playlist_at(&playlists, &name)?;
            Ok(Output(json!({"playlists": [line(at)], "tracks": playlists[at].1})))
        }
        None => Ok(Output(json!({"playlists": (0..playlists.len()).map(line).collect::<Vec<_>>()}))),
    }
});
tool!(EditPlaylist, "edit_playlist", Writes, PlaylistEdit, |tool, input| {
    let mut playlists = tool.1.lock().unwrap();
    let at = playlist_at(&playlists, &input.playlist)?;
    let (title, tracks) = &mut playlists[at];
    let bad = |text: &str| ToolError::BadInput(text.into());
    let mut changed = Vec::new();
    match input.action.as_str() {
        "rename" => *title = input.title.ok_or_else(|| bad("no title"))?,
        "add" => {
            let all = [&tool.0["index"], &tool.0["catalogue"]["tracks"]].map(|list| list.as_array().unwrap());
            for code in &input.tracks {
                let track = all.iter().flat_map(|list| list.iter()).find(|track| track["isrc"] == code.as_str());
                tracks.push(track.ok_or_else(|| bad("unknown track"))?.clone());
                changed.push(json!({"title": tracks.last().unwrap()["title"], "position": tracks.len()}));
            }
        }
        action => {
            let mut places: Vec<usize> = input.tracks.iter().map(|text| text.parse().unwrap()).collect();
            places.sort_unstable();
            for place in places.into_iter().rev() {
                let track = tracks.remove(place - 1);
                let to = if action == "move" { input.position.unwrap() } else { place };
                changed.push(json!({"title": track["title"], "position": to}));
                if action == "move" {
                    tracks.insert(to - 1, track);
                }
            }
        }
    }
    Ok(Output(json!({"id": format!("p{at}"), "title": title, "changed": changed})))
});
