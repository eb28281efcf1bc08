//! Every endpoint of the real router answers any body with a result or a 4xx error, never with a 5xx error.
#![no_main]

use std::sync::{Arc, OnceLock};

use app::{App, config::Config};
use axum::{Router, body::Body, http::Request};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tower::ServiceExt;

const ENDPOINTS: [(&str, &str); 14] = [
    ("POST", "/api/chat/stream"),
    ("POST", "/api/local/chat"),
    ("POST", "/api/tasks"),
    ("POST", "/chatkit"),
    ("POST", "/api/ai/chat"),
    ("POST", "/ag-ui"),
    ("POST", "/mcp"),
    ("POST", "/api/tools/semanticSearch"),
    ("POST", "/api/tools/batchMetadata"),
    ("POST", "/api/tools/suggestPlaylist"),
    ("POST", "/api/tools/add_task"),
    ("POST", "/api/library/tracks"),
    ("PATCH", "/api/tasks/01890a5d-ac96-774b-bcce-b302099a8057"),
    ("PATCH", "/api/conversations/01890a5d-ac96-774b-bcce-b302099a8057"),
];

struct Server {
    runtime: Runtime,
    router: Router,
    _data_dir: TempDir,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let data_dir = TempDir::new().expect("a temporary folder");
        let path = data_dir.path().display().to_string();
        let config = Config::from_lookup(|name| match name {
            "SEGUE_DATA_DIR" => Some(path.clone()),
            "SEGUE_RATE_PER_MINUTE" | "SEGUE_CONCURRENT_TURNS" => Some("0".into()),
            _ => None,
        })
        .expect("the settings are right");
        let runtime = Runtime::new().expect("a runtime");
        let router = runtime.block_on(async {
            let model = app::models::choose(&config).expect("the offline model");
            segue::router::router(App::start(config, Arc::clone(&model)).await.expect("the app starts"))
        });
        Server { runtime, router, _data_dir: data_dir }
    })
}

fuzz_target!(|data: (u8, &[u8])| {
    let (endpoint, body) = data;
    let (method, path) = ENDPOINTS[usize::from(endpoint) % ENDPOINTS.len()];
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:8080")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::from(body.to_vec()))
        .expect("a request");
    let server = server();
    server.runtime.block_on(async {
        let answer = server.router.clone().oneshot(request).await.expect("the router does not fail");
        assert!(answer.status().as_u16() < 500, "{method} {path}: {}", answer.status());
        answer.into_body().collect().await.expect("the answer can be read to its end");
    });
});
