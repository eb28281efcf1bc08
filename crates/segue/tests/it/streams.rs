//! The stream of a turn over HTTP: headers, `id:` lines, resuming, and its expiry after an hour.

use engine::script::{calls, says};
use reqwest::{Method, header};
use serde_json::json;

use crate::support::{Stream, TestApp, World};

#[tokio::test]
async fn a_stream_has_the_headers_that_proxies_and_browsers_need() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let response = app.post("/api/chat/stream", json!({"message": "hello", "agent": "tasks"})).await;
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((response.status().as_u16(), header("content-type").as_str()), (200, "text/event-stream"));
    assert_eq!((header("cache-control").as_str(), header("x-accel-buffering").as_str()), ("no-cache", "no"));
    assert!(!response.headers().contains_key(header::CONTENT_ENCODING), "a compressor would delay events");
    let text = response.text().await.unwrap();
    assert!(text.starts_with("data: {\"type\":\"message_start\"") && text.ends_with("}\n\n"), "{text}");
    assert!(!text.contains("\nid:"), "only the endpoint for resuming sends ids");
}

#[tokio::test]
async fn an_empty_result_has_no_output() {
    let replies =
        [calls("list_tasks", json!({})), says("None."), calls("add_task", json!({"title": "x"})), says("Ok.")];
    let app = TestApp::scripted(replies).await;
    let ends = |frames: Vec<serde_json::Value>| {
        frames.into_iter().find(|frame| frame["type"] == "tool_call_end").expect("the call ends")
    };
    let nothing = ends(app.say("list").await);
    assert_eq!((&nothing["resultCount"], nothing.get("output")), (&json!(0), None));
    let something = ends(app.say("add").await);
    assert_eq!((&something["resultCount"], &something["output"]["title"]), (&json!(1), &json!("x")));
    assert!(something["durationMs"].is_u64());
}

#[tokio::test]
async fn a_client_resumes_after_its_last_event_id() {
    let app = TestApp::scripted([says("One two three four.")]).await;
    let frames = app.say("count").await;
    let path = format!("/api/turns/{}/stream", frames[0]["turnId"].as_str().unwrap());
    let follow = async |path: &str, last_event: Option<&str>| {
        let mut request = reqwest::Client::new().get(format!("{}{path}", app.url));
        if let Some(id) = last_event {
            request = request.header("last-event-id", id);
        }
        request.send().await.unwrap()
    };
    let text = follow(&path, Some("2")).await.text().await.unwrap();
    assert!(text.starts_with("id: 3\ndata: {"), "{text}");
    let rest = Stream::new(follow(&path, Some("2")).await).rest().await;
    assert_eq!(rest, frames[2..]);
    assert_eq!(Stream::new(follow(&format!("{path}?after=3"), Some("1")).await).rest().await, frames[3..]);
    assert_eq!(
        Stream::new(follow(&path, Some("none")).await).rest().await,
        frames,
        "an id that is not a number is ignored"
    );
}

#[tokio::test]
async fn a_turn_can_be_followed_for_an_hour_after_its_end() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let frames = app.say("hello").await;
    let path = format!("/api/turns/{}/stream", frames[0]["turnId"].as_str().unwrap());
    for (minutes, status) in [(59, 200), (61, 410)] {
        set_end_minutes_ago(&app.world, minutes).await;
        let (got, body) = app.answer(Method::GET, &path, None).await;
        assert_eq!(got, status, "{body}");
        assert!(status == 200 || body["error"]["code"] == "GONE", "{body}");
    }
    let conversation = frames[0]["conversationId"].as_str().unwrap();
    let kept = app.get(&format!("/api/conversations/{conversation}")).await;
    assert_eq!(kept["messages"][1]["content"][0]["text"], "Hi.", "the conversation is the record");
}

async fn set_end_minutes_ago(world: &World, minutes: i64) {
    let at = chrono::Utc::now() - chrono::TimeDelta::minutes(minutes);
    world.execute(&format!("UPDATE turns SET ended_at = '{}'", at.to_rfc3339())).await;
}
