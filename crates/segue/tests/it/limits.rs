//! Limits per user and per connection.

use std::time::Duration;

use axum::{Json, Router, extract::State, routing::post};
use doubles::model::{Pieces, Scenario, Step};
use engine::script::{Reply, calls, says};
use reqwest::Method;
use segue::server::ConnectionLimits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::support::{Process, TestApp, Upstream, World, claims, signed};

fn many(reply: &Reply, n: usize) -> Vec<Reply> {
    vec![reply.clone(); n]
}

fn hello() -> Option<Value> {
    Some(json!({"message": "hello", "agent": "tasks"}))
}

/// Status, `Retry-After` in seconds, and body.
async fn limited(response: reqwest::Response) -> (u16, u64, Value) {
    let seconds = response.headers().get("retry-after").map_or(0, |value| value.to_str().unwrap().parse().unwrap());
    (response.status().as_u16(), seconds, response.json().await.unwrap())
}

#[tokio::test]
async fn a_user_over_the_message_rate_is_limited_and_other_users_are_not() {
    let app = TestApp::shared(many(&says("hi"), 9), &[("SEGUE_RATE_PER_MINUTE", "3")]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let first = json!({"message": "hello", "agent": "tasks", "clientMessageId": "m-1"});
    assert_eq!(ann.request(Method::POST, "/api/chat/stream", Some(first.clone())).await.status(), 200);
    ann.say("two").await;
    ann.say("three").await;
    let (status, seconds, body) = limited(ann.request(Method::POST, "/api/chat/stream", hello()).await).await;
    assert_eq!((status, body["error"]["code"].as_str()), (429, Some("RATE_LIMITED")), "{body}");
    assert!((1..=60).contains(&seconds), "{seconds}");
    let (status, ..) = limited(ann.request(Method::POST, "/api/ann/chat", Some(json!({"message": "hi"}))).await).await;
    assert_eq!(status, 429, "every protocol has the same limit");
    let again = ann.request(Method::POST, "/api/chat/stream", Some(first)).await;
    assert_eq!(again.status(), 200, "a repeated message is not counted again");
    assert_eq!(ann.get("/api/conversations").await["conversations"].as_array().unwrap().len(), 3);
    assert_eq!(bob.say("hello").await.last().unwrap()["type"], "message_end");
}

#[tokio::test]
async fn a_user_with_the_most_conversations_starts_no_other_and_goes_on_with_those() {
    let app = TestApp::shared(many(&says("hi"), 9), &[("SEGUE_MAX_CONVERSATIONS", "2")]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let first = ann.say("one").await;
    let two = json!({"message": "two", "agent": "tasks", "clientMessageId": "m2"});
    ann.request(Method::POST, "/api/chat/stream", Some(two.clone())).await.text().await.unwrap();
    let (status, body) = ann.answer(Method::POST, "/api/chat/stream", hello()).await;
    assert_eq!(status, 409, "{body}");
    assert!(
        body["error"]["message"].as_str().unwrap().contains("as many conversations as this server allows"),
        "{body}"
    );
    let again = ann.request(Method::POST, "/api/chat/stream", Some(two)).await;
    assert_eq!(again.status(), 200, "a message that is sent again begins no conversation");
    let conversation = &first[0]["conversationId"];
    let on = json!({"message": "more", "conversationId": conversation});
    assert_eq!(ann.request(Method::POST, "/api/chat/stream", Some(on)).await.status(), 200);
    bob.say("one").await;
    let path = format!("/api/conversations/{}", conversation.as_str().unwrap());
    assert_eq!(ann.answer(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(ann.answer(Method::POST, "/api/chat/stream", hello()).await.0, 409, "the trash counts");
    assert_eq!(ann.answer(Method::DELETE, "/api/trash", None).await.0, 204);
    ann.say("three").await;
}

#[tokio::test]
async fn the_limit_of_running_answers_holds_for_every_protocol_and_node() {
    let world = World::new().await;
    let settings = [("SEGUE_CONCURRENT_TURNS", "3")];
    let hanging = || many(&says("hm").then_hangs(), 40);
    let one = TestApp::start(world.clone(), hanging(), &settings).await;
    let other = TestApp::start(world, hanging(), &settings).await;
    let started = futures::future::join_all((0..16).map(|n| {
        let app = if n % 2 == 0 { &one } else { &other };
        app.post("/api/chat/stream", hello().unwrap())
    }))
    .await;
    let running: Vec<_> = started.iter().filter(|response| response.status() == 200).collect();
    assert_eq!(running.len(), 3, "{:?}", started.iter().map(reqwest::Response::status).collect::<Vec<_>>());
    assert!(started.iter().all(|response| matches!(response.status().as_u16(), 200 | 429)));
    let (status, seconds, body) = limited(other.post("/api/chat/stream", hello().unwrap()).await).await;
    assert_eq!((status, body["error"]["code"].as_str()), (429, Some("RATE_LIMITED")));
    assert!(seconds > 0);
    let mut stream =
        started.into_iter().find(|response| response.status() == 200).map(crate::support::Stream::new).unwrap();
    let turn = stream.next().await.unwrap()["turnId"].as_str().unwrap().to_owned();
    one.post(&format!("/api/turns/{turn}/stop"), json!({})).await;
    stream.rest().await;
    assert_eq!(other.post("/api/chat/stream", hello().unwrap()).await.status(), 200, "one running answer has ended");
}

#[tokio::test]
async fn daily_tokens_are_checked_before_the_model_call_and_deleting_a_conversation_refunds_none() {
    let app = TestApp::shared(many(&says("one two three"), 9), &[("SEGUE_TOKENS_PER_DAY", "20")]).await;
    let ann = app.person("ann");
    let first = ann.say("a").await;
    ann.say("b").await;
    let conversation = first[0]["conversationId"].as_str().unwrap();
    ann.answer(Method::DELETE, &format!("/api/conversations/{conversation}"), None).await;
    let (status, seconds, body) = limited(ann.request(Method::POST, "/api/chat/stream", hello()).await).await;
    assert_eq!((status, body["error"]["code"].as_str()), (429, Some("RATE_LIMITED")), "{body}");
    assert!((1..=86_400).contains(&seconds));
    assert_eq!(app.model.asked().len(), 2, "the model was not asked");
    assert_eq!(app.person("bob").say("c").await.last().unwrap()["type"], "message_end");
}

#[tokio::test]
async fn a_regenerated_answer_counts_as_a_message() {
    let app = TestApp::shared(many(&says("hi"), 9), &[("SEGUE_RATE_PER_MINUTE", "3")]).await;
    let ann = app.person("ann");
    let chat = uuid::Uuid::new_v4().to_string();
    let message = json!({"id": "m-1", "role": "user", "parts": [{"type": "text", "text": "hello"}]});
    let submit = json!({"id": chat, "messages": [message], "trigger": "submit-message"});
    let first = ann.request(Method::POST, "/api/ai/chat", Some(submit)).await;
    assert_eq!(first.status(), 200);
    // While the first answer runs, a regeneration would only attach to it.
    first.text().await.unwrap();
    let again = json!({"id": chat, "messages": [message], "trigger": "regenerate-message"});
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let response = ann.request(Method::POST, "/api/ai/chat", Some(again.clone())).await;
        statuses.push(response.status().as_u16());
        response.text().await.unwrap();
    }
    assert_eq!(statuses, [200, 200, 429, 429, 429]);
}

#[tokio::test]
async fn a_stopped_answer_is_charged_what_it_used() {
    let app =
        TestApp::shared(many(&says("one two three four").then_hangs(), 9), &[("SEGUE_TOKENS_PER_DAY", "400")]).await;
    let ann = app.person("ann");
    let mut n_answers = 0;
    // The agent's prompt alone is larger than the daily tokens.
    loop {
        let response = ann.request(Method::POST, "/api/chat/stream", hello()).await;
        if response.status() == 429 {
            break;
        }
        let mut stream = crate::support::Stream::new(response);
        let turn = stream.next().await.unwrap()["turnId"].as_str().unwrap().to_owned();
        while stream.next().await.unwrap()["type"] != "text_delta" {}
        ann.answer(Method::POST, &format!("/api/turns/{turn}/stop"), Some(json!({}))).await;
        stream.rest().await;
        n_answers += 1;
        assert!(n_answers < 5, "stopped answers are not charged");
    }
    assert_eq!(app.model.asked().len(), n_answers);
}

#[tokio::test]
async fn tokens_are_checked_before_every_model_call_of_a_turn() {
    let replies = [calls("list_tasks", json!({})), calls("list_tasks", json!({"filter": "all"})), says("never said")];
    let app = TestApp::shared(replies, &[("SEGUE_TOKENS_PER_DAY", "1")]).await;
    let frames = app.person("ann").say("go").await;
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("error"), &json!("RATE_LIMITED")), "{last}");
    assert!(last["message"].as_str().unwrap().contains("tokens are used up"), "{last}");
    assert_eq!(app.model.asked().len(), 1, "the first model call used up the daily tokens");
    assert_eq!(
        frames.iter().filter(|frame| frame["type"] == "tool_call_end").count(),
        1,
        "the finished tool call is stored"
    );
}

#[tokio::test]
async fn descriptions_are_charged_to_the_owner_of_the_tracks() {
    let music = doubles::crowd::crowd(5);
    let sources = crate::support::Sources::start(&music).await;
    let model = vec![("SEGUE_MODEL", "openai:scripted"), ("SEGUE_BACKGROUND_TOKENS_PER_DAY", "1")];
    let described = json!({"shortDescription": "A song", "interpretation": "About rain.", "tags": ["rain"]});
    let replies = many(&says(&described.to_string()), 9);
    let app = TestApp::start(World::new().await, replies, &[sources.borrowed(), model].concat()).await;
    app.app.start_ingestion().await.unwrap();
    let (status, report) = app.import("all.csv", doubles::crowd::table(&music).into()).await;
    assert_eq!(status, 201, "{report}");
    let stream = crate::support::Stream::new(app.request(Method::GET, "/api/index/stream", None).await);
    let events = match tokio::time::timeout(Duration::from_secs(20), stream.rest()).await {
        Ok(events) => events,
        Err(_) => panic!("ingestion does not end: {:#} {}", app.get("/api/index").await, app.model.asked().len()),
    };
    assert_eq!(events.last().unwrap()["tracks"], 5);
    // The first description uses up the daily tokens; the other tracks get an extract, which is marked as one.
    assert_eq!(app.model.asked().len(), 1);
}

#[tokio::test]
async fn concurrent_calls_are_counted_one_by_one() {
    let app = TestApp::shared([], &[("SEGUE_RATE_PER_MINUTE", "1")]).await;
    let ann = app.person("ann");
    let calls = (0..30).map(|_| ann.answer(Method::POST, "/api/tools/list_tasks", Some(json!({}))));
    let statuses: Vec<_> = futures::future::join_all(calls).await.into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
}

#[tokio::test]
async fn calls_without_an_agent_are_limited_too() {
    let app = TestApp::shared([], &[("SEGUE_RATE_PER_MINUTE", "1")]).await;
    let ann = app.person("ann");
    let call = async || ann.answer(Method::POST, "/api/tools/list_tasks", Some(json!({}))).await;
    for _ in 0..10 {
        assert_eq!(call().await.0, 200);
    }
    assert_eq!(call().await.0, 429);
    assert_eq!(app.person("bob").answer(Method::POST, "/api/tools/list_tasks", Some(json!({}))).await.0, 200);
}

#[tokio::test]
async fn the_third_identical_call_of_a_turn_is_rejected_with_a_reason_for_the_model() {
    let add = || calls("add_task", json!({"title": "again"}));
    let app = TestApp::scripted([add(), add(), add(), says("I will stop.")]).await;
    let frames = app.say("go").await;
    let failed: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_call_error").collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0]["error"].as_str().unwrap().contains("already called with exactly this input"));
    let prompt = format!("{:?}", app.model.asked().last().unwrap().messages);
    assert!(prompt.contains("Use the earlier result, or change the input"), "{prompt}");
    let rows = app.world.texts("SELECT status FROM tool_calls ORDER BY created_at").await;
    assert_eq!(rows, ["done", "done", "refused"], "a call that was refused has a row too");
    assert_eq!(app.get("/api/tasks").await["tasks"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_open_streams_of_one_user_are_limited() {
    let app = TestApp::shared([says("hm").then_hangs()], &[]).await;
    let ann = app.person("ann");
    let turn = ann.open_chat("go").await.next().await.unwrap()["turnId"].as_str().unwrap().to_owned();
    let path = format!("/api/turns/{turn}/stream");
    let mut streams = Vec::new();
    let refused = loop {
        let response = ann.request(Method::GET, &path, None).await;
        if response.status() != 200 {
            break response;
        }
        streams.push(response);
        assert!(streams.len() < 100, "the number of open streams is not limited");
    };
    assert!((60..=64).contains(&streams.len()), "{}", streams.len());
    let (status, seconds, _) = limited(refused).await;
    assert_eq!((status, seconds), (429, 5));
    assert_eq!(app.person("bob").answer(Method::GET, "/api/me", None).await.0, 200);
    drop(streams);
    while ann.answer(Method::GET, "/api/me", None).await.0 != 200 {
        tokio::task::yield_now().await;
    }
}

/// A separate server with small limits, for the same app.
async fn tight(app: &TestApp, limits: ConnectionLimits) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = segue::router::router(app.app.clone());
    tokio::spawn(async move { segue::server::serve(listener, router, limits, std::future::pending()).await.unwrap() });
    address
}

async fn raw(address: std::net::SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn status_line(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    stream.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn request_heads_that_are_too_large_or_too_slow_are_rejected() {
    let app = TestApp::scripted([]).await;
    let limits = ConnectionLimits { head_time: Duration::from_millis(200), ..ConnectionLimits::new(16) };
    let address = tight(&app, limits).await;
    let large = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-large: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(status_line(&mut raw(address, &large).await).await, "HTTP/1.1 431");
    let many: String = (0..100).map(|n| format!("x-{n}: 1\r\n")).collect();
    let many = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    assert_eq!(status_line(&mut raw(address, &many).await).await, "HTTP/1.1 431");
    let mut slow = raw(address, "GET /healthz HTTP/1.1\r\nhost: loc").await;
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).await.unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains(" 200 "), "a head that never ends is not answered");
    assert_eq!(
        status_line(&mut raw(address, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await).await,
        "HTTP/1.1 200"
    );
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let app = TestApp::scripted([]).await;
    let address = tight(&app, ConnectionLimits::new(2)).await;
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut first = raw(address, request).await;
    let mut second = raw(address, request).await;
    assert_eq!(status_line(&mut first).await, "HTTP/1.1 200");
    assert_eq!(status_line(&mut second).await, "HTTP/1.1 200");
    let mut third = raw(address, request).await;
    let waited = tokio::time::timeout(Duration::from_millis(100), third.readable()).await;
    assert!(waited.is_err(), "both places are taken");
    drop(first);
    assert_eq!(status_line(&mut third).await, "HTTP/1.1 200");
}

#[tokio::test]
async fn a_stalled_reader_is_disconnected_and_can_resume() {
    let text = format!("{} ", "x".repeat(1000)).repeat(16_000);
    let app = TestApp::shared([says(text.trim_end())], &[]).await;
    let limits = ConnectionLimits { stalled_write: Duration::from_millis(300), ..ConnectionLimits::new(16) };
    let address = tight(&app, limits).await;
    let ann = app.person("ann");
    let frames = ann.say("tell me everything").await;
    let turn = frames[0]["turnId"].as_str().unwrap();
    let token = signed(&claims("ann"));
    let request =
        format!("GET /api/turns/{turn}/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut reader = raw(address, &request).await;
    // The client reads one byte and then nothing, until the server has closed the connection.
    reader.read_exact(&mut [0]).await.unwrap();
    while app.app.turns.n_live() > 0 {
        tokio::task::yield_now().await;
    }
    let cut = async {
        loop {
            // Writing to a closed connection fails; reading would end the stall.
            if reader.write_all(b" ").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), cut).await.expect("the connection is cut");
    let resumed =
        crate::support::Stream::new(ann.request(Method::GET, &format!("/api/turns/{turn}/stream?after=5"), None).await);
    assert_eq!(resumed.rest().await, frames[5..], "nothing is lost");
}

/// A model server that sends `n` pieces of `n_letters` letters at once.
async fn model_that_sends(n: usize, n_letters: usize) -> Upstream {
    let pieces = vec![Pieces { letters: Some(n_letters), pace_ms: None }];
    let step = Step { repeat: Some(n), pieces, output_tokens: Some(9), ..Step::says(&"x".repeat(n_letters)) };
    Upstream::playing([Scenario::always([step])]).await
}

#[tokio::test]
async fn stalled_readers_cost_little_memory() {
    const N_READERS: u64 = 50;
    let world = World::new().await;
    let model = model_that_sends(2_000, 2_000).await;
    let server = Process::start(&world, &model.settings()).await;
    let said = server.post("/api/chat/stream", json!({"message": "tell me everything", "agent": "tasks"})).await;
    let said = said.text().await.unwrap();
    let start: Value = serde_json::from_str(said.lines().next().unwrap().strip_prefix("data: ").unwrap()).unwrap();
    let (turn, n_bytes) = (start["turnId"].as_str().unwrap(), said.len());
    let whole = async || reqwest::get(format!("{}/api/turns/{turn}/stream", server.url)).await.unwrap().bytes().await;
    let address = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let mut readers = Vec::new();
    let mut costs = Vec::new();
    // Other work of the server may use memory during one batch, but not during all three.
    for _ in 0..3 {
        // The memory of serving such a turn is not counted for the stalled readers.
        assert!(whole().await.unwrap().len() > n_bytes);
        let before = server.memory();
        for _ in 0..N_READERS {
            let request = format!("GET /api/turns/{turn}/stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
            let mut reader = raw(address, &request).await;
            reader.read_exact(&mut [0]).await.unwrap();
            readers.push(reader);
        }
        // Other users are served meanwhile. By then the stalled readers hold their maximum.
        assert!(whole().await.unwrap().len() > n_bytes);
        costs.push(server.memory().saturating_sub(before) / N_READERS / 1024);
    }
    let n_kib = n_bytes as u64 / 1024;
    println!("slow readers: a stalled stream of {n_kib} KiB costs {costs:?} KiB, in batches of {N_READERS}");
    assert!(costs.iter().any(|cost| *cost < n_kib / 4), "{costs:?} KiB");
}

/// An embeddings server that answers queries with "slow" in them when it may.
#[derive(Clone)]
struct SlowEmbedder {
    n_waiting: watch::Sender<usize>,
    may_answer: watch::Sender<bool>,
}

impl SlowEmbedder {
    async fn start() -> (Self, doubles::Running) {
        let embedder = Self { n_waiting: watch::Sender::new(0), may_answer: watch::Sender::new(false) };
        let router = Router::new().route("/v1/embeddings", post(Self::embed)).with_state(embedder.clone());
        let running = doubles::serve(router).await.unwrap();
        (embedder, running)
    }

    async fn embed(State(this): State<Self>, Json(asked): Json<Value>) -> Json<Value> {
        let texts = asked["input"].as_array().cloned().unwrap_or_default();
        if texts.iter().any(|text| text.as_str().is_some_and(|text| text.contains("slow"))) {
            this.n_waiting.send_modify(|n| *n += 1);
            this.may_answer.subscribe().wait_for(|may| *may).await.unwrap();
        }
        let vectors: Vec<_> = (0..texts.len()).map(|n| json!({"index": n, "embedding": [1.0, 0.0]})).collect();
        Json(json!({ "data": vectors }))
    }
}

#[tokio::test]
async fn a_user_has_as_many_searches_at_once_as_half_of_the_cores() {
    let (embedder, running) = SlowEmbedder::start().await;
    let url = format!("http://{}", running.addr);
    let settings = [("SEGUE_EMBEDDINGS_URL", url.as_str()), ("SEGUE_EMBEDDINGS_MODEL", "two")];
    let app = TestApp::shared([], &settings).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let at_once = (std::thread::available_parallelism().map_or(1, usize::from) / 2).max(1);
    let burst = futures::future::join_all((0..at_once + 3).map(|n| {
        let path = format!("/api/search?q=slow+song+number+{n}");
        let ann = &ann;
        async move { ann.request(Method::GET, &path, None).await.status().as_u16() }
    }));
    let other = async {
        embedder.n_waiting.subscribe().wait_for(|n| *n == at_once).await.unwrap();
        assert_eq!(bob.request(Method::GET, "/api/search?q=rain", None).await.status(), 200, "bob does not wait");
        assert_eq!(*embedder.n_waiting.borrow(), at_once, "the further searches of ann wait for her others");
        embedder.may_answer.send_replace(true);
    };
    let (statuses, ()) = tokio::join!(burst, other);
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert_eq!(*embedder.n_waiting.borrow(), at_once + 3, "all of them are answered");
}
