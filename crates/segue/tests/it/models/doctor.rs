//! `segue doctor` sends a request to the model.

use doubles::model::{Family, Fault, ModelDouble, Step};
use serde_json::json;

use super::Server;
use crate::support::{World, command};

#[tokio::test]
async fn doctor_calls_the_model_and_prints_its_capabilities() {
    let world = World::new().await;
    let server = Server::start(Family::LlamaCpp).await;
    server.double.play([Step::calls("report_number", json!({"number": 7}))]);
    let settings = [("OPENAI_BASE_URL", server.url())];
    let (code, said, _) = command(&world, &settings, &["doctor"]).await;
    let line = said.lines().find(|line| line.contains(" model ")).unwrap_or_default();
    assert!(
        line.starts_with("✓ model") && line.contains("qwen2.5:7b on llama.cpp: streams, calls tools natively"),
        "{said}"
    );
    assert!(line.contains("context 32768 tokens"), "{said}");
    assert_eq!((code, server.n_replies()), (0, 1), "{said}");

    let gone = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1".to_owned())];
    let (code, said, _) = command(&world, &gone, &["doctor"]).await;
    assert!(code == 1 && said.contains("✗ model"), "{said}");
}

/// The result of a probe is used after a restart: a server without tool support is not called with tools again.
#[tokio::test]
async fn doctor_stores_the_capabilities_for_the_server() {
    let world = World::new().await;
    let double = ModelDouble::new(Family::Ollama, "plain").always(Fault::NoTools);
    let running = doubles::serve(double.router()).await.unwrap();
    let url = format!("http://{}/v1", running.addr);
    let (_, said, _) = command(&world, &[("OPENAI_BASE_URL", url.clone())], &["doctor"]).await;
    assert!(said.contains("plain on Ollama"), "{said}");
    let n_before = double.asked().len();
    let app = super::started(&world, &[("OPENAI_BASE_URL", &url)]).await;
    app.say("hello").await;
    let asked = double.asked();
    assert_eq!(asked.len(), n_before + 1, "the capabilities are not probed again");
    assert!(asked[n_before].get("tools").is_none());
}

#[tokio::test]
async fn doctor_lists_model_servers_of_this_machine_if_none_is_configured() {
    let world = World::new().await;
    let server = Server::start(Family::Vllm).await;
    let (code, said, _) = command(&world, &[("SEGUE_MODEL_PORTS", server.port())], &["doctor"]).await;
    let expected = format!(
        "Found vLLM on {} with 1 model; choose one in the page or set OPENAI_BASE_URL={}",
        server.port(),
        server.url()
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!((code, server.n_replies()), (0, 0), "{said}");
}
