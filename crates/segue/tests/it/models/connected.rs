//! A model server given by its base URL alone, and model servers found on this machine.

use doubles::model::{Family, ModelDouble, Step};
use reqwest::Method;
use serde_json::json;
use tokio::net::TcpListener;

use super::{Server, started};
use crate::support::{TestApp, World};

#[tokio::test]
async fn a_base_url_is_enough_because_the_server_lists_its_model() {
    for (name, family) in Family::ALL.into_iter().filter(|(_, family)| *family != Family::Anthropic) {
        let (server, world) = (Server::start(family).await, World::new().await);
        server.double.play([Step::says("Hello.")]);
        for settings in [vec![], vec![("OPENAI_API_KEY", "sk-test")]] {
            let url = server.url();
            let app = started(&world, &[vec![("OPENAI_BASE_URL", url.as_str())], settings].concat()).await;
            let frames = app.say("hello").await;
            assert_eq!(frames.last().unwrap()["type"], "message_end", "{name}: {frames:?}");
            app.app.stop().await;
        }
        assert!(server.double.asked().iter().all(|body| body["model"] == "qwen2.5:7b"), "{name}");
        assert_eq!(server.n_replies(), 2, "{name}");
    }
}

#[tokio::test]
async fn a_model_server_that_starts_after_segue_is_asked_for_its_model_later() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{addr}/v1");
    let app = started(&world, &[("OPENAI_BASE_URL", &url)]).await;
    let double = ModelDouble::new(Family::LlamaCpp, "late-model");
    double.play([Step::says("Here."), Step::says("Still here.")]);
    let listener = TcpListener::bind(addr).await.unwrap();
    let router = double.router();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    assert_eq!(app.say("hello").await.last().unwrap()["type"], "message_end");
    assert_eq!(app.say("hello").await.last().unwrap()["type"], "message_end");
    serving.abort();
    assert!(double.asked().iter().all(|body| body["model"] == "late-model"));
    assert_eq!(
        double.paths().iter().filter(|path| *path == "/props").count(),
        1,
        "the server is asked for its model once"
    );
}

#[tokio::test]
async fn a_found_server_gets_no_user_text_before_it_is_chosen_and_stays_chosen_after_a_restart() {
    let (server, world) = (Server::start(Family::Ollama).await, World::new().await);
    let (port, url) = (server.port(), server.url());
    let settings = [("SEGUE_MODEL_PORTS", port.as_str())];
    let app = TestApp::start(world.clone(), [], &settings).await;
    app.say("a private message").await;
    let listed = app.get("/api/models").await;
    assert_eq!(listed["active"], json!({"id": "script", "chosenBy": "default"}));
    assert_eq!(listed["found"][0]["family"], "Ollama");
    assert_eq!(listed["found"][0]["server"], url);
    assert_eq!(listed["found"][0]["models"][0]["name"], "qwen2.5:7b");
    assert_eq!(server.n_replies(), 0, "a search for servers sends no message");

    for (body, field) in [
        (json!({"server": "http://127.0.0.1:1/v1", "model": "x"}), "server"),
        (json!({"server": url, "model": "other"}), "model"),
        (json!({"server": url}), "model"),
    ] {
        let (status, refused) = app.answer(Method::POST, "/api/models/select", Some(body)).await;
        assert_eq!((status, &refused["error"]["details"][0]["field"]), (400, &json!(field)), "{refused}");
    }
    let choice = json!({"server": url, "model": "qwen2.5:7b"});
    let (status, chosen) = app.answer(Method::POST, "/api/models/select", Some(choice.clone())).await;
    assert_eq!((status, &chosen["active"]["chosenBy"]), (200, &json!("operator")), "{chosen}");
    app.app.stop().await;
    let n_probes = server.n_replies();
    assert_eq!(n_probes, 1, "the chosen server is probed");

    server.double.play([Step::says("Hello.")]);
    let again = TestApp::start(world.clone(), [], &settings).await;
    again.say("hello").await;
    assert_eq!(server.n_replies(), n_probes + 1, "the choice survives a restart");
    let listed = again.get("/api/models").await;
    let known = listed["found"][0]["models"][0]["capabilities"].as_str().unwrap_or_default();
    assert!(known.starts_with("qwen2.5:7b on Ollama: streams"), "{listed}");
    let (status, _) = again.answer(Method::POST, "/api/models/select", Some(json!({}))).await;
    assert_eq!((status, again.get("/api/models").await["active"]["chosenBy"].clone()), (200, json!("default")));
    again.answer(Method::POST, "/api/models/select", Some(choice.clone())).await;
    again.app.stop().await;

    let set = TestApp::start(world, [], &[("SEGUE_MODEL_PORTS", &port), ("SEGUE_MODEL", "offline")]).await;
    let listed = set.get("/api/models").await;
    assert_eq!(listed["active"], json!({"id": "script", "chosenBy": "settings"}), "a setting wins");
    let (status, _) = set.answer(Method::POST, "/api/models/select", Some(choice)).await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn only_operators_see_servers_and_choose() {
    let server = Server::start(Family::LlamaCpp).await;
    let port = server.port();
    let settings =
        [("SEGUE_MODEL_PORTS", port.as_str()), ("SEGUE_OPERATORS", "olga"), ("SEGUE_MODELS", "deep=openai:big @1/2")];
    let app = TestApp::shared([], &settings).await;
    let choice = json!({"server": server.url(), "model": "qwen2.5:7b"});
    let (ann, olga) = (app.person("ann"), app.person("olga"));
    assert_eq!(ann.get("/api/models").await, json!({"models": [{"name": "deep"}]}));
    let (status, _) = ann.answer(Method::POST, "/api/models/select", Some(choice.clone())).await;
    assert_eq!(status, 403);
    let listed = olga.get("/api/models").await;
    assert_eq!(listed["models"], json!([{"name": "deep", "price": {"input": 1.0, "output": 2.0}}]));
    assert_eq!(listed["found"][0]["family"], "llama.cpp");
    let (status, _) = olga.answer(Method::POST, "/api/models/select", Some(choice)).await;
    assert_eq!(status, 200);
}
