//! Histories written by hand: a valid one, and one for each broken promise.

use super::{Answer, Event, Record, Saw, Stored, broken};

fn event(seq: u64, kind: &str, text: &str) -> Event {
    Event { seq, kind: kind.into(), text: text.into() }
}

fn record(user: &str, saw: Saw) -> Record {
    Record { user: user.into(), saw }
}

fn asked(user: &str, message: &str, turn: &str) -> Record {
    record(user, Saw::Asked { message: message.into(), turn: turn.into() })
}

fn read(user: &str, turn: &str, after: u64, events: &[Event]) -> Record {
    record(user, Saw::Read { turn: turn.into(), after, events: events.to_vec() })
}

fn looked(user: &str, turn: &str, status: &str, text: &str) -> Record {
    record(user, Saw::Looked { turn: turn.into(), status: status.into(), text: text.into() })
}

fn answer(user: &str, status: &str, text: &str, effect: &str) -> Answer {
    let whole_text = format!("{effect} one two ");
    Answer { user: user.into(), status: status.into(), text: text.into(), whole_text, effect: effect.into() }
}

/// One client reads Ann's turn in two pieces and another reads it from the middle. Bob's turn is stopped.
fn good() -> (Vec<Record>, Stored) {
    let (start, a, b) = (event(1, "message_start", ""), event(2, "text_delta", "A "), event(3, "text_delta", "one "));
    let (c, end) = (event(4, "text_delta", "two "), event(5, "message_end", ""));
    let history = vec![
        asked("ann", "m1", "t1"),
        asked("ann", "m1", "t1"),
        read("ann", "t1", 0, &[start.clone(), a, b.clone()]),
        read("ann", "t1", 3, &[c.clone(), end.clone()]),
        read("ann", "t1", 2, &[b, c]),
        looked("ann", "t1", "running", "A "),
        looked("ann", "t1", "complete", "A one two "),
        asked("bob", "m1", "t2"),
        read("bob", "t2", 0, &[start, event(2, "text_delta", "B "), event(3, "message_end", "")]),
        record("bob", Saw::Stopped { turn: "t2".into() }),
        record("bob", Saw::Refused { turn: "t1".into() }),
    ];
    let answers = [
        ("t1".to_owned(), answer("ann", "complete", "A one two ", "A")),
        ("t2".to_owned(), answer("bob", "stopped", "B ", "B")),
    ];
    let stored = Stored { answers: answers.into(), effects: [("A".to_owned(), 1)].into() };
    (history, stored)
}

#[test]
fn a_valid_history_has_no_broken_promise() {
    let (history, stored) = good();
    assert_eq!(broken(&history, &stored), Vec::<String>::new());
}

#[test]
fn each_broken_promise_is_found() {
    type Spoil = fn(&mut Vec<Record>, &mut Stored);
    let cases: &[(&str, Spoil)] = &[
        ("of ann is lost", |_, stored| drop(stored.answers.remove("t1"))),
        ("started two turns", |history, _| history.push(asked("ann", "m1", "t2"))),
        ("is error with", |_, stored| stored.answers.get_mut("t1").unwrap().status = "error".into()),
        ("is stopped with", |_, stored| stored.answers.get_mut("t1").unwrap().status = "stopped".into()),
        ("is complete with", |_, stored| stored.answers.get_mut("t1").unwrap().text = "A one ".into()),
        ("had its effect 2 times", |_, stored| {
            stored.effects.insert("A".into(), 2);
        }),
        ("had its effect 0 times", |_, stored| {
            stored.effects.remove("A");
        }),
        ("no turn caused the effect C", |_, stored| {
            stored.effects.insert("C".into(), 1);
        }),
        ("is numbered [3, 5]", |history, _| {
            let events = [event(3, "text_delta", "one "), event(5, "message_end", "")];
            history.push(read("ann", "t1", 2, &events));
        }),
        ("is numbered [2, 3]", |history, _| {
            let events = [event(2, "text_delta", "A "), event(3, "text_delta", "one ")];
            history.push(read("ann", "t1", 2, &events));
        }),
        ("two readers of t1 saw", |history, _| history.push(read("ann", "t1", 2, &[event(3, "text_delta", "other ")]))),
        ("and 'A one two ' is stored", |history, _| {
            history.retain(|record| !matches!(record.saw, Saw::Read { .. }));
            let events = [event(1, "message_start", ""), event(2, "text_delta", "A two ")];
            history.push(read("ann", "t1", 0, &events));
        }),
        ("and 'A one two ' is stored", |history, _| {
            history.retain(|record| !matches!(record.saw, Saw::Read { .. }));
            history.push(read("ann", "t1", 0, &[event(1, "text_delta", "A "), event(2, "message_end", "")]));
        }),
        ("continued after its end", |history, _| {
            history.push(read("ann", "t1", 5, &[event(6, "text_delta", "more ")]));
        }),
        ("and has changed", |history, _| history.push(looked("ann", "t1", "complete", "A one "))),
        ("bob saw the turn t1 of ann", |history, _| history.push(looked("bob", "t1", "running", "A "))),
        ("bob saw the turn t1 of ann", |history, _| {
            history.push(read("bob", "t1", 2, &[event(3, "text_delta", "one ")]));
        }),
        ("ann was refused their own turn t1", |history, _| {
            history.push(record("ann", Saw::Refused { turn: "t1".into() }));
        }),
    ];
    for (complaint, spoil) in cases {
        let (mut history, mut stored) = good();
        spoil(&mut history, &mut stored);
        let found = broken(&history, &stored);
        assert!(found.iter().any(|why| why.contains(complaint)), "'{complaint}' is not in {found:?}");
    }
}
