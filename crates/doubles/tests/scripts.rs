//! What the doubles do with the steps of a script, for each kind of double and as commands.
#![allow(clippy::unwrap_used)]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response},
};
use doubles::{
    fiction,
    lrclib::LrclibDouble,
    model::{Family, Fault, ModelDouble, Scenario, Step},
    otlp::OtlpDouble,
    script::Script,
};
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt;

async fn get(router: &Router, path: &str) -> Response<Body> {
    router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap()
}

fn script(text: &str) -> Script {
    Script::parse(text).unwrap().for_service().unwrap()
}

const SEARCH: &str = "/api/search?q=harbour";

#[tokio::test]
async fn a_service_fails_as_its_script_says_and_then_answers() {
    let double = LrclibDouble::new(fiction::world());
    double.0.play_script(script(
        r#"[{"fault": {"status": 503}, "retryAfter": "9"}, {"body": "<html>", "times": 2}, {}, {"fault": "break"}]"#,
    ));
    let router = double.router();
    let refused = get(&router, SEARCH).await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"9".parse().unwrap()));
    for _ in 0..2 {
        assert_eq!(text(get(&router, SEARCH).await).await, "<html>");
    }
    assert!(text(get(&router, SEARCH).await).await.starts_with('['));
    let broken = get(&router, SEARCH).await;
    assert!(to_bytes(broken.into_body(), 1000).await.is_err(), "the body breaks off");
    assert_eq!(get(&router, SEARCH).await.status(), 200, "the script is over");
    assert_eq!(double.0.requests().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_service_is_slow_or_silent_on_the_paths_that_its_script_names() {
    let double = LrclibDouble::new(fiction::world());
    double.0.play_script(script(
        r#"{"scenarios": [{"when": ["/SEARCH"], "steps": [{"delayMs": 300, "fault": {"status": 500}}, {"fault": "silent"}]}]}"#,
    ));
    let router = double.router();
    assert_eq!(get(&router, "/api/get/1").await.status(), 404);
    let began = Instant::now();
    assert_eq!((get(&router, SEARCH).await.status().as_u16(), began.elapsed()), (500, Duration::from_millis(300)));
    assert!(tokio::time::timeout(Duration::from_secs(600), get(&router, SEARCH)).await.is_err());
    assert_eq!(get(&router, SEARCH).await.status(), 200);
}

#[tokio::test]
async fn a_collector_fails_as_its_script_says() {
    let double = OtlpDouble::default();
    double.play_script(script(r#"[{"fault": {"status": 401}}]"#));
    let post = async || {
        let request = Request::post("/v1/traces").header("content-type", "application/x-protobuf");
        double.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
    };
    assert_eq!((post().await, post().await), (401, 200));
}

fn anthropic(steps: impl IntoIterator<Item = Step>) -> ModelDouble {
    let double = ModelDouble::new(Family::Anthropic, "m").context(1_000_000, 4.0);
    double.play_scenarios(vec![Scenario::always(steps)]);
    double
}

async fn ask(double: &ModelDouble, messages: Value) -> Response<Body> {
    let body = json!({"model": "m", "stream": true, "messages": messages}).to_string();
    let request = Request::post("/v1/messages").header("content-type", "application/json").header("x-api-key", "a-key");
    double.router().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap()
}

fn question() -> Value {
    json!([{"role": "user", "content": "buy milk"}])
}

/// The texts of the deltas of a stream.
fn deltas(stream: &str) -> Vec<String> {
    let events = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let delta = |event: Value| {
        let text = event["delta"]["text"].as_str().or(event["delta"]["partial_json"].as_str());
        text.map(str::to_owned)
    };
    events.filter_map(delta).collect()
}

#[tokio::test]
async fn faults_of_a_model_are_set_and_removed_while_it_runs() {
    let double = anthropic([
        Step { pace_ms: 1.0, ..Step::says("I add it. ") }.and_calls("add_task", json!({"title": "$message"}))
    ]);
    double.set_fault(Some(Fault::Status(529)));
    let refused = ask(&double, question()).await;
    assert_eq!(refused.status(), 529);
    assert!(text(refused).await.contains("overloaded_error"));
    double.set_fault(Some(Fault::Unauthorized));
    assert!(text(ask(&double, question()).await).await.contains("a-key"), "the error repeats the key");
    double.set_fault(Some(Fault::CutInCall));
    let cut = text(ask(&double, question()).await).await;
    assert_eq!(deltas(&cut), ["I ", "add ", "it. ", r##"{"title":""##]);
    assert!(!cut.contains("message_stop"));
    double.set_fault(None);
    let whole = text(ask(&double, question()).await).await;
    assert_eq!(deltas(&whole), ["I ", "add ", "it. ", r#"{"title":"buy milk"}"#]);
    assert!(whole.contains("message_stop"));
    assert_eq!(double.asked().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_open_until_its_client_has_gone() {
    let double = anthropic([Step { pace_ms: 50.0, ..Step::says("one two three") }]);
    let mut stream = ask(&double, question()).await.into_body().into_data_stream();
    stream.next().await.unwrap().unwrap();
    assert_eq!(double.n_open(), 1);
    assert!(double.all_closed().now_or_never().is_none());
    drop(stream);
    double.all_closed().await;
    double.set_fault(Some(Fault::Silent));
    assert!(tokio::time::timeout(Duration::from_secs(600), ask(&double, question())).await.is_err());
    assert_eq!(double.n_open(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_pace_can_be_changed_and_a_silence_comes_after_each_piece() {
    let double = anthropic([Step { pace_ms: 50.0, silence_ms: 1000, ..Step::says("one two") }]);
    for (pace, expected) in [(None, 2100), (Some(Duration::from_millis(7)), 2014)] {
        if let Some(pace) = pace {
            double.set_pace(pace);
        }
        let began = Instant::now();
        text(ask(&double, question()).await).await;
        assert_eq!(began.elapsed(), Duration::from_millis(expected));
    }
}

#[tokio::test]
async fn a_reply_is_continued_and_another_beginning_is_refused() {
    let double = anthropic([Step { pace_ms: 1.0, ..Step::says("one two three ") }]);
    let go_on = |said: &str| {
        let [question, answer] =
            [("user", "count"), ("assistant", said)].map(|(role, text)| json!({"role": role, "content": text}));
        json!([question, answer, {"role": "user", "content": "Your answer above was cut off by a restart of the server."}])
    };
    assert_eq!(deltas(&text(ask(&double, go_on("one ")).await).await), ["two ", "three "]);
    let nothing = text(ask(&double, go_on("one two three ")).await).await;
    assert!(deltas(&nothing).is_empty() && nothing.contains("message_stop"));
    assert_eq!(ask(&double, go_on("eins ")).await.status(), 400);
}

#[tokio::test]
async fn a_model_repeats_a_text_and_breaks_a_connection() {
    let long = Step {
        repeat: Some(3),
        pieces: vec![doubles::model::Pieces { letters: Some(2), pace_ms: None }],
        ..Step::says("xx")
    };
    assert_eq!(deltas(&text(ask(&anthropic([long]), question()).await).await), ["xx", "xx", "xx"]);
    let broken = anthropic([Step::says("one two three").fault(Fault::Break)]);
    assert!(to_bytes(ask(&broken, question()).await.into_body(), 10_000).await.is_err());
}

/// A started command, ended with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doubles"));
    command.args(arguments.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn every_double_is_a_command_that_takes_a_script_and_prints_its_settings() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(br#"[{"fault": {"status": 503}}]"#).unwrap();
    for (name, setting) in [
        ("model --family anthropic", "ANTHROPIC_BASE_URL=http://127"),
        ("model --family ollama", "OPENAI_BASE_URL=http://127"),
        ("tidal", "TIDAL_CLIENT_ID=demo"),
        ("lrclib", "LRCLIB_URL=http://127"),
        ("reccobeats", "RECCOBEATS_URL=http://127"),
        ("musicbrainz", "MUSICBRAINZ_URL=http://127"),
        ("deezer", "DEEZER_URL=http://127"),
        ("qdrant", "QDRANT_URL=http://127"),
        ("otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127"),
    ] {
        let arguments = format!("{name} --listen 127.0.0.1:0 --script {}", file.path().display());
        let mut started = Started(command(&arguments).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(started.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("export {setting}")), "{name}: {line}");
    }
}

#[test]
fn a_command_refuses_the_script_of_another_double() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(br#"[{"text": "hello"}]"#).unwrap();
    for name in ["tidal", "lrclib", "qdrant", "otlp"] {
        let output =
            command(&format!("{name} --listen 127.0.0.1:0 --script {}", file.path().display())).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("only a model server plays this step"), "{name}: {said}");
    }
}
