//! The tasks of the list, and the resolution of references to them.

use std::ops::Range;

use serde_json::Value;

use super::{follow::only_question, items::parts};
use crate::{
    language::{
        Language, cut,
        pick::{Pick, by_title, index, places},
        text::{fold, folded, words},
    },
    scene::{Scene, bold},
};

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) completed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    These(Vec<usize>),
    Which(Vec<usize>),
    Mistyped(usize),
    Perhaps(usize),
    /// A position after the end of the list.
    NoSuchPlace(String),
    /// It was listed before and no longer exists.
    Gone(String),
    Nothing,
}

/// The list from the results of this turn.
pub(crate) struct Listed<'a> {
    language: &'a Language,
    scene: &'a Scene<'a>,
    pub(crate) was_read: bool,
    /// The list before the changes of this turn.
    pub(crate) tasks: Vec<Task>,
    /// The list as it was read last.
    pub(crate) latest: Vec<Task>,
}

impl<'a> Listed<'a> {
    pub(crate) fn new(language: &'a Language, scene: &'a Scene<'a>) -> Self {
        let mut outputs = scene.now.calls.iter().filter(|called| called.name == "list_tasks");
        let first = outputs.find_map(|called| called.result.as_ref()?.as_ref().ok());
        let latest = scene.now.output("list_tasks");
        Self { language, scene, was_read: first.is_some(), tasks: tasks(first), latest: tasks(latest) }
    }

    /// Whether a task has exactly this title.
    pub(crate) fn has_title(&self, title: &str) -> bool {
        self.tasks.iter().any(|task| fold(&task.title) == fold(title))
    }

    /// The tasks to which the words refer. Several references are resolved separately: "milk and the last one".
    pub(crate) fn targets(&self, which: &str) -> Vec<(String, Target)> {
        let whole = self.target(which);
        let words = words(which);
        let parts: Vec<Range<usize>> = parts(which, &words);
        if parts.len() < 2 || matches!(whole, Target::These(_) | Target::NoSuchPlace(_) | Target::Gone(_)) {
            return vec![(which.to_owned(), whole)];
        }
        let split = parts.into_iter().map(|part| cut(which, &words[part]).to_owned());
        let split: Vec<_> = split.map(|part| (self.target(&part), part)).map(|(target, part)| (part, target)).collect();
        // A title may contain "and", so the words are split only if the parts match better than the whole.
        if split.iter().any(|(_, target)| matches!(target, Target::These(_))) {
            return split;
        }
        vec![(which.to_owned(), whole)]
    }

    fn target(&self, which: &str) -> Target {
        let by_title = by_title(self.language, which, self.tasks.iter().map(|task| task.title.as_str()));
        if self.language.words.is("pronoun", &folded(which).join(" ")) {
            let is_plural = self.language.words.is("plural", &folded(which).join(" "));
            return match self.mentioned() {
                Target::These(several) if several.len() > 1 && !is_plural => Target::Which(several),
                mentioned => mentioned,
            };
        }
        if let Some(places) = places(self.language, which) {
            let by_place = self.at_places(&places);
            // "2" may be a position and also a title. Then the model asks.
            return match (by_place, by_title) {
                (Target::These(places), Pick::These(titles)) if places != titles => {
                    Target::Which([places, titles].concat())
                }
                (by_place, _) => by_place,
            };
        }
        match by_title {
            Pick::These(found) => Target::These(found),
            Pick::Which(found) => Target::Which(found),
            Pick::Mistyped(at) => Target::Mistyped(at),
            Pick::Perhaps(at) => Target::Perhaps(at),
            Pick::Nothing => Target::Nothing,
        }
    }

    /// Positions refer to the list that was shown last, else to the current list.
    fn at_places(&self, places: &[i64]) -> Target {
        let shown = self.scene.earlier.iter().rev().map(|exchange| exchange.numbered()).find(|lines| !lines.is_empty());
        let mut found = Vec::new();
        for &place in places {
            let Some(shown) = &shown else {
                let Some(at) = index(place, self.tasks.len()) else { return Target::NoSuchPlace(place.to_string()) };
                found.push(at);
                continue;
            };
            let Some(line) = index(place, shown.len()) else { return Target::NoSuchPlace(place.to_string()) };
            match self.shown_as(shown, line) {
                Target::These(mut at) => found.append(&mut at),
                other => return other,
            }
        }
        found.dedup();
        Target::These(found)
    }

    /// The task of a shown line. Tasks with the same title are matched by their order, if their number has not changed.
    fn shown_as(&self, shown: &[&str], line: usize) -> Target {
        let title = fold(shown[line]);
        let tasks: Vec<_> = (0..self.tasks.len()).filter(|&at| fold(&self.tasks[at].title) == title).collect();
        let lines: Vec<_> = (0..shown.len()).filter(|&at| fold(shown[at]) == title).collect();
        match (tasks.as_slice(), lines.iter().position(|at| *at == line)) {
            ([], _) => Target::Gone(shown[line].to_owned()),
            ([only], _) => Target::These(vec![*only]),
            (several, Some(nth)) if several.len() == lines.len() => Target::These(vec![several[nth]]),
            (several, _) => Target::Which(several.to_vec()),
        }
    }

    /// "it": the task of the last question, or the task that was changed last.
    fn mentioned(&self) -> Target {
        if let Some(title) = self.scene.last().and_then(only_question).and_then(bold) {
            return self.target(title);
        }
        for exchange in self.scene.earlier.iter().rev() {
            let done = exchange.calls.iter().filter(|called| called.name != "list_tasks");
            let ids = done.filter_map(|called| id_of(called.result.as_ref()?.as_ref().ok()?, called.input));
            let ids: Vec<_> = ids.collect();
            let at: Vec<_> = (0..self.tasks.len()).filter(|&at| ids.contains(&self.tasks[at].id.as_str())).collect();
            if !at.is_empty() {
                return Target::These(at);
            }
            if let [only] = exchange.numbered().as_slice() {
                return self.target(only);
            }
            if !ids.is_empty() {
                break;
            }
        }
        Target::Nothing
    }
}

fn id_of<'v>(output: &'v Value, input: &'v Value) -> Option<&'v str> {
    let task = output.get("task").unwrap_or(output);
    task.get("id").or_else(|| input.get("task_id")).and_then(Value::as_str)
}

fn tasks(output: Option<&Value>) -> Vec<Task> {
    let tasks = output.and_then(|output| output.get("tasks")).and_then(Value::as_array);
    let text = |task: &Value, field: &str| task.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tasks = tasks.into_iter().flatten().map(|task| Task {
        id: text(task, "id"),
        title: text(task, "title"),
        description: text(task, "description"),
        completed: task.get("completed").and_then(Value::as_bool).unwrap_or(false),
    });
    tasks.filter(|task| !task.id.is_empty()).collect()
}
