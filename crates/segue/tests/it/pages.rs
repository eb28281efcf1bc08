//! Lists in pages: every item appears once and in order, and no page is longer than its limit.

use serde_json::Value;

use crate::support::TestApp;

/// All pages of a list; each must have at most `limit` items.
async fn all(app: &TestApp, path: &str, list: &str, limit: usize) -> Vec<Value> {
    let (mut items, mut cursor) = (vec![], String::new());
    loop {
        let page = app.get(&format!("{path}?limit={limit}{cursor}")).await;
        let part = page[list].as_array().unwrap();
        assert!((1..=limit).contains(&part.len()), "{path}: {page}");
        items.extend(part.iter().cloned());
        match &page["next"] {
            Value::Null => return items,
            Value::String(next) => cursor = format!("&cursor={next}"),
            next => cursor = format!("&cursor={next}"),
        }
    }
}

#[tokio::test]
async fn tasks_imports_and_open_entries_are_paged() {
    let app = TestApp::scripted([]).await;
    for n in 0..7 {
        app.post("/api/tasks", serde_json::json!({"title": format!("task {n}")})).await;
        let file = format!("Title,Artist\nSong {n},Band\nOther {n},Band\n");
        app.import(&format!("{n}.csv"), file.into_bytes()).await;
    }
    for (path, list, n, field) in [
        ("/api/tasks", "tasks", 7, "title"),
        ("/api/library/imports", "imports", 7, "file"),
        ("/api/library/unmatched", "entries", 14, "title"),
    ] {
        let whole = app.get(path).await[list].as_array().unwrap().clone();
        assert_eq!(whole.len(), n, "{path}");
        for limit in [1, 3, 7, 200] {
            assert_eq!(all(&app, path, list, limit).await, whole, "{path} by {limit}");
        }
        assert!(whole[0][field].is_string(), "{path}: {}", whole[0]);
        for limit in [0, 201] {
            let (status, refused) = app.answer(reqwest::Method::GET, &format!("{path}?limit={limit}"), None).await;
            assert_eq!(status, 400, "{path}: {refused}");
        }
    }
    let first = &app.get("/api/library/unmatched?limit=3").await["entries"];
    let lines: Vec<_> = first.as_array().unwrap().iter().map(|entry| (&entry["file"], &entry["line"])).collect();
    assert!(lines.is_sorted_by_key(|(file, line)| (file.as_str().unwrap(), line.as_u64().unwrap())), "{lines:?}");
}

#[tokio::test]
async fn list_tasks_lists_at_most_five_hundred_tasks() {
    let app = TestApp::scripted([]).await;
    let local = engine::UserId::new("local");
    for n in 0..501 {
        let new = serde_json::from_value(serde_json::json!({"title": format!("task {n}")})).unwrap();
        app.app.tasks().add(&local, new).await.unwrap();
    }
    let list = async |filter: &str| {
        let input = serde_json::json!({"filter": filter});
        app.answer(reqwest::Method::POST, "/api/tools/list_tasks", Some(input)).await.1
    };
    let listed = list("all").await;
    assert_eq!((listed["tasks"].as_array().unwrap().len(), &listed["hasMore"]), (500, &true.into()));
    assert_eq!(listed["summary"], "The first 500 tasks; there are more");
    let done = list("completed").await;
    assert_eq!((&done["summary"], done.get("hasMore")), (&"No tasks".into(), None));
}

#[tokio::test]
async fn list_tasks_lists_at_most_half_a_mebibyte_of_texts() {
    let app = TestApp::scripted([]).await;
    let local = engine::UserId::new("local");
    for _ in 0..80 {
        let new = serde_json::json!({"title": "long", "description": "🎵".repeat(2000)});
        app.app.tasks().add(&local, serde_json::from_value(new).unwrap()).await.unwrap();
    }
    let listed = app.answer(reqwest::Method::POST, "/api/tools/list_tasks", Some(serde_json::json!({}))).await.1;
    let n_listed = listed["tasks"].as_array().unwrap().len();
    assert!((60..70).contains(&n_listed) && listed["hasMore"] == true, "{n_listed} of 80 tasks with 8 KB each");
    assert!(listed.to_string().len() < 600_000);
}
