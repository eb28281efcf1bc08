//! The time limits of the contract, with healthy services.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use engine::{
    Delta, Model, ModelError, Prompt, Usage, UserId,
    script::{calls, says},
};
use futures::{StreamExt, stream::BoxStream};
use reqwest::Method;
use serde_json::json;

use crate::support::{TestApp, World};

#[tokio::test]
async fn a_hundred_codes_are_looked_up_within_two_seconds() {
    let app = TestApp::scripted([]).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    let codes: Vec<_> = (1..=100).map(|n| format!("XSGUE26{n:05}")).collect();
    let began = Instant::now();
    let (status, found) = app.answer(Method::POST, "/api/tools/batchMetadata", Some(json!({"isrcs": codes}))).await;
    let took = began.elapsed();
    assert_eq!((status, found["found"].as_array().unwrap().len()), (200, 100));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[tokio::test]
async fn a_task_is_created_by_chat_within_ten_seconds() {
    let app = TestApp::scripted([calls("add_task", json!({"title": "strings"})), says("Added.")]).await;
    let began = Instant::now();
    app.say("add strings").await;
    let took = began.elapsed();
    assert_eq!(app.get("/api/tasks").await["tasks"][0]["title"], "strings");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// A model that sends one word at a time and records when it sent each.
struct Ticking(Arc<Mutex<Vec<Instant>>>);

const N_WORDS: usize = 41;

impl Model for Ticking {
    fn id(&self) -> &str {
        "test:ticking"
    }

    fn reply(&self, _: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        let said = self.0.clone();
        async_stream::stream! {
            for n in 0..N_WORDS {
                tokio::time::sleep(Duration::from_millis(30)).await;
                said.lock().unwrap().push(Instant::now());
                yield Ok(Delta::Text(format!("{n} ")));
            }
            yield Ok(Delta::End { usage: Usage::default() });
        }
        .boxed()
    }
}

#[tokio::test]
async fn an_event_leaves_within_fifty_milliseconds() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let world = World::new().await;
    let settings = world.settings();
    let config = app::config::Config::from_lookup(|name| settings.get(name).cloned()).unwrap();
    let app = TestApp::answered_by(world, Arc::new(Ticking(said.clone())), config).await;
    let mut stream = app.open_chat(json!({"message": "count", "agent": "tasks"})).await;
    let mut heard = Vec::new();
    while let Some(frame) = stream.next().await {
        if frame["type"] == "text_delta" {
            heard.push(Instant::now());
        }
    }
    let said = said.lock().unwrap().clone();
    assert_eq!((said.len(), heard.len()), (N_WORDS, N_WORDS), "each word is a separate event");
    let mut delays: Vec<_> = said.iter().zip(&heard).map(|(said, heard)| *heard - *said).collect();
    delays.sort();
    // The median is compared, because a busy machine may delay a single event.
    assert!(delays[N_WORDS / 2] <= Duration::from_millis(50), "{delays:?}");
}
