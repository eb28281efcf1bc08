//! Short answers to a question of the model: "yes", "the second one", "the oat one".

use serde_json::Value;

use super::commands::{Command, commands};
use crate::{
    language::{
        Language, Talk,
        pick::{Pick, by_title, places},
        text::{fold, folded},
    },
    scene::{Exchange, Scene, bold},
};

/// The commands of the current message, interpreted as an answer to the question before it.
pub(crate) fn understood(language: &Language, scene: &Scene) -> Vec<Command> {
    in_context(language, &scene.earlier, &scene.now.message, LONGEST_CHAIN)
}

/// Maximum number of consecutive questions that are resolved.
const LONGEST_CHAIN: usize = 4;

fn in_context(language: &Language, earlier: &[Exchange], message: &str, chain: usize) -> Vec<Command> {
    let commands = commands(language, message);
    let Some((last, before)) = earlier.split_last() else { return commands };
    if chain == 0 || !last.answer.contains('?') {
        return commands;
    }
    let asked_about = || in_context(language, before, &last.message, chain - 1);
    match commands.as_slice() {
        [Command::Talk(Talk::Yes)] => confirmed(last, &asked_about()).map_or(commands, |command| vec![command]),
        [Command::Talk(Talk::No)] => vec![Command::Keep],
        [Command::Unclear(answer)] if asked_about() == [Command::AddWhat] => {
            vec![Command::Add { title: answer.clone(), description: None }]
        }
        [Command::Unclear(answer)] => {
            chosen(language, last, &asked_about(), answer).map_or(commands, |command| vec![command])
        }
        // "call mum" would be a new task, unless the question has just listed it.
        [Command::Add { title, .. }] if fold(title) == fold(language.bare(message)) => {
            chosen(language, last, &asked_about(), title).map_or(commands, |command| vec![command])
        }
        _ => commands,
    }
}

/// "Yes" to the deletion of several tasks, to "Did you mean **this**?", or to "Shall I add ‹this›?"
fn confirmed(last: &Exchange, asked_about: &[Command]) -> Option<Command> {
    let deletes_many = |command: &&Command| matches!(command, Command::DeleteAll | Command::DeleteCompleted);
    if let Some(command) = asked_about.iter().find(deletes_many) {
        return (!last.called("delete_task")).then(|| Command::DeleteThese(listed(last, command)));
    }
    let question = only_question(last)?;
    if let Some((_, rest)) = question.split_once('‹') {
        let title = rest.split('›').next().unwrap_or(rest).to_owned();
        return Some(Command::Add { title, description: None });
    }
    let title = bold(question)?;
    asked_about.iter().find_map(|command| command.aimed_at(title))
}

/// Only the tasks that the question listed: the user did not agree to the deletion of a task that was added later.
fn listed(last: &Exchange, command: &Command) -> Vec<String> {
    let is_meant = |task: &&Value| {
        *command == Command::DeleteAll || task.get("completed").and_then(Value::as_bool).unwrap_or(false)
    };
    let ids = tasks_listed(last).filter(is_meant).filter_map(|task| task.get("id")?.as_str());
    ids.map(str::to_owned).collect()
}

fn tasks_listed<'e>(exchange: &'e Exchange) -> impl Iterator<Item = &'e Value> {
    let tasks = exchange.output("list_tasks").and_then(|output| output.get("tasks")).and_then(Value::as_array);
    tasks.into_iter().flatten()
}

/// The line with the question, if there is only one.
pub(crate) fn only_question<'a>(last: &'a Exchange) -> Option<&'a str> {
    let mut questions = last.answer.lines().filter(|line| line.contains('?'));
    let question = questions.next()?;
    questions.next().is_none().then_some(question)
}

/// One of the numbered lines of the question.
fn chosen(language: &Language, last: &Exchange, asked_about: &[Command], answer: &str) -> Option<Command> {
    let options = last.numbered();
    let is_all = language.words.is("plural", &folded(answer).join(" "));
    if is_all && !options.is_empty() {
        let every: Vec<_> = (1..=options.len()).map(|place| place.to_string()).collect();
        let aimed = asked_about.iter().find_map(|command| command.aimed_at(&every.join(" ")))?;
        // After the whole list, "them" means all tasks, and their deletion requires a question first. A list that the
        // last exchange did not read counts as the whole list.
        let is_whole_list = tasks_listed(last).count() <= options.len();
        let deletes = matches!(aimed, Command::Delete(_));
        return Some(if deletes && is_whole_list { Command::DeleteAll } else { aimed });
    }
    let is_option = matches!(by_title(language, answer, options.iter().copied()), Pick::These(_) | Pick::Mistyped(_));
    let is_place = places(language, answer).is_some();
    (is_option || is_place).then(|| asked_about.iter().find_map(|command| command.aimed_at(answer)))?
}
