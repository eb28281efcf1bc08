//! Models in the terminal: `segue doctor` really asks one, `segue chat --choose` selects one.

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
        "Found vLLM on {} with 1 model (qwen2.5:7b); choose one in the page, with segue chat --choose MODEL, or set \
         OPENAI_BASE_URL={}",
        server.port(),
        server.url()
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!((code, server.n_replies()), (0, 0), "{said}");
}

#[tokio::test]
async fn a_model_chosen_in_the_terminal_answers_from_then_on_and_gets_nothing_before() {
    let world = World::new().await;
    let server = Server::start(Family::Ollama).await;
    let settings = [("SEGUE_MODEL_PORTS", server.port())];
    let chat = async |args: &[&str]| {
        command(&world, &settings, &[["chat", "--agent", "tasks"].as_slice(), args].concat()).await
    };

    let (code, _, said) = chat(&["my secret wish"]).await;
    assert_eq!((code, server.n_replies()), (0, 0), "{said}");
    let (code, out, said) = chat(&["--choose", "other", "my secret wish"]).await;
    assert_eq!((code, out.as_str(), server.n_replies()), (1, "", 0), "{said}");
    assert!(said.contains("no server has the model 'other'") && said.contains("qwen2.5:7b (Ollama, "), "{said}");

    server.double.play([Step::says("Hello."), Step::says("Hello.")]);
    let (code, _, said) = chat(&["--choose", "qwen2.5:7b", "hello"]).await;
    assert!(code == 0 && said.contains("answers from now on"), "{said}");
    let n_asked = server.n_replies();
    assert_eq!(n_asked, 2, "the probe and the message");
    server.double.play([Step::says("Still here.")]);
    let (_, out, said) = chat(&["hello"]).await;
    assert_eq!((out.as_str(), server.n_replies()), ("Still here.\n", n_asked + 1), "the choice is kept: {said}");

    let set = [("SEGUE_MODEL_PORTS", server.port()), ("SEGUE_MODEL", "offline".to_owned())];
    let (code, _, said) = command(&world, &set, &["chat", "--choose", "qwen2.5:7b", "hello"]).await;
    assert!(code == 1 && said.contains("the settings name the model"), "{said}");
    let (_, _, said) = chat(&["--choose", "offline", "hello"]).await;
    assert_eq!(server.n_replies(), n_asked + 1, "the built-in model answers again: {said}");
}
