//! Several models: a message chooses one, its conversation keeps it, and costs are computed from its price.

use doubles::model::{Family, Step};
use engine::script::says;
use reqwest::Method;
use serde_json::json;

use super::{Server, started};
use crate::support::World;

#[tokio::test]
async fn a_message_chooses_a_model_and_the_conversation_keeps_it() {
    let (server, world) = (Server::start(Family::OpenAi).await, World::new().await);
    server.double.play([Step::says("Hello."), Step::says("Again."), Step::says("New.")]);
    let url = server.url();
    let settings = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("SEGUE_MODEL", "openai:main"),
        ("SEGUE_MODELS", "deep=openai:big @1000/2000"),
    ];
    let app = started(&world, &settings).await;
    let first = app.chat(json!({"message": "hello", "agent": "tasks", "model": "deep"})).await;
    let end = first.last().unwrap();
    let (usage, cost) = (&end["usage"], end["costUsd"].as_f64().unwrap_or_default());
    let tokens = |field: &str| f64::from(u32::try_from(usage[field].as_u64().unwrap()).unwrap());
    assert!(
        cost > 0.0 && (cost - (tokens("inputTokens") + 2.0 * tokens("outputTokens")) / 1000.0).abs() < 1e-9,
        "{end}"
    );
    let conversation = first[0]["conversationId"].clone();
    app.chat(json!({"message": "again", "conversationId": conversation})).await;
    let other = app.chat(json!({"message": "new", "agent": "tasks"})).await;
    assert!(other.last().unwrap().get("costUsd").is_none(), "no price is known for the main model");
    let models: Vec<_> = server.double.asked().iter().map(|body| body["model"].clone()).collect();
    assert_eq!(models, ["big", "big", "main"]);
    let unknown = json!({"message": "hello", "model": "huge"});
    let (status, refused) = app.answer(Method::POST, "/api/chat/stream", Some(unknown)).await;
    assert_eq!((status, &refused["error"]["details"][0]["field"]), (400, &json!("model")), "{refused}");
}

#[tokio::test]
async fn a_conversation_says_which_model_it_uses_and_can_choose_another() {
    let (server, world) = (Server::start(Family::OpenAi).await, World::new().await);
    server.double.play([Step::says("One."), Step::says("Two."), Step::says("Three.")]);
    let url = server.url();
    let settings = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("SEGUE_MODEL", "openai:main"),
        ("SEGUE_MODELS", "deep=openai:big, quick=openai:main"),
    ];
    let app = started(&world, &settings).await;
    let about = app.get("/api/about").await["model"].clone();
    assert_eq!((&about["choices"], &about["choice"]), (&json!(["deep", "quick"]), &json!("quick")));
    let first = app.chat(json!({"message": "hello", "agent": "tasks", "model": "deep"})).await;
    let conversation = first[0]["conversationId"].as_str().unwrap().to_owned();
    let path = format!("/api/conversations/{conversation}");
    assert_eq!(app.get(&path).await["model"], "deep");

    let (status, changed) = app.answer(Method::PATCH, &path, Some(json!({"model": "quick"}))).await;
    assert_eq!((status, &changed["model"]), (200, &json!("quick")));
    app.chat(json!({"message": "again", "conversationId": conversation})).await;
    let (status, refused) = app.answer(Method::PATCH, &path, Some(json!({"model": "huge", "title": "x"}))).await;
    assert_eq!((status, &refused["error"]["details"][0]["field"]), (400, &json!("model")), "{refused}");
    assert_eq!(app.get(&path).await["title"], "hello", "a rejected request changes nothing");

    app.answer(Method::PATCH, &path, Some(json!({"model": "deep"}))).await;
    let (_, changed) = app.answer(Method::PATCH, &path, Some(json!({"model": null}))).await;
    assert!(changed.get("model").is_none(), "{changed}");
    app.chat(json!({"message": "once more", "conversationId": conversation})).await;
    let models: Vec<_> = server.double.asked().iter().map(|body| body["model"].clone()).collect();
    assert_eq!(models, ["big", "main", "main"]);
}

#[tokio::test]
async fn the_cost_of_a_day_is_the_sum_of_its_answers_and_is_told_with_the_limit() {
    let (server, world) = (Server::start(Family::OpenAi).await, World::new().await);
    server.double.play([Step::says("One."), Step::says("Two."), Step::says("Three.")]);
    let url = server.url();
    let settings = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("SEGUE_MODEL", "openai:main"),
        ("SEGUE_MODELS", "deep=openai:big @1000/2000"),
    ];
    let app = started(&world, &settings).await;
    let before = app.get("/api/usage").await;
    assert_eq!((&before["tokens"], before.get("costUsd"), before.get("tokensPerDay")), (&json!(0), None, None));
    let (mut n_tokens, mut cost) = (0, 0.0);
    for ask in
        [json!({"message": "a", "model": "deep"}), json!({"message": "b", "model": "deep"}), json!({"message": "c"})]
    {
        let mut frames = app.chat(ask).await;
        let end = frames.pop().unwrap();
        let stored = app.get(&format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap())).await;
        assert_eq!(stored["messages"][1].get("costUsd"), end.get("costUsd"), "{stored}");
        n_tokens += end["usage"]["inputTokens"].as_u64().unwrap() + end["usage"]["outputTokens"].as_u64().unwrap();
        cost += end["costUsd"].as_f64().unwrap_or_default();
    }
    let today = app.get("/api/usage").await;
    assert!(n_tokens > 0 && cost > 0.0);
    assert_eq!(today["tokens"], n_tokens, "{today}");
    assert!((today["costUsd"].as_f64().unwrap() - cost).abs() < 1e-9, "{today}");
    app.app.stop().await;

    let limited = started(&world, &[settings.as_slice(), &[("SEGUE_TOKENS_PER_DAY", "100000")]].concat()).await;
    server.double.play([Step::says("Four.")]);
    let end = limited.chat(json!({"message": "d"})).await.pop().unwrap();
    let counted = end["usage"]["inputTokens"].as_u64().unwrap() + end["usage"]["outputTokens"].as_u64().unwrap();
    let today = limited.get("/api/usage").await;
    assert_eq!((&today["tokens"], &today["tokensPerDay"]), (&json!(counted), &json!(100_000)), "{today}");
    assert!(today["resetsAt"].as_str().unwrap().ends_with("T00:00:00Z"), "{today}");
}

/// A library that was described offline is not described again by a new model until a user requests it.
#[tokio::test]
async fn a_new_model_describes_no_track_again_without_a_request() {
    use crate::support::TestApp;
    let world = World::new().await;
    let csv = "isrc,title,artist\nUSRC17607839,Song,Singer\n";
    let app = TestApp::start(world.clone(), [], &[]).await;
    app.app.start_ingestion().await.unwrap();
    assert_eq!(app.import("library.csv", csv.into()).await.0, 201);
    all_described(&app).await;
    app.app.stop().await;

    let with_model = [("SEGUE_MODEL", "openai:scripted")];
    let app = TestApp::start(world.clone(), [says("no JSON")], &with_model).await;
    app.app.start_ingestion().await.unwrap();
    all_described(&app).await;
    assert!(app.model.asked().is_empty(), "a start with a model describes nothing again");
    assert_eq!(app.app.library().describe_again().await.unwrap(), 1);
    let mut news = app.app.library().ingest_news();
    while app.model.asked().is_empty() {
        news.changed().await.unwrap();
    }
}

/// Waits until no step remains.
async fn all_described(app: &crate::support::TestApp) {
    let owner = engine::UserId::new("local");
    let mut news = app.app.library().ingest_news();
    loop {
        let status = app.app.library().ingest_status(&owner).await.unwrap();
        if status.steps.values().all(|step| step.left() == 0) && !status.steps.is_empty() {
            return;
        }
        let _ = tokio::time::timeout(std::time::Duration::from_millis(200), news.changed()).await;
    }
}
