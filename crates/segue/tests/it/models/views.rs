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
    let offered: Vec<_> = prompt.tools.iter().map(|tool| &*tool.name).collect();
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
    filled.app.library().load_sample(&app::Operator::of_this_machine(), &engine::UserId::new("local")).await.unwrap();
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

/// What the template of Qwen2.5 adds to instructions and tools.
const TEMPLATE: usize = 90;

/// Words, humps of camelCase, digits and runs of punctuation: within 5 % of what cl100k_base counts for the prompts of both
/// agents. It counted the same as the tokenizer of Qwen2.5 for the instructions of the first version.
fn n_tokens(text: &str) -> usize {
    let kind = |c: char| match c {
        c if c.is_alphabetic() => 'a',
        c if c.is_ascii_digit() => '0',
        c if c.is_whitespace() => ' ',
        _ => '.',
    };
    let mut last = ' ';
    let starts = |c: &char| {
        let before = std::mem::replace(&mut last, *c);
        match kind(*c) {
            'a' => kind(before) != 'a' || (c.is_uppercase() && before.is_lowercase()),
            '0' => true,
            ' ' => *c == '\n' && before != '\n',
            _ => kind(before) != '.',
        }
    };
    text.chars().filter(starts).count()
}

/// A tool as templates print it, with a space after each comma and colon.
fn printed(tool: &engine::ToolSpec) -> String {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
    let compact = json!({"type": "function", "function": function}).to_string();
    compact.replace("\",", "\", ").replace("\":", "\": ").replace("},", "}, ").replace("],", "], ")
}

#[tokio::test]
async fn prompts_and_results_stay_within_their_token_aims() {
    let tidal = [("TIDAL_CLIENT_ID", "a"), ("TIDAL_CLIENT_SECRET", "b")];
    let search = || calls("semanticSearch", json!({"query": "night and love"}));
    let app = TestApp::start(World::new().await, [search(), says("Here."), says("Hello.")], &tidal).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &engine::UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    app.chat(json!({"message": "x"})).await;
    let found = result(&app);
    assert_eq!(found.matches("\"isrc\"").count(), 20, "a default search: {found}");
    // Names and descriptions have rarer words than instructions: a tokenizer counts a sixth more.
    let found = n_tokens(&found) * 6 / 5;
    app.say("x").await;
    let asked = app.model.asked();
    let base = |at: usize| {
        let tools: usize = asked[at].tools.iter().map(|tool| n_tokens(&printed(tool))).sum();
        n_tokens(&asked[at].system) + tools + TEMPLATE
    };
    let (discover, tasks) = (base(0), base(2));
    println!("tokens (estimated): Tasks base {tasks}, Discover base {discover}, default search {found}");
    assert!(asked[0].tools.iter().any(|tool| tool.name == "tidalSearch"), "the longest form is measured");
    assert!(tasks <= 700 && discover <= 1_100 && found <= 1_000, "{tasks} {discover} {found}");
}

#[tokio::test]
async fn programs_read_the_whole_schema_of_a_tool() {
    let app = TestApp::scripted([says("Hello.")]).await;
    app.chat(json!({"message": "hello"})).await;
    let listed = app.get("/api/tools").await;
    let whole = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "semanticSearch").unwrap();
    assert_eq!(whole["inputSchema"]["properties"]["limit"]["maximum"], 50);
    assert!(whole["inputSchema"].to_string().contains("Beats per minute."), "{whole}");
    let prompt = app.model.asked().remove(0);
    let short = prompt.tools.iter().find(|tool| tool.name == "semanticSearch").unwrap();
    let fields = &short.input_schema["properties"];
    assert!(fields.get("tempo").is_none() && fields["query"].to_string().contains("bpm"), "in words: {fields}");
}
