//! The offline model understands typical messages, and never deletes the wrong task.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "offline/expect.rs"]
mod expect;
#[path = "offline/fakes.rs"]
mod fakes;
#[path = "offline/world.rs"]
mod world;

use engine::{Block, End, Limits, StopReason};
use offline::OfflineModel;
use proptest::prelude::*;

use crate::{
    expect::{Report, cases},
    world::{Agent, Tidal, World},
};

#[tokio::test(start_paused = true)]
async fn typical_messages_are_understood() {
    let report = report(include_str!("offline/utterances.txt")).await;
    assert!(report.n >= 220, "only {} utterances", report.n);
    assert_eq!(report.wrong_deletions, Vec::<String>::new());
    assert_eq!(report.misses(), Vec::<String>::new().as_slice());
}

/// These messages were written after the rules. The first run understood 90.7 %; the failures have been fixed since then.
#[tokio::test(start_paused = true)]
async fn messages_that_were_written_after_the_rules_are_understood() {
    let report = report(include_str!("offline/held_out.txt")).await;
    assert!(report.n >= 60, "only {} utterances", report.n);
    assert_eq!(report.wrong_deletions, Vec::<String>::new());
    assert_eq!(report.misses(), Vec::<String>::new().as_slice());
}

async fn report(data: &str) -> Report {
    let model = OfflineModel;
    let mut report = Report::default();
    for case in cases(data) {
        let mut world = World::new(&model, case.agent, case.tidal, &case.tasks);
        for earlier in &case.before {
            world.say(earlier).await;
        }
        let answered = world.say(case.message).await;
        report.note(&case, &answered, &world.music);
    }
    eprintln!("{report}");
    report
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_text_before_and_after_its_tool_calls() {
    let table = [
        (Agent::Tasks, "complete buy milk"),
        (Agent::Tasks, "add bread"),
        (Agent::Tasks, "what's left?"),
        (Agent::Discover, "songs about rain"),
        (Agent::Discover, "what's on Homogenic?"),
        (Agent::Discover, "make a playlist for a road trip"),
    ];
    for (agent, message) in table {
        let mut world = World::new(&OfflineModel, agent, Tidal::On, &["buy milk"]);
        let content = world.say(message).await.finished.content;
        assert!(matches!(content.first(), Some(Block::Text { .. })), "{message}: {content:?}");
        assert!(matches!(content.last(), Some(Block::Text { .. })), "{message}: {content:?}");
        assert!(content.iter().any(|block| matches!(block, Block::ToolUse { .. })), "{message}: {content:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_steps_left_the_answer_says_so_and_nothing_is_changed() {
    let mut world = World::new(&OfflineModel, Agent::Tasks, Tidal::On, &["buy milk"]);
    world.limits = Limits { max_steps: 1, ..Limits::default() };
    let answered = world.say("complete buy milk").await;
    assert_eq!(answered.finished.end, End::Answered(StopReason::MaxSteps));
    assert!(answered.text.contains("stop"), "{}", answered.text);
    assert!(!world.tasks()[0].completed);
}

#[tokio::test(start_paused = true)]
async fn yes_deletes_only_what_was_listed_with_the_question() {
    let mut world = World::new(&OfflineModel, Agent::Tasks, Tidal::On, &["buy milk", "call mum"]);
    world.say("delete everything").await;
    world.add_behind_its_back("book flights");
    world.say("yes").await;
    let left: Vec<_> = world.tasks().into_iter().map(|task| task.title).collect();
    assert_eq!(left, ["book flights"]);
}

#[tokio::test(start_paused = true)]
async fn only_tracks_that_a_tool_returned_are_named() {
    let mut world = World::new(&OfflineModel, Agent::Discover, Tidal::Off, &[]);
    let answered = world.say("songs about quantum chromodynamics by Miles Davis").await;
    let bold: Vec<_> = answered.text.split("**").skip(1).step_by(2).collect();
    let known = world.music["index"].to_string();
    assert!(bold.iter().all(|title| known.contains(title)), "{}", answered.text);
}

/// The use cases of seed 003.
#[tokio::test(start_paused = true)]
async fn songs_are_compared_by_reference_and_by_title() {
    let compared = async |before: &[&str], message: &str| {
        let mut world = World::new(&OfflineModel, Agent::Discover, Tidal::Off, &[]);
        for earlier in before {
            world.say(earlier).await;
        }
        let answered = world.say(message).await;
        assert_eq!(answered.calls.last().map(|(name, _)| name.as_str()), Some("batchMetadata"), "{message}");
        assert!(answered.text.contains("has more energy"), "{message}: {}", answered.text);
        let titles = ["Rain on Tin", "Wet Pavement", "Umbrella Weather"];
        let told = titles.into_iter().filter(|title| answered.text.contains(&format!("**{title}**")));
        told.collect::<Vec<_>>()
    };
    let found = ["songs about rain"];
    let these = "Compare the energy levels of these songs I mentioned";
    assert_eq!(compared(&found, these).await, ["Rain on Tin", "Wet Pavement", "Umbrella Weather"]);
    let named = ["hello, I don't mind 'Rain on Tin' and 'Umbrella Weather'."];
    assert_eq!(compared(&named, these).await, ["Rain on Tin", "Umbrella Weather"]);
    let mood = "How does the mood of 'Wet Pavement' compare to 'Umbrella Weather'?";
    assert_eq!(compared(&[], mood).await, ["Wet Pavement", "Umbrella Weather"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_text_is_answered_with_a_question() {
    let mut world = World::new(&OfflineModel, Agent::Tasks, Tidal::On, &["buy milk"]);
    for message in ["delete buy milk ".repeat(5_000), "x".repeat(200_000), "a-".repeat(100_000)] {
        let answered = world.say(&message).await;
        assert!(answered.text.contains('?') && world.tasks().len() == 1, "{}", answered.text);
    }
}

/// What an answer about one track proposes can be said, in every language.
#[tokio::test(start_paused = true)]
async fn the_hints_below_one_track_are_understood() {
    let mut world = World::new(&OfflineModel, Agent::Discover, Tidal::Off, &[]);
    let answered = world.say("one song about rain").await;
    assert!(answered.text.ends_with("Say “more like this” or “tell me about it”."), "{}", answered.text);
    let hints = [
        ("one song about rain", ["more like this", "tell me about it"]),
        ("Lieder über Regen", ["mehr wie das erste", "erzähl mir mehr über das erste"]),
        ("des chansons sur la pluie", ["plus comme la première", "parle-moi de la première"]),
        ("canciones sobre la lluvia", ["más como la primera", "háblame de la primera"]),
    ];
    for (message, hints) in hints {
        for hint in hints {
            let mut world = World::new(&OfflineModel, Agent::Discover, Tidal::Off, &[]);
            world.say(message).await;
            let followed = world.say(hint).await;
            assert!(!followed.calls.is_empty(), "{hint}: {}", followed.text);
        }
    }
}

const TASKS: [&str; 5] = ["buy milk", "call mum", "[x] pay rent", "Fenster putzen", "book flights to Lisbon"];

/// Sentences of words from commands, in any order, with other words between them.
fn jumble() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec![
            "delete", "remove", "lösche", "supprime", "borra", "get rid of", "clear", "complete", "done", "add", "rename",
            "to", "and", "then", "not", "don't", "all", "everything", "except", "the", "it", "them", "one", "second",
            "last", "2", "#3", "1-3", "first two", "milk", "mum", "rent", "flights", "buy", "call", "please", "can you",
            "yes", "no", "?", ",", ".", "\n", "\"", "-", "task", "tasks", "list", "what's", "if", "songs", "about", "more like",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

/// Found by the property test below. The second message repeats the question without reading the list again.
#[tokio::test(start_paused = true)]
async fn a_pronoun_after_a_repeated_question_deletes_nothing() {
    let mut world = World::new(&OfflineModel, Agent::Tasks, Tidal::On, &TASKS);
    for message in ["delete delete", "", "them"] {
        world.say(message).await;
    }
    assert_eq!(world.tasks().len(), TASKS.len());
}

/// Whether a message refers to the task: by a word of its title, or by its position.
fn points_at(message: &str, title: &str) -> bool {
    let (message, title) = (message.to_lowercase(), title.to_lowercase());
    let said: Vec<_> = message.split(|letter: char| !letter.is_alphanumeric()).collect();
    let is_place =
        |word: &&str| matches!(*word, "one" | "second" | "last" | "first") || word.chars().any(char::is_numeric);
    said.iter().any(is_place) || title.split(' ').any(|word| said.contains(&word))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_typed_nothing_panics_and_nothing_is_deleted_that_was_not_named(
        messages in prop::collection::vec(jumble(), 1..4),
    ) {
        let mut world = World::new(&OfflineModel, Agent::Tasks, Tidal::On, &TASKS);
        let mut said = String::new();
        for message in &messages {
            said = format!("{said} {message}");
            let before = world.tasks();
            let answered = in_runtime(world.say(message));
            prop_assert!(matches!(answered.finished.end, End::Answered(_)));
            prop_assert!(!answered.text.trim().is_empty());
            let after = world.tasks();
            let is_gone = |id: &String| !after.iter().any(|task| task.id == *id);
            for task in before.into_iter().filter(|task| is_gone(&task.id)) {
                // "Yes" to "delete everything" refers to all tasks.
                let all = ["all", "everything", "clear", "list"].iter().any(|all| said.contains(all)) && said.contains("yes");
                prop_assert!(all || points_at(&said, &task.title), "{:?} deleted {}", messages, task.title);
            }
        }
    }

    #[test]
    fn whatever_is_typed_discover_answers(
        messages in prop::collection::vec(jumble(), 1..3), tidal in prop::sample::select(vec![Tidal::On, Tidal::Off]),
    ) {
        let mut world = World::new(&OfflineModel, Agent::Discover, tidal, &[]);
        for message in &messages {
            let answered = in_runtime(world.say(message));
            prop_assert!(matches!(answered.finished.end, End::Answered(_)));
            prop_assert!(!answered.text.trim().is_empty());
        }
    }
}
