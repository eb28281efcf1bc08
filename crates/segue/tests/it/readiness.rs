//! `/readyz` names the part that does not work, and the node stays ready without it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use doubles::qdrant::{QdrantDouble, QdrantFault};
use engine::script::says;
use serde_json::{Value, json};

use crate::support::{Process, TestApp, World};

/// The cause in `/readyz` of one part, once its state is as expected.
async fn part_is(app: &TestApp, name: &str, ready: bool) -> Value {
    let seen = tokio::time::timeout(Duration::from_secs(30), part_becomes(app, name, ready)).await;
    seen.unwrap_or_else(|_| panic!("{name} does not become ready={ready}"))
}

async fn part_becomes(app: &TestApp, name: &str, ready: bool) -> Value {
    loop {
        let told = app.get("/readyz").await;
        assert_eq!(
            (&told["ready"], &told["causes"]),
            (&json!(true), &json!([])),
            "an optional part does not make the node unready"
        );
        let part = told["parts"].as_array().unwrap().iter().find(|part| part["name"] == name).unwrap().clone();
        if part["ready"] == ready {
            return part["cause"].clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn readyz_reports_an_index_that_does_not_answer() {
    let app = TestApp::start(World::new().await, [], &[("QDRANT_URL", "http://127.0.0.1:9")]).await;
    assert_eq!(part_is(&app, "index", false).await, "the index does not answer");
    assert_eq!(part_is(&app, "embedder", true).await, Value::Null);
    let own = TestApp::scripted([]).await;
    assert_eq!(part_is(&own, "index", true).await, Value::Null);
}

/// It accepts connections and requests, and sends nothing.
#[tokio::test]
async fn a_server_starts_beside_a_qdrant_that_never_answers_and_uses_it_when_it_answers() {
    let (world, qdrant) = (World::new().await, QdrantDouble::start().await.unwrap());
    qdrant.set_fault(Some(QdrantFault::Silent));
    let server = Process::start(&world, &[("QDRANT_URL", qdrant.url.clone())]).await;
    let (status, told) = server.ask("/readyz").await;
    assert_eq!((status, &told["ready"], &told["parts"][0]["name"]), (200, &json!(true), &json!("index")), "{told}");
    assert_eq!(told["parts"][0]["ready"], false, "from the first request on: {told}");
    assert!(server.log().iter().any(|line| line.contains("Starting without the index")), "{:?}", server.log());

    let report = server.import("one.csv", "Title,Artist\nPaper Lanterns,Ivy Marlow\n".into()).await;
    assert_eq!(report.get("error"), None, "{report}");
    assert_eq!(server.post("/api/tasks", json!({"title": "water the plants"})).await.status(), 201);
    let search = "/api/search?q=paper%20lanterns";
    let (status, refused) = server.ask(search).await;
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("TOOL_UNAVAILABLE")), "{refused}");

    qdrant.set_fault(None);
    let found = async {
        loop {
            let (status, found) = server.ask(search).await;
            if status == 200 && found["tracks"][0]["title"] == "Paper Lanterns" {
                break;
            }
        }
        while server.get("/readyz").await["parts"][0]["ready"] != true {}
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.expect("the index is used once it answers");
}

#[tokio::test]
async fn readyz_reports_a_failed_model_until_it_answers() {
    let app = TestApp::scripted([says("I was").then_fails("overloaded"), says("Hi.")]).await;
    assert_eq!(part_is(&app, "model", true).await, Value::Null);
    app.say("hello").await;
    let cause = part_is(&app, "model", false).await;
    assert_eq!(cause, "the last answer failed: The model is unavailable right now. Please try again.");
    app.say("again").await;
    part_is(&app, "model", true).await;
}

#[tokio::test]
async fn readyz_reports_an_embeddings_server_that_does_not_answer() {
    let is_away = Arc::new(AtomicBool::new(false));
    let embed = async |State(is_away): State<Arc<AtomicBool>>, Json(asked): Json<Value>| {
        if is_away.load(Ordering::SeqCst) {
            return Err(StatusCode::SERVICE_UNAVAILABLE);
        }
        let n_texts = asked["input"].as_array().map_or(0, Vec::len);
        let vectors: Vec<_> = (0..n_texts).map(|n| json!({"index": n, "embedding": [1.0, 0.0]})).collect();
        Ok(Json(json!({ "data": vectors })))
    };
    let router = Router::new().route("/v1/embeddings", post(embed)).with_state(is_away.clone());
    let running = doubles::serve(router).await.unwrap();
    let url = format!("http://{}", running.addr);
    let settings = [("SEGUE_EMBEDDINGS_URL", url.as_str()), ("SEGUE_EMBEDDINGS_MODEL", "two")];
    let app = TestApp::start(World::new().await, [], &settings).await;
    part_is(&app, "embedder", true).await;
    is_away.store(true, Ordering::SeqCst);
    assert_eq!(part_is(&app, "embedder", false).await, "the embeddings server does not answer");
}

/// The seven HTTP clients of a server need certificates only for `https://`, so that their files are not read before. Without
/// this, a start reads 1,000 files.
#[tokio::test]
async fn a_server_starts_on_a_machine_without_certificates() {
    let nowhere = || "/nowhere".to_owned();
    let settings =
        [("SSL_CERT_FILE", nowhere()), ("SSL_CERT_DIR", nowhere()), ("DEEZER_URL", "https://127.0.0.1:1".into())];
    let world = World::new().await;
    let server = Process::start(&world, &settings).await;
    assert_eq!(server.get("/readyz").await["ready"], true);
}
