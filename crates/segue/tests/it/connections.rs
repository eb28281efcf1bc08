//! The operator connects a model, a catalogue and an embedder on the settings page. The server stores secrets encrypted
//! and never returns them. A setting of the server takes precedence.

use axum::{Json, Router, http::HeaderMap, http::StatusCode, routing::post};
use doubles::{
    fiction,
    model::{Family, ModelDouble, Step},
    serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Process, TestApp, World};

const PATH: &str = "/api/settings/connections";
const CANARY: &str = "sk-canary-7d1f";
const SECRET_KEY: (&str, &str) = ("SEGUE_SECRET_KEY", "0123456789abcdef0123456789abcdef");

async fn put(app: &TestApp, service: &str, connection: Value) -> (u16, Value) {
    app.answer(Method::PUT, &format!("{PATH}/{service}"), Some(connection)).await
}

async fn tested(app: &TestApp, service: &str, body: Value) -> (u16, Value) {
    app.answer(Method::POST, &format!("{PATH}/{service}/test"), Some(body)).await
}

/// The text of an answer.
async fn said(app: &TestApp) -> String {
    app.say("hello").await.iter().filter_map(|frame| frame["content"].as_str().map(str::to_owned)).collect()
}

async fn line(app: &TestApp, service: &str) -> Value {
    let list = app.get(PATH).await;
    let lines = list["connections"].as_array().unwrap().clone();
    lines.into_iter().find(|line| line["service"] == service).unwrap()
}

#[tokio::test]
async fn a_connected_model_answers_at_once_and_after_a_restart_and_its_key_is_not_stored_in_plain_text() {
    let world = World::new().await;
    let double = ModelDouble::new(Family::Ollama, "qwen2.5:7b").context(32_768, 4.0);
    double.play([Step::says("Connected."), Step::says("Still connected.")]);
    let running = serve(double.router()).await.unwrap();
    let url = format!("http://{}/v1", running.addr);
    let app = TestApp::start(world.clone(), [], &[SECRET_KEY]).await;
    let new = json!({"provider": "openai", "url": url, "model": "qwen2.5:7b", "key": CANARY});
    let (status, stored) = put(&app, "model", new).await;
    assert_eq!((status, &stored["state"], &stored["hasSecret"]), (200, &json!("stored"), &json!(true)), "{stored}");
    assert_eq!(stored["atNextStart"], false, "a model answers at once");
    assert_eq!(said(&app).await, "Connected.");
    assert_eq!(app.get("/api/models").await["active"]["chosenBy"], "connection");
    let list = app.get(PATH).await;
    let offered: Vec<_> = list["providers"].as_array().unwrap().iter().map(|provider| &provider["name"]).collect();
    assert_eq!(offered, ["anthropic", "openai"], "the page offers every provider: {list}");

    let mut answers =
        vec![stored.to_string(), app.get(PATH).await.to_string(), app.get("/api/models").await.to_string()];
    for path in ["/api/export", "/api/about", "/api/me", "/openapi.json"] {
        answers.push(app.get(path).await.to_string());
    }
    for (table, row) in world.dump().await {
        let as_hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!row.contains(CANARY) && !row.to_lowercase().contains(&as_hex), "{table} contains the key");
    }
    assert!(answers.iter().all(|answer| !answer.contains(CANARY)), "{answers:#?}");

    app.app.stop().await;
    let app = TestApp::start(world.clone(), [], &[SECRET_KEY]).await;
    assert_eq!(said(&app).await, "Still connected.");
    assert_eq!(line(&app, "model").await["atNextStart"], false);
    let (status, _) = app.answer(Method::DELETE, &format!("{PATH}/model"), None).await;
    assert_eq!((status, &line(&app, "model").await["state"]), (204, &json!("off")));
    assert_eq!(
        app.get("/api/models").await["active"]["chosenBy"],
        "default",
        "the model of the settings answers again"
    );
    app.app.stop().await;

    let app = TestApp::start(world.clone(), [], &[SECRET_KEY]).await;
    put(&app, "model", json!({"provider": "openai", "url": url, "key": CANARY})).await;
    app.app.stop().await;
    let other = ("SEGUE_SECRET_KEY", "another key of thirty-two characters");
    let app = TestApp::start(world, [], &[other]).await;
    assert_eq!(line(&app, "model").await["state"], "unreadable", "the server starts and reports the connection");
}

#[tokio::test]
async fn a_setting_of_the_server_takes_precedence_and_is_shown() {
    let settings = [SECRET_KEY, ("TIDAL_CLIENT_ID", "an id"), ("TIDAL_CLIENT_SECRET", "a secret of the environment")];
    let app = TestApp::start(World::new().await, [], &settings).await;
    let shown = line(&app, "catalogue").await;
    assert_eq!(shown["state"], "settings");
    assert_eq!(shown["settings"], json!(["TIDAL_CLIENT_ID", "TIDAL_CLIENT_SECRET"]));
    assert!(!shown.to_string().contains("a secret of") && !shown.to_string().contains("an id"), "{shown}");
    let (status, refused) = put(&app, "catalogue", json!({"clientId": "x", "clientSecret": "y"})).await;
    assert_eq!((status, refused["error"]["code"].as_str()), (409, Some("CONFLICT")), "{refused}");
}

#[tokio::test]
async fn without_a_secret_key_postgres_stores_no_connection_and_names_the_missing_setting() {
    let app = TestApp::start(World::new().await, [], &[]).await;
    let (status, answer) = put(&app, "catalogue", json!({"clientId": "x", "clientSecret": CANARY})).await;
    let missing = app.get(PATH).await["missingKey"].clone();
    if app.world.database_url().is_none() {
        assert_eq!((status, missing), (200, Value::Null), "with SQLite the key is a file in the data directory");
        assert!(app.world.sqlite().with_file_name("secret.key").exists());
        return;
    }
    assert_eq!(status, 409, "{answer}");
    assert!(missing.as_str().unwrap().contains("SEGUE_SECRET_KEY"), "{missing}");
    assert_eq!(app.world.texts("SELECT service FROM connections").await, [""; 0]);
}

#[tokio::test]
async fn the_catalogue_is_tested_with_one_click_and_used_from_the_next_start_on() {
    let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
    let running = serve(tidal.router()).await.unwrap();
    let (api, auth) = (format!("http://{}/v2", running.addr), format!("http://{}/v1", running.addr));
    let settings = [SECRET_KEY, ("TIDAL_API_URL", api.as_str()), ("TIDAL_AUTH_URL", auth.as_str())];
    let world = World::new().await;
    let app = TestApp::start(world.clone(), [], &settings).await;
    let good = json!({"clientId": CLIENT_ID, "clientSecret": CLIENT_SECRET});
    let wrong = json!({"clientId": CLIENT_ID, "clientSecret": CANARY});
    let (status, said) = tested(&app, "catalogue", json!({"connection": wrong})).await;
    assert_eq!((status, &said["well"]), (200, &json!(false)), "{said}");
    assert!(!said.to_string().contains(CANARY), "{said}");
    assert_eq!(tested(&app, "catalogue", json!({"connection": good})).await.1["well"], true);
    assert_eq!(line(&app, "catalogue").await["state"], "off", "a test stores nothing");
    assert_eq!(tested(&app, "catalogue", json!({})).await.0, 404, "there is no stored connection to test");

    let (_, stored) = put(&app, "catalogue", good).await;
    assert_eq!((&stored["clientId"], &stored["atNextStart"]), (&json!(CLIENT_ID), &json!(true)));
    assert_eq!(tested(&app, "catalogue", json!({})).await.1["well"], true, "the stored secret is used");
    let (_, kept) = put(&app, "catalogue", json!({"clientId": CLIENT_ID})).await;
    assert_eq!(kept["hasSecret"], true, "a secret that the request omits is kept");
    let (status, refused) = put(&app, "catalogue", json!({"clientId": "another"})).await;
    assert_eq!(
        (status, &refused["error"]["details"][0]["field"]),
        (400, &json!("clientSecret")),
        "a stored secret is not used for another id"
    );
    assert_eq!(app.get("/api/about").await["tidal"], false);
    app.app.stop().await;
    let app = TestApp::start(world, [], &settings).await;
    assert_eq!(app.get("/api/about").await["tidal"], true);
    assert_eq!(line(&app, "catalogue").await["atNextStart"], false);
}

#[tokio::test]
async fn the_server_starts_when_the_stored_embedder_does_not_answer() {
    let embed = async |headers: HeaderMap, Json(asked): Json<Value>| {
        if headers.get("authorization").is_none_or(|key| key != &format!("Bearer {CANARY}")) {
            let repeats = format!("no such key: {:?}", headers.get("authorization"));
            return Err((StatusCode::UNAUTHORIZED, repeats));
        }
        let n_texts = asked["input"].as_array().map_or(0, Vec::len);
        let vectors: Vec<_> = (0..n_texts).map(|n| json!({"index": n, "embedding": [1.0, 0.0]})).collect();
        Ok(Json(json!({ "data": vectors })))
    };
    let running = serve(Router::new().route("/v1/embeddings", post(embed))).await.unwrap();
    let url = format!("http://{}", running.addr);
    let world = World::new().await;
    let app = TestApp::start(world.clone(), [], &[SECRET_KEY]).await;
    let (_, said) = tested(&app, "embedder", json!({"connection": {"url": url, "key": "sk-another"}})).await;
    assert_eq!(said["well"], false, "{said}");
    assert!(!said.to_string().contains("sk-another"), "the key that the other server repeats is removed: {said}");
    let new = json!({"url": url, "model": "two", "key": CANARY});
    assert_eq!(tested(&app, "embedder", json!({"connection": new})).await.1["well"], true);
    assert_eq!(put(&app, "embedder", new).await.1["atNextStart"], true);
    let other_server = json!({"connection": {"url": "http://127.0.0.1:9/v1"}});
    assert_eq!(
        tested(&app, "embedder", other_server).await.1["well"],
        false,
        "the stored key is sent only to its own server"
    );
    app.app.stop().await;

    let app = TestApp::start(world.clone(), [], &[SECRET_KEY]).await;
    assert!(app.get("/api/about").await["index"]["embedder"].as_str().unwrap().contains("two"));
    app.app.stop().await;
    drop(running);
    let app = TestApp::start(world, [], &[SECRET_KEY]).await;
    let shown = line(&app, "embedder").await;
    assert!(shown["problem"].as_str().unwrap().contains("built-in embedder is used"), "{shown}");
}

#[tokio::test]
async fn an_invalid_connection_is_rejected_with_the_name_of_the_field() {
    let app = TestApp::start(World::new().await, [], &[SECRET_KEY]).await;
    let cases = [
        ("model", json!({"url": "https://a.example"}), "provider"),
        ("model", json!({"provider": "anthropic"}), "key"),
        ("model", json!({"provider": "openai"}), "key"),
        ("model", json!({"provider": "openai", "url": "ftp://a.example", "key": "k"}), "url"),
        ("model", json!({"provider": "openai", "url": "https://user:pass@a.example", "key": "k"}), "url"),
        ("model", json!({"provider": "openai", "key": "two\nlines"}), "key"),
        ("catalogue", json!({"clientId": "x"}), "clientSecret"),
        ("catalogue", json!({"clientSecret": "x"}), "clientId"),
        ("embedder", json!({"url": "not a url"}), "url"),
    ];
    for (service, connection, field) in cases {
        let (status, refused) = put(&app, service, connection.clone()).await;
        assert_eq!((status, &refused["error"]["details"][0]["field"]), (400, &json!(field)), "{connection} {refused}");
    }
    assert_eq!(put(&app, "weather", json!({})).await.0, 404);
    let list = app.get(PATH).await;
    assert!(list["connections"].as_array().unwrap().iter().all(|line| line["state"] == "off"), "{list}");
}

#[tokio::test]
async fn only_operators_see_and_change_connections() {
    let app = TestApp::shared([], &[SECRET_KEY, ("SEGUE_OPERATORS", "ann")]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let new = json!({"clientId": "x", "clientSecret": CANARY});
    let calls = [
        (Method::GET, PATH.to_owned(), None),
        (Method::PUT, format!("{PATH}/catalogue"), Some(new.clone())),
        (Method::POST, format!("{PATH}/catalogue/test"), Some(json!({"connection": new}))),
        (Method::DELETE, format!("{PATH}/catalogue"), None),
    ];
    for (method, path, body) in &calls {
        let (status, answer) = bob.answer(method.clone(), path, body.clone()).await;
        assert_eq!((status, answer["error"]["code"].as_str()), (403, Some("FORBIDDEN")), "{method} {path}");
    }
    for (method, path, body) in calls.into_iter().filter(|(method, ..)| *method != Method::POST) {
        assert!(ann.answer(method.clone(), &path, body).await.0 < 300, "{method} {path}");
    }
}

#[tokio::test]
async fn the_log_does_not_contain_a_stored_key_even_at_level_trace() {
    let world = World::new().await;
    let settings =
        [SECRET_KEY, ("SEGUE_LOG", "trace"), ("RUST_LOG", "trace")].map(|(name, value)| (name, value.to_owned()));
    let server = Process::start(&world, &settings).await;
    // No server listens there, so the connection test fails and logs its error.
    let connection = json!({"url": "http://127.0.0.1:9/v1", "key": CANARY});
    let path = format!("{}{PATH}/embedder", server.url);
    let stored = reqwest::Client::new().put(&path).json(&connection).send().await.unwrap();
    assert_eq!(stored.status(), 200);
    let tested = server.post(&format!("{PATH}/embedder/test"), json!({})).await;
    let tested: Value = tested.json().await.unwrap();
    assert_eq!(tested["well"], false, "{tested}");
    let log = server.log();
    assert!(log.iter().any(|line| line.contains("TRACE")), "{} lines, and none at trace", log.len());
    assert!(!log.iter().any(|line| line.contains(CANARY)), "{log:#?}");
}
