//! No answer is lost, no effect happens twice, every stream is a prefix of the stored answer, and no user sees another
//! user's turn.

use std::collections::BTreeMap;

/// One request of one client, and its result.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) user: String,
    pub(crate) saw: Saw,
}

#[derive(Clone, Debug)]
pub(crate) enum Saw {
    /// A message with a client message id, and the turn that the server returned.
    Asked { message: String, turn: String },
    /// The events after number `after`, until the connection ended.
    Read { turn: String, after: u64, events: Vec<Event> },
    /// A stop was requested; the server may have received it.
    Stopped { turn: String },
    /// The stored answer at some time during the run.
    Looked { turn: String, status: String, text: String },
    /// The server refused another user's turn.
    Refused { turn: String },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// What is stored after the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    /// The answers, by turn id.
    pub(crate) answers: BTreeMap<String, Answer>,
    /// The titles of tasks, and how often each exists.
    pub(crate) effects: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) user: String,
    pub(crate) status: String,
    pub(crate) text: String,
    /// The complete text of the model if the turn is not stopped.
    pub(crate) whole_text: String,
    /// The title of the task that it adds.
    pub(crate) effect: String,
}

/// The broken promises.
pub(crate) fn broken(history: &[Record], stored: &Stored) -> Vec<String> {
    let mut broken = lost_answers(history, stored);
    broken.extend(wrong_effects(stored));
    broken.extend(wrong_streams(history, stored));
    broken.extend(changed_answers(history, stored));
    broken.extend(turns_of_other_users(history, stored));
    broken
}

/// Checks that every message has exactly one turn, and that every turn has its answer.
fn lost_answers(history: &[Record], stored: &Stored) -> Vec<String> {
    let mut broken = Vec::new();
    let mut turns = BTreeMap::new();
    for record in history {
        let Saw::Asked { message, turn } = &record.saw else { continue };
        let first = turns.entry((&record.user, message)).or_insert(turn);
        if *first != turn {
            broken.push(format!("the message {message} of {} started two turns: {first} and {turn}", record.user));
        }
        if !stored.answers.contains_key(turn) {
            broken.push(format!("the turn {turn} of {} is lost", record.user));
        }
    }
    let is_stopped = |turn: &str| {
        history.iter().any(|record| matches!(&record.saw, Saw::Stopped { turn: stopped } if stopped == turn))
    };
    for (turn, answer) in &stored.answers {
        let is_good = match answer.status.as_str() {
            "complete" => answer.text == answer.whole_text,
            "stopped" => is_stopped(turn) && answer.whole_text.starts_with(&answer.text),
            _ => false,
        };
        if !is_good {
            let (status, text, whole) = (&answer.status, &answer.text, &answer.whole_text);
            broken.push(format!("the turn {turn} is {status} with '{text}' instead of '{whole}'"));
        }
    }
    broken
}

/// Checks that a complete answer had its effect once, and a stopped one at most once.
fn wrong_effects(stored: &Stored) -> Vec<String> {
    let mut broken = Vec::new();
    for (turn, answer) in &stored.answers {
        let n = stored.effects.get(&answer.effect).copied().unwrap_or(0);
        if n > 1 || (n == 0 && answer.status == "complete") {
            broken.push(format!("the turn {turn} had its effect {n} times ('{}')", answer.effect));
        }
    }
    let asked = |title: &String| stored.answers.values().any(|answer| answer.effect == *title);
    broken.extend(
        stored.effects.keys().filter(|title| !asked(title)).map(|title| format!("no turn caused the effect {title}")),
    );
    broken
}

/// Checks that streams are numbered without gaps, agree with each other, and contain the beginning of the stored
/// answer. A stream with an end contains all of it.
fn wrong_streams(history: &[Record], stored: &Stored) -> Vec<String> {
    let mut broken = Vec::new();
    let mut known = BTreeMap::<&str, BTreeMap<u64, &Event>>::new();
    for record in history {
        let Saw::Read { turn, after, events } = &record.saw else { continue };
        let numbers: Vec<_> = events.iter().map(|event| event.seq).collect();
        if numbers != (after + 1..=after + events.len() as u64).collect::<Vec<_>>() {
            broken.push(format!("a stream of {turn} after {after} is numbered {numbers:?}"));
        }
        for event in events {
            let first = known.entry(turn).or_default().entry(event.seq).or_insert(event);
            if *first != event {
                broken.push(format!("two readers of {turn} saw {first:?} and {event:?}"));
            }
        }
    }
    for (turn, events) in known {
        let Some(answer) = stored.answers.get(turn) else { continue };
        let from_start = events.iter().zip(1..).take_while(|((seq, _), n)| **seq == *n).map(|((_, event), _)| event);
        let text: String = from_start.clone().map(|event| event.text.as_str()).collect();
        let is_over = from_start.last().is_some_and(|event| event.kind == "message_end");
        if !answer.text.starts_with(&text) || (is_over && text != answer.text) {
            broken.push(format!("the readers of {turn} saw '{text}' and '{}' is stored", answer.text));
        }
        if events.values().rev().skip(1).any(|event| event.kind == "message_end") {
            broken.push(format!("the turn {turn} continued after its end"));
        }
    }
    broken
}

/// Checks that an answer that was stored as ended does not change.
fn changed_answers(history: &[Record], stored: &Stored) -> Vec<String> {
    let looks = history.iter().filter_map(|record| match &record.saw {
        Saw::Looked { turn, status, text } if status != "running" => Some((turn, status, text)),
        _ => None,
    });
    let is_kept = |turn: &str, status: &str, text: &str| {
        stored.answers.get(turn).is_some_and(|answer| answer.status == status && answer.text == text)
    };
    looks
        .filter(|(turn, status, text)| !is_kept(turn, status, text))
        .map(|(turn, status, text)| format!("the turn {turn} was {status} with '{text}' and has changed"))
        .collect()
}

/// Checks that users see only their own turns, and that no user is refused an own turn.
fn turns_of_other_users(history: &[Record], stored: &Stored) -> Vec<String> {
    let mut broken = Vec::new();
    for record in history {
        let (turn, is_shown) = match &record.saw {
            Saw::Asked { turn, .. } | Saw::Looked { turn, .. } => (turn, true),
            Saw::Read { turn, events, .. } => (turn, !events.is_empty()),
            Saw::Refused { turn } => (turn, false),
            Saw::Stopped { .. } => continue,
        };
        let Some(answer) = stored.answers.get(turn) else { continue };
        if is_shown && answer.user != record.user {
            broken.push(format!("{} saw the turn {turn} of {}", record.user, answer.user));
        }
        if matches!(record.saw, Saw::Refused { .. }) && answer.user == record.user {
            broken.push(format!("{} was refused their own turn {turn}", record.user));
        }
    }
    broken
}
