//! The stored rows and columns, as the seed documents describe them. The tests query the database directly.

use engine::script::{calls, says};
use serde_json::{Value, json};

use crate::support::TestApp;

#[tokio::test]
async fn blocks_and_results_can_be_queried_as_json() {
    let replies = [
        says("Adding.").calls("add_task", json!({"title": "strings"})).calls("complete_task", json!({"task_id": "7"})),
        says("Done."),
    ];
    let app = TestApp::scripted(replies).await;
    let frames = app.say("please").await;
    let call = frames.iter().find(|frame| frame["type"] == "tool_call_start").unwrap()["toolCallId"].clone();
    let is_postgres = app.world.database_url().is_some();
    let (types, used, titles, errors) = if is_postgres {
        (
            "SELECT block->>'type' FROM messages, jsonb_array_elements(content) block WHERE role = 'assistant'",
            "SELECT block->>'id' FROM messages, jsonb_array_elements(content) block WHERE block->>'name' = 'add_task'",
            "SELECT result->>'title' FROM tool_calls WHERE status = 'done' AND parameters->>'title' = 'strings'",
            "SELECT result->>'error' FROM tool_calls WHERE status = 'failed'",
        )
    } else {
        (
            "SELECT block.value->>'type' FROM messages, json_each(content) block WHERE role = 'assistant'",
            "SELECT block.value->>'id' FROM messages, json_each(content) block WHERE block.value->>'name' = 'add_task'",
            "SELECT result->>'title' FROM tool_calls WHERE status = 'done' AND parameters->>'title' = 'strings'",
            "SELECT result->>'error' FROM tool_calls WHERE status = 'failed'",
        )
    };
    let blocks = ["text", "tool_use", "tool_use", "tool_result", "tool_result", "text"];
    assert_eq!(app.world.texts(types).await, blocks);
    assert_eq!(app.world.texts(used).await, [call.as_str().unwrap()], "the stream and the block have the same call id");
    assert_eq!(app.world.texts(titles).await, ["strings"], "the stored result is the output");
    assert!(app.world.texts(errors).await[0].starts_with("There is no such task"));
    let columns = "SELECT summary FROM tool_calls WHERE status = 'done' AND result_count = 1 AND duration_ms >= 0";
    assert_eq!(app.world.texts(columns).await, ["Added 'strings'"]);
    let told: Value = app.get("/api/conversations").await["conversations"][0]["id"].clone();
    assert_eq!(told, frames[0]["conversationId"]);
}

/// An empty list, one that is not empty, a failure, an input that is refused, and a tool that does not exist.
#[tokio::test]
async fn a_stored_message_says_about_its_calls_what_the_stream_said() {
    let replies = [
        calls("list_tasks", json!({}))
            .calls("add_task", json!({"title": "strings"}))
            .calls("complete_task", json!({"task_id": "7"}))
            .calls("add_task", json!({"titel": "strings"}))
            .calls("no_such_tool", json!({})),
        says("Done."),
    ];
    let app = TestApp::scripted(replies).await;
    let frames = app.say("please").await;
    let of_type = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).collect::<Vec<_>>();
    let streamed: Vec<Value> = of_type("tool_call_start")
        .into_iter()
        .map(|start| {
            let end = of_type("tool_call_end").into_iter().find(|end| end["toolCallId"] == start["toolCallId"]);
            let told = |field: &str| end.map(|end| end[field].clone());
            json!([start["toolCallId"], start["title"], told("summary"), told("resultCount")])
        })
        .collect();
    let conversation = format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap());
    let messages = app.get(&conversation).await["messages"].clone();
    let mut stored: Vec<Value> = messages[1]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!([call["id"], call["title"], call["summary"], call["resultCount"]]))
        .collect();
    let position = |call: &Value| streamed.iter().position(|other| other[0] == call[0]);
    stored.sort_by_key(position);
    assert_eq!(stored, streamed);
    let titles = ["List tasks", "Add a task", "Complete a task", "Add a task", "no_such_tool"];
    assert_eq!(streamed.iter().map(|call| call[1].as_str().unwrap()).collect::<Vec<_>>(), titles);
    assert_eq!((&streamed[0][3], &streamed[1][3], &streamed[2][3]), (&json!(0), &json!(1), &Value::Null));
    assert_eq!(messages[0].get("calls"), None, "a question has no calls");
}

#[tokio::test]
async fn messages_belong_to_a_conversation_and_to_one_of_two_roles() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let frames = app.say("hello").await;
    let world = &app.world;
    let conversation = world.id(frames[0]["conversationId"].as_str().unwrap());
    let unknown = world.id(&uuid::Uuid::new_v4().to_string());
    let random = if world.database_url().is_some() { "gen_random_uuid()" } else { "randomblob(16)" };
    let insert = |conversation: &str, role: &str, position: u32| {
        format!(
            "INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at)
             VALUES ({random}, {conversation}, {position}, '{role}', '[]', 'complete', '', '2026-01-01T00:00:00+00:00')"
        )
    };
    let refused = world.refusal(&insert(&conversation, "robot", 90)).await;
    assert!(refused.contains("role"), "{refused}");
    let refused = world.refusal(&insert(&unknown, "user", 91)).await.to_lowercase();
    assert!(refused.contains("foreign key"), "{refused}");
    world.execute(&insert(&conversation, "user", 92)).await;
    assert_eq!(world.texts("SELECT role FROM messages ORDER BY position").await, ["user", "assistant", "user"]);
}

#[tokio::test]
async fn the_columns_and_indexes_of_the_seed_documents_exist() {
    let app = TestApp::scripted([]).await;
    let is_postgres = app.world.database_url().is_some();
    let wanted = [
        ("conversations", "id user_id agent title created_at updated_at"),
        ("messages", "id conversation_id role content status created_at"),
        ("tool_calls", "id message_id tool_name parameters result status summary result_count duration_ms created_at"),
        ("tasks", "id user_id title description completed created_at updated_at"),
    ];
    for (table, columns) in wanted {
        let found = if is_postgres {
            format!(
                "SELECT column_name::text FROM information_schema.columns
                 WHERE table_schema = current_schema() AND table_name = '{table}'"
            )
        } else {
            format!("SELECT name FROM pragma_table_info('{table}')")
        };
        let found = app.world.texts(&found).await;
        for column in columns.split(' ') {
            assert!(found.iter().any(|name| name == column), "{table} has no {column}: {found:?}");
        }
    }
    let indexes = if is_postgres {
        "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()"
    } else {
        "SELECT tbl_name || ' (' || (SELECT group_concat(name, ', ') FROM pragma_index_info(m.name)) || ')'
         FROM sqlite_schema m WHERE type = 'index'"
    };
    // PostgreSQL quotes `position`.
    let indexes = app.world.texts(indexes).await.join("\n").replace('"', "");
    for wanted in ["conversations", "messages"] {
        assert!(indexes.contains(wanted), "{indexes}");
    }
    assert!(indexes.contains("(user_id, pinned, updated_at)"), "conversations by user: {indexes}");
    assert!(indexes.contains("(conversation_id, position)"), "messages by conversation: {indexes}");
    if is_postgres {
        let kind = "SELECT data_type::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND (table_name, column_name) IN
                (('messages', 'content'), ('tool_calls', 'parameters'), ('tool_calls', 'result'))";
        assert_eq!(app.world.texts(kind).await, ["jsonb", "jsonb", "jsonb"]);
    }
}

#[tokio::test]
async fn every_call_of_a_turn_has_a_row_even_if_it_did_not_run() {
    let replies = [
        calls("no_such_tool", json!({})),
        calls("add_task", json!({"title": ""})),
        calls("add_task", json!({"title": "x"})),
        says("Done."),
    ];
    let app = TestApp::scripted(replies).await;
    app.say("please").await;
    let rows = app.world.texts("SELECT tool_name || ' ' || status FROM tool_calls ORDER BY created_at").await;
    assert_eq!(rows, ["no_such_tool refused", "add_task failed", "add_task done"]);
}
