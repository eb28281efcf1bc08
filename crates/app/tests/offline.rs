//! Does the offline model understand what people type, and does it never delete the wrong thing?

#[path = "offline/expect.rs"]
mod expect;
#[path = "offline/world.rs"]
mod world;

use app::models::OfflineModel;
use proptest::prelude::*;

use crate::{
    expect::{Report, cases},
    world::{Agent, Tidal, World},
};

#[tokio::test(start_paused = true)]
async fn people_are_understood() {
    let report = report(include_str!("offline/utterances.txt")).await;
    assert!(report.n >= 220, "only {} utterances", report.n);
    assert_eq!(report.wrong_deletions, Vec::<String>::new());
    assert!(report.accuracy() >= 0.9, "{:.1} % is too little", report.accuracy() * 100.0);
}

/// Written after the rules and never used to write one.
#[tokio::test(start_paused = true)]
async fn people_are_understood_in_words_the_rules_were_not_written_for() {
    let report = report(include_str!("offline/held_out.txt")).await;
    assert!(report.n >= 60, "only {} utterances", report.n);
    assert_eq!(report.wrong_deletions, Vec::<String>::new());
    assert!(report.accuracy() >= 0.75, "{:.1} % is too little", report.accuracy() * 100.0);
}

async fn report(data: &str) -> Report {
    let model = OfflineModel::new();
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
