//! The Tasks agent: reads the list, runs the commands, reports the results, and asks if a command is ambiguous.

mod commands;
mod follow;
mod items;
mod target;

pub use self::items::{LONGEST_DESCRIPTION, LONGEST_TITLE};

use serde_json::{Value, json};

use self::{
    commands::{Command, Filter},
    follow::understood,
    target::{Listed, Target, Task},
};
use super::{
    Step, Voice,
    language::{
        Language, Talk,
        pick::{Pick, by_title, content, places},
        text::{folded, words},
    },
    say::{Phrase, list, plain, strong},
    scene::Scene,
};

const WRITES: [&str; 4] = ["add_task", "complete_task", "update_task", "delete_task"];

/// For a conversation that has the tools of both agents.
pub(crate) fn is_for_tasks(language: &Language, scene: &Scene) -> bool {
    let commands = understood(language, scene);
    let is_about_tasks =
        |command: &Command| !matches!(command, Command::Talk(_) | Command::Unclear(_) | Command::Find(_));
    commands.iter().any(is_about_tasks)
}

pub(crate) fn next_step(voice: &Voice, scene: &Scene) -> Step {
    let commands = understood(voice.language, scene);
    let has_written = scene.now.calls.iter().any(|called| WRITES.contains(&called.name));
    if let Some(filter) = lookup(voice, &commands)
        && !scene.now.called("list_tasks")
    {
        return Step::calls(voice.say(Phrase::LookAtList, &[]), "list_tasks", filter.input());
    }
    if let (Some(error), false) = (scene.now.error("list_tasks"), has_written) {
        return Step::says(voice.say(Phrase::Failed, &["list_tasks", error]));
    }
    let listed = Listed::new(voice.language, scene);
    let mut work = Work { voice, listed: &listed, calls: Vec::new(), remarks: Vec::new(), n_numbered: 0 };
    commands.iter().for_each(|command| work.take_on(command));
    if !has_written && !work.calls.is_empty() {
        let lead = if listed.was_read { Phrase::Working } else { Phrase::Adding };
        return Step { text: voice.say(lead, &[]), calls: work.calls };
    }
    let mut said = results(voice, scene, &listed);
    said.append(&mut work.remarks);
    if said.is_empty() {
        said.push(voice.say(Phrase::TasksHelp, &[]));
    }
    Step::says(said.join("\n\n"))
}

/// The list that must be read first.
fn lookup(voice: &Voice, commands: &[Command]) -> Option<Filter> {
    let writes = |command: &Command| !matches!(command, Command::List(_));
    let asked = commands.iter().find_map(|command| match command {
        Command::List(filter) => Some(*filter),
        _ => None,
    });
    let is_aimed = |command: &Command| match command {
        Command::Unclear(text) => places(voice.language, text).is_some(),
        command => command.is_aimed(),
    };
    if commands.iter().any(is_aimed) {
        return Some(Filter::All);
    }
    asked.filter(|_| !commands.iter().any(writes))
}

/// The required certainty about the task depends on the command.
#[derive(Clone, Copy)]
enum Care<'a> {
    /// Ask if the words match only with a typo, because they may mean another task.
    Deleting,
    Changing,
    /// An open task is preferred to a completed one.
    Completing {
        sentence: &'a str,
    },
}

/// The result of the commands: the calls, and the remarks.
struct Work<'a> {
    voice: &'a Voice<'a>,
    listed: &'a Listed<'a>,
    calls: Vec<(&'static str, Value)>,
    remarks: Vec<String>,
    /// Numbers continue through the whole answer, so that "3" is unambiguous.
    n_numbered: usize,
}

impl<'a> Work<'a> {
    fn take_on(&mut self, command: &Command) {
        match command {
            Command::Add { title, description: None } => self.call("add_task", json!({"title": title})),
            Command::Add { title, description: Some(description) } => {
                self.call("add_task", json!({"title": title, "description": description}));
            }
            Command::List(filter) => self.show(*filter),
            Command::Find(text) => self.find(text),
            Command::Complete { which, sentence } => self.complete(which, sentence),
            Command::CompleteAll => self.complete_all(),
            Command::Delete(which) => {
                for task in self.aim(which, Care::Deleting) {
                    self.call("delete_task", json!({"task_id": task.id}));
                }
            }
            Command::DeleteAll => self.confirm_delete(|_| true),
            Command::DeleteCompleted => self.confirm_delete(|task| task.completed),
            Command::DeleteThese(ids) => self.delete_these(ids),
            Command::Rename { which, title } => self.update(which, "title", title),
            Command::Describe { which, description } => self.update(which, "description", description),
            Command::Change(which) => {
                let tasks = self.aim(which, Care::Changing);
                for task in tasks {
                    self.remark(Phrase::WhatInstead, &[&plain(&task.title)]);
                }
            }
            Command::AddWhat => self.remark(Phrase::WhatToAdd, &[]),
            Command::Uncomplete => self.remark(Phrase::NoUncomplete, &[]),
            Command::Undo => self.remark(Phrase::NoUndo, &[]),
            Command::Keep => self.remark(Phrase::LeftAlone, &[]),
            Command::How => self.remark(Phrase::TasksHelp, &[]),
            Command::Due => self.remark(Phrase::NoDates, &[]),
            Command::Talk(talk) => self.remarks.push(self.voice.talk(*talk, Phrase::TasksHelp)),
            Command::Unclear(text) => self.unclear(text),
        }
    }

    fn call(&mut self, name: &'static str, input: Value) {
        if !self.calls.iter().any(|(other, known)| *other == name && *known == input) {
            self.calls.push((name, input));
        }
    }

    fn remark(&mut self, phrase: Phrase, gaps: &[&str]) {
        self.remarks.push(self.voice.say(phrase, gaps));
    }

    /// A remark with numbered tasks below it.
    fn remark_with(&mut self, mut text: String, tasks: &[&Task]) {
        for task in tasks {
            self.n_numbered += 1;
            text.push_str(&format!("\n{}. {}", self.n_numbered, strong(&task.title)));
            if !task.description.is_empty() {
                text.push_str(&format!(" ({})", plain(&task.description)));
            }
            if task.completed {
                text.push_str(" ✓");
            }
        }
        self.remarks.push(text);
    }

    fn show(&mut self, filter: Filter) {
        if !self.listed.was_read {
            return self.call("list_tasks", filter.input());
        }
        let tasks: Vec<_> = self.listed.latest.iter().filter(|task| filter.takes(task.completed)).collect();
        let n_open = tasks.iter().filter(|task| !task.completed).count().to_string();
        let n = tasks.len().to_string();
        let text = match (filter, tasks.is_empty()) {
            (Filter::All, true) => self.voice.say(Phrase::NoTasks, &[]),
            (Filter::Pending, true) => self.voice.say(Phrase::NoPending, &[]),
            (Filter::Completed, true) => self.voice.say(Phrase::NoCompleted, &[]),
            (Filter::All, false) => self.voice.say(Phrase::YourTasks, &[&n, &n_open]),
            (Filter::Pending, false) => self.voice.say(Phrase::YourPending, &[&n]),
            (Filter::Completed, false) => self.voice.say(Phrase::YourCompleted, &[&n]),
        };
        self.remark_with(text, &tasks);
    }

    fn find(&mut self, text: &str) {
        let (language, tasks) = (self.voice.language, &self.listed.tasks);
        let words = content(language, text);
        // One matching word is enough, because a list of too many tasks is better than one of too few.
        let mentions = |task: &&Task| {
            words
                .iter()
                .any(|word| matches!(by_title(language, word, [task.title.as_str()].into_iter()), Pick::These(_)))
        };
        let found: Vec<_> = tasks.iter().filter(mentions).collect();
        if found.is_empty() {
            return self.remark(Phrase::NothingAbout, &[&plain(text)]);
        }
        self.remark_with(self.voice.say(Phrase::FoundTasks, &[]), &found);
    }

    fn complete(&mut self, which: &str, sentence: &str) {
        for task in self.aim(which, Care::Completing { sentence }) {
            match task.completed {
                true => self.remark(Phrase::AlreadyDone, &[&strong(&task.title)]),
                false => self.call("complete_task", json!({"task_id": task.id})),
            }
        }
    }

    fn complete_all(&mut self) {
        let open: Vec<_> = self.listed.tasks.iter().filter(|task| !task.completed).collect();
        if open.is_empty() {
            self.remark(Phrase::NothingToComplete, &[]);
        }
        for task in open {
            self.call("complete_task", json!({"task_id": task.id}));
        }
    }

    fn confirm_delete(&mut self, is_meant: impl Fn(&Task) -> bool) {
        let tasks: Vec<_> = self.listed.tasks.iter().filter(|task| is_meant(task)).collect();
        if tasks.is_empty() {
            return self.remark(Phrase::NothingToDelete, &[]);
        }
        self.remark_with(self.voice.say(Phrase::ConfirmDelete, &[&tasks.len().to_string()]), &tasks);
        self.remark(Phrase::ReallyDelete, &[]);
    }

    fn delete_these(&mut self, ids: &[String]) {
        let tasks: Vec<_> = self.listed.tasks.iter().filter(|task| ids.contains(&task.id)).collect();
        if tasks.is_empty() {
            self.remark(Phrase::NothingToDelete, &[]);
        }
        for task in tasks {
            self.call("delete_task", json!({"task_id": task.id}));
        }
    }

    fn update(&mut self, which: &str, field: &str, value: &str) {
        if value.is_empty() {
            return self.remark(Phrase::WhatInstead, &[&plain(which)]);
        }
        match self.aim(which, Care::Changing).as_slice() {
            [] => {}
            [task] => self.call("update_task", json!({"task_id": task.id, field: value})),
            several => self.remark_with(self.voice.say(Phrase::WhichOne, &[&plain(which)]), several),
        }
    }

    fn unclear(&mut self, text: &str) {
        const LONGEST_TASK: usize = 10;
        let language = self.voice.language;
        if places(language, text).is_some() {
            for task in self.aim(text, Care::Changing) {
                self.remark(Phrase::WhatToDoWith, &[&plain(&task.title)]);
            }
        } else if language.is_question(text) || text.is_empty() || text.split_whitespace().count() > LONGEST_TASK {
            self.remarks.push(self.voice.talk(Talk::Offtopic, Phrase::TasksHelp));
        } else {
            self.remark(Phrase::ShallIAdd, &[&plain(text)]);
        }
    }

    /// The tasks to which some words refer. An ambiguous reference becomes a question.
    fn aim(&mut self, which: &str, care: Care) -> Vec<&'a Task> {
        let listed = self.listed;
        let mut tasks = Vec::new();
        if folded(which).iter().any(|word| self.voice.language.words.is("except", word)) && !listed.has_title(which) {
            let all: Vec<_> = listed.tasks.iter().collect();
            self.remark_with(self.voice.say(Phrase::NotOnList, &[&plain(which)]), &all);
            return tasks;
        }
        for (words, pick) in listed.targets(which) {
            let task = |at: &usize| &listed.tasks[*at];
            match (pick, care) {
                (Target::These(found), _) => tasks.extend(found.iter().map(task)),
                (Target::Mistyped(at), Care::Completing { .. } | Care::Changing) => tasks.push(task(&at)),
                (Target::Mistyped(at) | Target::Perhaps(at), _) => {
                    self.remark(Phrase::DidYouMean, &[&plain(&words), &plain(&task(&at).title)]);
                }
                (Target::Which(found), care) => {
                    let open: Vec<_> = found.iter().map(task).filter(|task| !task.completed).collect();
                    match (open.as_slice(), care) {
                        ([only], Care::Completing { .. }) => tasks.push(only),
                        _ => {
                            let options: Vec<_> = found.iter().map(task).collect();
                            self.remark_with(self.voice.say(Phrase::WhichOne, &[&plain(&words)]), &options);
                        }
                    }
                }
                (Target::NoSuchPlace(place), _) => self.remark(Phrase::NoSuchPlace, &[&place]),
                (Target::Gone(title), _) => self.remark(Phrase::Gone, &[&strong(&title)]),
                (Target::Nothing, Care::Completing { sentence }) if could_be_task(self.voice.language, sentence) => {
                    self.remark(Phrase::ShallIAdd, &[&plain(sentence)]);
                }
                (Target::Nothing, _) => {
                    let tasks: Vec<_> = listed.tasks.iter().collect();
                    self.remark_with(self.voice.say(Phrase::NotOnList, &[&plain(&words)]), &tasks);
                }
            }
        }
        tasks
    }
}

/// Whether the words look like a task: "finish the taxes" does, "I paid the rent" does not.
fn could_be_task(language: &Language, sentence: &str) -> bool {
    words(sentence).first().is_some_and(|word| language.words.is("verb", &word.folded))
        && !language.is_question(sentence)
}

/// The results of the writing calls of this turn, one line for each kind.
fn results(voice: &Voice, scene: &Scene, listed: &Listed) -> Vec<String> {
    let mut said = Vec::new();
    let mut done: [Vec<String>; 3] = Default::default();
    for called in scene.now.calls.iter().filter(|called| WRITES.contains(&called.name)) {
        let input = |field: &str| called.input.get(field).and_then(Value::as_str).unwrap_or_default();
        let known = listed.tasks.iter().find(|task| task.id == input("task_id"));
        let title = known.map_or_else(|| input("title").to_owned(), |task| task.title.clone());
        match (&called.result, called.name) {
            (Some(Err(error)), _) => said.push(voice.say(Phrase::Failed, &[&strong(&title), error])),
            (None, _) => said.push(voice.say(Phrase::Failed, &[&strong(&title), "…"])),
            (Some(Ok(_)), "add_task") => done[0].push(title),
            (Some(Ok(_)), "complete_task") => done[1].push(title),
            (Some(Ok(_)), "delete_task") => done[2].push(title),
            (Some(Ok(_)), _) if input("title").is_empty() => {
                said.push(voice.say(Phrase::Described, &[&strong(&title)]))
            }
            (Some(Ok(_)), _) => said.push(voice.say(Phrase::Renamed, &[&strong(&title), &strong(input("title"))])),
        }
    }
    for (phrase, titles) in [Phrase::Added, Phrase::Completed, Phrase::Deleted].into_iter().zip(done) {
        if !titles.is_empty() {
            said.push(voice.say(phrase, &[&list(voice.lang, &titles)]));
        }
    }
    if scene.now.called("add_task") && asks_for_reminder(&scene.now.message) {
        said.push(voice.say(Phrase::AddedReminder, &[]));
    }
    said
}

fn asks_for_reminder(message: &str) -> bool {
    let reminds = ["remind", "erinner", "rappelle", "recuerdame"];
    words(message).iter().any(|word| reminds.iter().any(|remind| word.folded.starts_with(remind)))
}
