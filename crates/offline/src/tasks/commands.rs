//! Parses a message to the Tasks agent into a list of commands.

use serde_json::{Value, json};

use super::items::{add, is_and, items};
use crate::language::{
    Heard, Language, MAX_WORDS, Talk, TaskVerb, cut, sentences,
    text::{Word, folded, trimmed, words},
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Add {
        title: String,
        description: Option<String>,
    },
    List(Filter),
    Find(String),
    /// If there is no such task, the whole sentence is added as a task.
    Complete {
        which: String,
        sentence: String,
    },
    CompleteAll,
    Delete(String),
    DeleteAll,
    DeleteCompleted,
    /// By id, after the user's consent.
    DeleteThese(Vec<String>),
    Rename {
        which: String,
        title: String,
    },
    Describe {
        which: String,
        description: String,
    },
    /// Incomplete: the new title or the note is missing.
    Change(String),
    Uncomplete,
    Undo,
    Keep,
    How,
    Due,
    /// "Add a task" without a title.
    AddWhat,
    Talk(Talk),
    Unclear(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    Pending,
    Completed,
}

impl Filter {
    pub(crate) fn input(self) -> Value {
        json!({"filter": match self { Self::All => "all", Self::Pending => "pending", Self::Completed => "completed" }})
    }

    pub(crate) fn takes(self, completed: bool) -> bool {
        match self {
            Self::All => true,
            Self::Pending => !completed,
            Self::Completed => completed,
        }
    }
}

impl Command {
    /// Whether the command refers to existing tasks, so that the list must be read first.
    pub(crate) fn is_aimed(&self) -> bool {
        match self {
            Self::Find(_)
            | Self::Complete { .. }
            | Self::CompleteAll
            | Self::Delete(_)
            | Self::DeleteAll
            | Self::DeleteCompleted
            | Self::DeleteThese(_)
            | Self::Rename { .. }
            | Self::Describe { .. }
            | Self::Change(_) => true,
            Self::Add { .. } | Self::List(_) | Self::Uncomplete | Self::Undo | Self::Keep | Self::How | Self::Due => {
                false
            }
            Self::AddWhat | Self::Talk(_) | Self::Unclear(_) => false,
        }
    }

    /// The words that refer to its one task.
    fn which(&self) -> Option<&str> {
        match self {
            Self::Complete { which, .. } | Self::Rename { which, .. } | Self::Describe { which, .. } => Some(which),
            Self::Delete(which) | Self::Change(which) => Some(which),
            _ => None,
        }
    }

    /// The same command for another task, if it applies to one task.
    pub(crate) fn aimed_at(&self, which: &str) -> Option<Self> {
        let which = which.to_owned();
        match self {
            Self::Complete { sentence, .. } => Some(Self::Complete { which, sentence: sentence.clone() }),
            Self::Delete(_) => Some(Self::Delete(which)),
            Self::Rename { title, .. } => Some(Self::Rename { which, title: title.clone() }),
            Self::Describe { description, .. } => Some(Self::Describe { which, description: description.clone() }),
            Self::Change(_) => Some(Self::Change(which)),
            _ => None,
        }
    }
}

/// Parses every sentence. "Hi!" and "thanks" count only if there is no other sentence.
pub(crate) fn commands(language: &Language, message: &str) -> Vec<Command> {
    if words(message).len() > MAX_WORDS {
        return Vec::new();
    }
    let mut commands = Vec::new();
    let mut adding = false;
    for sentence in sentences(message) {
        if adding && is_item(language, sentence) {
            commands.push(add(without_bullet(sentence)));
            continue;
        }
        adding = is_add_header(language, sentence);
        if adding {
            continue;
        }
        for clause in clauses(language, sentence) {
            commands.extend(command(language, clause));
        }
        adding = matches!(commands.last(), Some(Command::Add { .. })) && message.contains('\n');
    }
    name_pronouns(language, &mut commands);
    let is_talk = |command: &Command| matches!(command, Command::Talk(_));
    let is_wish = |command: &Command| !is_talk(command) && !matches!(command, Command::Unclear(_));
    // "Can we add something? Return the parcel.": the second sentence is the title for the first.
    if commands.iter().any(|command| matches!(command, Command::Add { .. })) {
        commands.retain(|command| *command != Command::AddWhat);
    }
    if commands.iter().any(is_wish) {
        commands.retain(is_wish);
    } else if commands.iter().any(|command| !is_talk(command)) {
        commands.retain(|command| !is_talk(command));
    }
    commands
}

/// "The flights are booked, mark that as done": "that" refers to the task before it.
fn name_pronouns(language: &Language, commands: &mut [Command]) {
    let mut named: Option<String> = None;
    for command in commands {
        let Some(which) = command.which() else { continue };
        if !language.words.is("pronoun", &folded(which).join(" ")) {
            named = Some(which.to_owned());
        } else if let Some(same) = named.as_ref().and_then(|named| command.aimed_at(named)) {
            *command = same;
        }
    }
}

/// Whether a line is "Add these:", which introduces lines of items.
fn is_add_header(language: &Language, sentence: &str) -> bool {
    let with_item = format!("{} thing", sentence.trim_end_matches([':', ' ']));
    let heard = language.task(&with_item);
    let ends_like_one = sentence.trim_end().ends_with(':') || words(language.bare(sentence)).len() == 1;
    ends_like_one && heard.is_some_and(|heard| heard.meaning == TaskVerb::Add && heard.x == "thing")
}

/// A line after "add": a task, unless it is another command.
fn is_item(language: &Language, sentence: &str) -> bool {
    let is_bullet = without_bullet(sentence) != sentence;
    is_bullet || (language.talk(sentence).is_none() && language.task(sentence).is_none())
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(['-', '*', '•', '–', '☐', '▪']);
    let unnumbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = unnumbered.strip_prefix(['.', ')']).filter(|_| unnumbered.len() < line.len());
    trimmed(numbered.unwrap_or(rest).trim_start_matches("[ ]"))
}

/// Splits a sentence before a command verb that follows "and", "then" or a comma.
fn clauses<'t>(language: &Language, sentence: &'t str) -> Vec<&'t str> {
    let words = words(sentence);
    let mut clauses = Vec::new();
    let mut from = 0;
    for at in 1..words.len() {
        let before = &words[at - 1];
        let is_joint = is_and(&before.folded) || sentence[before.start..before.end].ends_with(',');
        let commands = || language.words.is("command", &words[at].folded);
        let needs = || {
            let heard =
                matches!(words[at].folded.as_str(), "i" | "we").then(|| language.task(&sentence[words[at].start..]));
            heard.flatten().is_some_and(|heard| heard.meaning == TaskVerb::Add)
        };
        if is_joint && at > from + 1 && (commands() || needs()) {
            let end = if is_and(&before.folded) { before.start } else { before.end };
            clauses.push(sentence[words[from].start..end].trim_end_matches([',', ' ']));
            from = at;
        }
    }
    if let Some(first) = words.get(from) {
        clauses.push(&sentence[first.start..]);
    }
    clauses
}

fn command(language: &Language, clause: &str) -> Vec<Command> {
    let talk = language.talk(clause).map(|heard| heard.meaning);
    if let Some(talk) = talk.filter(|talk| *talk != Talk::Errand) {
        return vec![Command::Talk(talk)];
    }
    if let Some(command) = with_colon(language, clause) {
        return vec![command];
    }
    let bare = language.bare(clause);
    if let Some(heard) = language.task(clause).filter(|heard| !asks_about(language, clause, heard)) {
        return from_verb(language, heard, clause);
    }
    if let Some(filter) = question(language, clause) {
        return vec![Command::List(filter)];
    }
    if let Some(which) = past(language, bare) {
        return vec![Command::Complete { which: which.to_owned(), sentence: bare.to_owned() }];
    }
    let starts_with_verb = words(bare).first().is_some_and(|word| language.words.is("verb", &word.folded));
    if starts_with_verb && !language.is_question(clause) {
        return items(language, bare);
    }
    vec![Command::Unclear(bare.to_owned())]
}

/// Recognises questions: "what's already been completed?" has the form of "milk has been completed", and "what do I need
/// to do" has the form of "tomorrow I need to go".
fn asks_about(language: &Language, clause: &str, heard: &Heard<TaskVerb>) -> bool {
    let starts_asking =
        |text: &str| words(text).first().is_some_and(|word| language.words.is("question", &word.folded));
    match heard.meaning {
        TaskVerb::Complete => starts_asking(&heard.x),
        TaskVerb::Add => starts_asking(&heard.y) || (!heard.y.is_empty() && language.is_question(clause)),
        _ => false,
    }
}

/// The list for a question without a pattern. Reading a list is harmless.
fn question(language: &Language, clause: &str) -> Option<Filter> {
    if !language.is_question(clause) && !language.is_question(language.bare(clause)) {
        return None;
    }
    let words = words(clause);
    let mentions = |set: &str| words.iter().any(|word| language.words.is(set, &word.folded));
    if mentions("about-open") {
        return Some(Filter::Pending);
    }
    if mentions("about-done") {
        return Some(Filter::Completed);
    }
    mentions("about-list").then_some(Filter::All)
}

fn from_verb(language: &Language, heard: Heard<TaskVerb>, clause: &str) -> Vec<Command> {
    let (x, y) = (trimmed(&heard.x).to_owned(), trimmed(&heard.y).to_owned());
    let command = match heard.meaning {
        TaskVerb::Add => return added(language, &heard.x, &y),
        TaskVerb::ListAll => Command::List(Filter::All),
        TaskVerb::ListPending => Command::List(Filter::Pending),
        TaskVerb::ListCompleted => Command::List(Filter::Completed),
        TaskVerb::Find => Command::Find(x),
        TaskVerb::Complete => Command::Complete { which: x, sentence: language.bare(clause).to_owned() },
        TaskVerb::CompleteAll => Command::CompleteAll,
        TaskVerb::Delete => Command::Delete(x),
        TaskVerb::DeleteAll => Command::DeleteAll,
        TaskVerb::DeleteCompleted => Command::DeleteCompleted,
        TaskVerb::Rename => Command::Rename { which: x, title: y },
        TaskVerb::RenameIt => Command::Rename { which: "it".into(), title: y },
        TaskVerb::RenameWhat | TaskVerb::DescribeColon => Command::Change(x),
        TaskVerb::Describe => Command::Describe { which: x, description: y },
        TaskVerb::Uncomplete => Command::Uncomplete,
        TaskVerb::Undo => Command::Undo,
        TaskVerb::Keep => Command::Keep,
        TaskVerb::How => Command::How,
        TaskVerb::Due => Command::Due,
    };
    vec![command]
}

/// "rename 2: buy oat milk", "add a note to rent: new account".
fn with_colon(language: &Language, clause: &str) -> Option<Command> {
    let (left, right) = clause.split_once(':')?;
    let (heard, right) = (language.task(left)?, trimmed(right).to_owned());
    match heard.meaning {
        _ if right.is_empty() => None,
        TaskVerb::RenameWhat => Some(Command::Rename { which: trimmed(&heard.x).to_owned(), title: right }),
        TaskVerb::DescribeColon => Some(Command::Describe { which: trimmed(&heard.x).to_owned(), description: right }),
        _ => None,
    }
}

/// "tomorrow I have to …": the time is part of the task. A longer text before it is not.
fn added(language: &Language, x: &str, when: &str) -> Vec<Command> {
    const LONGEST_TIME: usize = 3;
    let mut commands = items(language, x);
    if let [Command::Add { title, .. }] = commands.as_mut_slice()
        && !when.is_empty()
        && words(when).len() <= LONGEST_TIME
    {
        *title = format!("{title} {when}");
    }
    commands
}

/// "I bought the milk", "paid rent", "filters ordered": a statement that something is done.
fn past<'t>(language: &Language, bare: &'t str) -> Option<&'t str> {
    let words = words(bare);
    let is_lead = |word: &&Word| {
        matches!(
            word.folded.as_str(),
            "i" | "ive" | "have" | "just" | "already" | "finally" | "we" | "weve" | "now" | "also"
        )
    };
    let n_leads = words.iter().take_while(is_lead).count();
    let rest = &words[n_leads..];
    let is_past = |word: Option<&Word>| word.is_some_and(|word| language.words.is_past(&word.folded));
    let is_past = (is_past(rest.first()) || is_past(rest.last())) && rest.len() > 1;
    (is_past && !language.is_question(bare)).then(|| cut(bare, rest))
}
