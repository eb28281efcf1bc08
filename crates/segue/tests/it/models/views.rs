//! What a model reads: only tools that can work, short results and short handles. Programs read complete results.

use engine::script::{calls, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World};

#[tokio::test]
async fn tools_that_cannot_work_are_not_offered_to_a_model() {
    let app = TestApp::scripted([says("Hello.")]).await;
    app.chat(json!({"message": "hello"})).await;
    let prompt = app.model.asked().remove(0);
    let offered: Vec<_> = prompt.tools.iter().map(|tool| tool.name).collect();
    assert_eq!(offered, ["batchMetadata", "edit_playlist", "list_playlists", "semanticSearch", "suggestPlaylist"]);
    assert!(!prompt.system.contains("tidal") && prompt.system.contains("import"), "{}", prompt.system);
    let all = app.get("/api/tools").await.to_string();
    assert!(all.contains("tidalSearch") && all.contains("albumTracks"));
    let search = json!({"query": "x", "searchType": "tracks"});
    let (_, refused) = app.answer(Method::POST, "/api/tools/tidalSearch", Some(search)).await;
    assert!(refused["error"]["message"].as_str().unwrap_or_default().contains("not configured"), "{refused}");
    let filled =
        TestApp::start(World::new().await, [says("Hello.")], &[("TIDAL_CLIENT_ID", "a"), ("TIDAL_CLIENT_SECRET", "b")])
            .await;
    app::sample::load(filled.app.library(), &engine::UserId::new("local")).await.unwrap();
    filled.app.catch_up().await.unwrap();
    filled.chat(json!({"message": "hello"})).await;
    assert!(!filled.model.asked()[0].system.contains("Nothing is indexed"), "no hint where there are tracks");
    assert!(
        filled.model.asked()[0].tools.iter().any(|tool| tool.name == "tidalSearch"),
        "a configured catalogue is offered"
    );
}

/// The text of the last result in the newest prompt.
fn result(app: &TestApp) -> String {
    let prompt = app.model.asked().pop().unwrap();
    let blocks = prompt.messages.iter().rev().flat_map(|message| message.content.iter().rev());
    let mut results = blocks.filter_map(|block| match block {
        engine::Block::ToolResult { content, .. } => content.as_str().map(str::to_owned),
        _ => None,
    });
    results.next().unwrap_or_default()
}

#[tokio::test]
async fn a_model_reads_short_handles_and_its_calls_are_mapped_back() {
    let app = TestApp::scripted([calls("list_tasks", json!({})), says("One task.")]).await;
    let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "buy milk"}))).await;
    let id = task["id"].as_str().unwrap().to_owned();
    let first = app.say("list").await;
    let read = result(&app);
    assert!(!read.contains(&id) && !read.contains("createdAt") && !read.contains("durationMs"), "{read}");
    let list: Value = serde_json::from_str(read.split_once('\n').unwrap().1).unwrap();
    let handle = list["tasks"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(list, json!({"tasks": [{"id": handle, "title": "buy milk"}]}));
    let streamed = first.iter().find(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(streamed["output"]["tasks"][0]["id"], id, "programs read the id");

    app.model.play([
        calls("complete_task", json!({"task_id": "1"})),
        calls("complete_task", json!({"task_id": handle})),
        says("Done."),
    ]);
    let frames = app.say("complete it").await;
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").unwrap()["error"].to_string();
    assert!(
        error.contains("There is no such task") && error.contains(&handle) && error.contains("buy milk"),
        "{error}"
    );
    let done = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!((&done["output"]["id"], &done["output"]["completed"]), (&json!(id), &json!(true)));

    let (status, refused) =
        app.answer(Method::POST, "/api/tools/complete_task", Some(json!({"task_id": handle}))).await;
    let said = "There is no such task. Call list_tasks to see the tasks and their ids.";
    assert_eq!((status, &refused["error"]["message"]), (404, &json!(said)), "programs must use the complete id");
}

/// Characters per token, measured with a Qwen2.5 tokenizer on the texts of the first version: instructions 188 and 359
/// tokens, tools 698 and 1,015, the template around them 90, results of a search 1,743.
const OF_INSTRUCTIONS: f64 = 4.4;
const OF_TOOLS: f64 = 3.36;
const TEMPLATE: f64 = 90.0;
const OF_RESULTS: f64 = 3.2;

#[tokio::test]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates")]
async fn prompts_and_results_stay_within_their_token_aims() {
    let tidal = [("TIDAL_CLIENT_ID", "a"), ("TIDAL_CLIENT_SECRET", "b")];
    let search = || calls("semanticSearch", json!({"query": "rainy night"}));
    let app = TestApp::start(World::new().await, [search(), says("Here."), says("Hello.")], &tidal).await;
    app::sample::load(app.app.library(), &engine::UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    app.chat(json!({"message": "x"})).await;
    let found = (result(&app).chars().count() as f64 / OF_RESULTS) as usize;
    app.say("x").await;
    let asked = app.model.asked();
    let spelled =
        |tool: &engine::ToolSpec| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len() + 60;
    let whole = |at: usize| {
        let names: Vec<_> = asked[at].tools.iter().map(|tool| tool.name).collect();
        let specs = app.app.toolbox.specs();
        specs.iter().filter(|spec| names.contains(&spec.name)).map(spelled).sum::<usize>()
    };
    println!("characters of the tools as programs read them: Discover {}, Tasks {}", whole(0), whole(2));
    let base = |at: usize| {
        let tools: usize = asked[at].tools.iter().map(spelled).sum();
        (asked[at].system.len() as f64 / OF_INSTRUCTIONS + tools as f64 / OF_TOOLS + TEMPLATE) as usize
    };
    let (discover, tasks) = (base(0), base(2));
    println!("tokens (estimated): Tasks base {tasks}, Discover base {discover}, default search {found}");
    assert!(tasks <= 700 && discover <= 1_500 && found <= 1_000, "{tasks} {discover} {found}");
}
