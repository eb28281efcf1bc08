//! Models in the terminal: `segue doctor` really asks one, `segue chat --choose` selects one.

use doubles::model::{Family, Fault, ModelDouble, Step};
use reqwest::Method;
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

/// The line of `segue doctor` about the model that answers.
async fn model_line(world: &World, settings: &[(&'static str, String)]) -> (i32, String) {
    let (code, said, _) = command(world, settings, &["doctor"]).await;
    (code, said.lines().find(|line| line.contains(" model ")).unwrap_or_default().to_owned())
}

#[tokio::test]
async fn doctor_calls_the_model_that_the_operator_chose() {
    let world = World::new().await;
    let server = Server::start(Family::Ollama).await;
    let settings = [("SEGUE_MODEL_PORTS", server.port())];
    server.double.play([Step::says("No call."), Step::says("Hello.")]);
    command(&world, &settings, &["chat", "--agent", "tasks", "--choose", "qwen2.5:7b", "hello"]).await;
    let n_before = server.n_replies();
    server.double.play([Step::calls("report_number", json!({"number": 7}))]);
    let (code, line) = model_line(&world, &settings).await;
    assert!(
        line.starts_with("✓ model") && line.contains("qwen2.5:7b on Ollama: streams, calls tools natively"),
        "{line}"
    );
    assert!(line.ends_with("(chosen by the operator)"), "{line}");
    assert_eq!((code, server.n_replies()), (0, n_before + 1), "{line}");
    drop(server);
    let (code, line) = model_line(&world, &settings).await;
    assert!(code == 1 && line.starts_with("✗ model") && line.ends_with("(chosen by the operator)"), "{line}");
}

#[tokio::test]
async fn doctor_calls_the_model_of_the_settings_page() {
    let world = World::new().await;
    let server = Server::start(Family::LlamaCpp).await;
    let settings = [("SEGUE_MODEL_PORTS", "off"), ("SEGUE_SECRET_KEY", "an example key of more than 32 characters")];
    let app = super::started(&world, &settings).await;
    let connection = json!({"provider": "openai", "url": server.url(), "model": "qwen2.5:7b"});
    let (status, answer) = app.answer(Method::PUT, "/api/settings/connections/model", Some(connection)).await;
    assert_eq!(status, 200, "{answer}");
    let settings = settings.map(|(name, value)| (name, value.to_owned()));
    server.double.play([Step::calls("report_number", json!({"number": 7}))]);
    let (code, line) = model_line(&world, &settings).await;
    assert!(line.contains("qwen2.5:7b on llama.cpp: streams, calls tools natively"), "{line}");
    assert!(code == 0 && line.ends_with("(connected on the settings page)"), "{line}");

    let other_key =
        [settings[0].clone(), ("SEGUE_SECRET_KEY", "another key, also of more than 32 characters".to_owned())];
    let (code, line) = model_line(&world, &other_key).await;
    assert!(code == 1 && line.contains("stored with another key"), "{line}");
}

#[tokio::test]
async fn doctor_calls_every_model_of_the_settings() {
    let world = World::new().await;
    let server = Server::start(Family::Vllm).await;
    let call = || Step::calls("report_number", json!({"number": 7}));
    server.double.play([call(), call(), call()]);
    let settings = [
        ("OPENAI_BASE_URL", server.url()),
        ("SEGUE_MODEL", "openai:qwen2.5:7b".to_owned()),
        ("SEGUE_MODELS", "fast=openai:small, deep=anthropic:large".to_owned()),
        ("SEGUE_SMALL_MODEL", "openai:tiny".to_owned()),
    ];
    let (code, said, _) = command(&world, &settings, &["doctor"]).await;
    let lines: Vec<_> = said.lines().filter(|line| line.contains(" model ")).collect();
    assert_eq!((lines.len(), server.n_replies(), code), (4, 3, 1), "{said}");
    assert!(lines[0].contains("qwen2.5:7b on vLLM") && lines[1].contains("fast: small on vLLM"), "{said}");
    assert!(lines[2].starts_with("✗ model") && lines[2].contains("deep: ANTHROPIC_API_KEY is not set"), "{said}");
    assert!(lines[3].contains("SEGUE_SMALL_MODEL: tiny on vLLM"), "{said}");
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
