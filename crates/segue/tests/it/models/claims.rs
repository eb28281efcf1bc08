//! If an answer claims a change that no tool made, Segue asks the model once and then marks the answer.

use engine::script::{calls, says};
use serde_json::{Value, json};

use crate::support::TestApp;

fn words(frames: &[Value]) -> String {
    frames.iter().filter(|frame| frame["type"] == "text_delta").filter_map(|frame| frame["content"].as_str()).collect()
}

#[tokio::test]
async fn an_unconfirmed_claim_is_checked_and_a_change_that_follows_is_not_marked() {
    let app =
        TestApp::scripted([says("Added milk."), calls("add_task", json!({"title": "milk"})), says("Added milk.")])
            .await;
    let frames = app.say("add milk").await;
    assert!(frames.last().unwrap().get("notices").is_none(), "{frames:?}");
    assert_eq!(app.get("/api/tasks").await["tasks"][0]["title"], "milk");
    let question =
        app.model.asked()[1].messages.iter().rev().find(|message| message.role == engine::Role::User).unwrap().text();
    assert!(question.starts_with("[A check by Segue, not by the user]"), "{question}");
    let stored = app.get(&format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap())).await;
    assert!(!stored.to_string().contains("A check by Segue"), "the check is not stored in the conversation");
}

#[tokio::test]
async fn a_repeated_claim_is_marked_in_the_stream_and_in_the_stored_answer() {
    let app = TestApp::scripted([says("Done."), says("I have added milk."), says("never asked")]).await;
    let frames = app.say("add milk").await;
    let end = frames.last().unwrap();
    assert_eq!(end["notices"][0]["code"], "UNCONFIRMED_CLAIM", "{end}");
    let message = end["notices"][0]["message"].as_str().unwrap();
    assert!(words(&frames).ends_with(message), "every protocol shows it: {}", words(&frames));
    assert_eq!(app.model.asked().len(), 2, "the model is asked once");
    let stored = app.get(&format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap())).await;
    assert!(stored.to_string().contains(message));
}

#[tokio::test]
async fn a_track_that_no_tool_returned_is_checked_and_an_answer_without_claims_is_not() {
    let invented = "You could try \"Run to the Park\" by Taylor Swift.";
    let app = TestApp::scripted([says(invented), says("Nothing in your collection fits.")]).await;
    let frames = app.chat(json!({"message": "running music"})).await;
    assert_eq!((app.model.asked().len(), frames.last().unwrap().get("notices")), (2, None));
    app.model.play([says(invented), says(invented)]);
    let frames = app.chat(json!({"message": "running music"})).await;
    assert!(frames.last().unwrap()["notices"][0]["message"].to_string().contains("Run to the Park"), "{frames:?}");
    app.model.play([says("Which mood do you mean?")]);
    let n_before = app.model.asked().len();
    app.chat(json!({"message": "running music"})).await;
    assert_eq!(app.model.asked().len(), n_before + 1, "an answer without claims causes no check");
}
