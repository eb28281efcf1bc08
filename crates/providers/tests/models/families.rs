//! Each family of servers, through a double with its documented responses: how it differs, and that Segue gets an
//! answer or an error with the cause.

use doubles::{
    Running,
    model::{Family, Fault, ModelDouble, Step},
    serve,
};
use engine::{Block, CallId, Delta, Message, Model, ModelError, Prompt};
use futures::StreamExt;
use providers::{AnthropicModel, Capabilities, Http, OpenAiModel, ToolCalling, probe, remember};
use serde_json::json;

use crate::{
    provider::{HTTP, KEY, hello},
    spellings::{offered, summed_up},
};

const LOCAL: [Family; 4] = [Family::Ollama, Family::LlamaCpp, Family::LmStudio, Family::Vllm];

pub(crate) async fn start(double: &ModelDouble) -> Running {
    serve(double.router()).await.expect("a port")
}

pub(crate) fn openai(running: &Running) -> OpenAiModel {
    let http = HTTP.with(Http::clone);
    OpenAiModel::new(http, &format!("http://{}/v1", running.addr), None, "m").expect("a good address")
}

fn anthropic(running: &Running) -> AnthropicModel {
    let http = HTTP.with(Http::clone);
    AnthropicModel::new(http, &format!("http://{}", running.addr), KEY, "m").expect("a good address")
}

fn model_of(family: Family, running: &Running) -> Box<dyn Model> {
    match family {
        Family::Anthropic => Box::new(anthropic(running)),
        _ => Box::new(openai(running)),
    }
}

fn with_tools() -> Prompt {
    Prompt { tools: offered(), ..hello() }
}

#[tokio::test]
async fn every_family_answers_calls_and_thinks() {
    for (_, family) in Family::ALL {
        let double = ModelDouble::new(family, "m");
        let running = start(&double).await;
        let model = model_of(family, &running);
        double.play([
            Step::says("Hello there.").thinking("Hm."),
            Step::calls("add_task", json!({"title": "grün"})).thinking("Hm."),
            Step::says("<think>Hm.</think>\n\nHello there."),
        ]);
        assert_eq!(summed_up(&*model, &with_tools()).await, r#"text "Hello there.""#, "{family:?}");
        assert_eq!(summed_up(&*model, &with_tools()).await, r#"call add_task {"title":"grün"}"#, "{family:?}");
        let deltas: Vec<_> = model.reply(&with_tools()).collect().await;
        let thought = deltas.iter().filter_map(|delta| match delta {
            Ok(Delta::Reasoning(text)) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(thought.collect::<String>(), "Hm.", "{family:?}");
    }
}

/// The table of differences: what a server does differently, and that the answer still arrives.
#[tokio::test]
async fn each_difference_is_handled_by_its_rule() {
    let habits = [
        Fault::Whole,
        Fault::NoUsage,
        Fault::NoDone,
        Fault::NoFinishReason,
        Fault::Parts,
        Fault::Message,
        Fault::NoStreamOptions,
        Fault::NoStream,
        Fault::NoSystem,
        Fault::NoTools,
    ];
    for family in LOCAL {
        for habit in habits {
            let double = ModelDouble::new(family, "m").always(habit);
            let running = start(&double).await;
            let model = openai(&running);
            double.play([Step::says("One."), Step::says("Two.")]);
            assert_eq!(summed_up(&model, &with_tools()).await, r#"text "One.""#, "{family:?}, {habit:?}");
            let n_first = double.asked().len();
            assert_eq!(summed_up(&model, &with_tools()).await, r#"text "Two.""#, "{family:?}, {habit:?}");
            assert_eq!(double.asked().len(), n_first + 1, "{family:?}, {habit:?}: what was learned is kept");
            // Another model object for the same endpoint knows it too.
            double.play([Step::says("Three.")]);
            assert_eq!(summed_up(&openai(&running), &with_tools()).await, r#"text "Three.""#);
            assert_eq!(double.asked().len(), n_first + 2, "{family:?}, {habit:?}: by endpoint");
        }
    }
}

#[tokio::test]
async fn several_differences_of_one_server_are_learned_one_after_the_other() {
    let double = ModelDouble::new(Family::LlamaCpp, "m")
        .always(Fault::NoTools)
        .always(Fault::NoStreamOptions)
        .always(Fault::NoSystem);
    let running = start(&double).await;
    double.play([Step::says("Hello.")]);
    assert_eq!(summed_up(&openai(&running), &with_tools()).await, r#"text "Hello.""#);
    let asked = double.asked();
    let last = asked.last().expect("a request");
    assert!(last.get("tools").is_none() && last.get("stream_options").is_none(), "{last}");
    assert_eq!(last["messages"][0]["role"], "user", "{last}");
}

#[tokio::test]
async fn a_server_without_tools_gets_them_in_the_prompt_and_calls_are_text() {
    let id = CallId::new();
    let answer = vec![
        Block::ToolUse { id, name: "list_tasks".into(), input: json!({"filter": "all"}) },
        Block::ToolResult { tool_use_id: id, content: json!("nothing to do").into(), is_error: false },
    ];
    let messages = vec![Message::user("What is left?"), Message::assistant(answer)];
    let prompt = Prompt { messages, ..with_tools() };
    for family in LOCAL {
        let double = ModelDouble::new(family, "m").always(Fault::NoTools);
        let running = start(&double).await;
        let said = "<tool_call>{\"name\": \"add_task\", \"arguments\": {\"title\": \"rest\"}}</tool_call>";
        double.play([Step::says(said)]);
        assert_eq!(summed_up(&openai(&running), &prompt).await, r#"call add_task {"title":"rest"}"#, "{family:?}");
        let asked = double.asked();
        let [refused, taken] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(refused.get("tools").is_some() && taken.get("tools").is_none());
        let text = |at: usize| taken["messages"][at]["content"].as_str().unwrap_or_default().to_owned();
        assert!(text(0).contains("\"name\":\"add_task\"") && text(0).contains("<tool_call>"), "{}", text(0));
        assert_eq!(text(2), r#"<tool_call>{"arguments":{"filter":"all"},"name":"list_tasks"}</tool_call>"#);
        assert_eq!(text(3), "<tool_response>\nnothing to do\n</tool_response>");
    }
}

#[tokio::test]
async fn a_prompt_over_the_context_is_an_overflow_with_its_limit_in_every_family() {
    let long = Prompt { messages: vec![Message::user("x".repeat(9_900))], ..with_tools() };
    for (_, family) in Family::ALL {
        let double = ModelDouble::new(family, "m").context(2_048, 4.0);
        let running = start(&double).await;
        let model = model_of(family, &running);
        let first = model.reply(&long).filter(|delta| std::future::ready(!is_life(delta))).next().await;
        match first.expect("a delta") {
            // Ollama silently cuts the prompt, so it answers.
            Ok(_) => assert_eq!(family, Family::Ollama),
            Err(ModelError::ContextOverflow { limit, .. }) => {
                assert_eq!(limit, Some(2_048), "{family:?}");
                let window = model.window().expect("a window");
                assert_eq!(window.context_tokens, Some(2_048), "{family:?}: the limit is remembered");
            }
            Err(other) => panic!("{family:?}: {other:?}"),
        }
        assert_eq!(double.asked().len(), 1, "{family:?}: asking the same again would not help");
    }
}

fn is_life(delta: &Result<Delta, ModelError>) -> bool {
    matches!(delta, Ok(Delta::Text(text)) if text.is_empty()) || matches!(delta, Ok(Delta::Progress { .. }))
}

#[tokio::test]
async fn an_overflow_inside_the_stream_is_reported_as_overflow() {
    for family in [Family::LmStudio, Family::LlamaCpp, Family::Vllm] {
        let double = ModelDouble::new(family, "m");
        let running = start(&double).await;
        double.play([Step::default().fault(Fault::OverflowInStream)]);
        let transcript = summed_up(&openai(&running), &with_tools()).await;
        assert!(transcript.starts_with("ContextOverflow { limit: Some("), "{family:?}: {transcript}");
        assert_eq!(double.asked().len(), 1, "{family:?}");
    }
}

#[tokio::test]
async fn the_cause_of_an_error_is_reported_for_every_family() {
    for (_, family) in Family::ALL {
        for (fault, expected) in [(Fault::NoModel, "NoSuchModel"), (Fault::Unauthorized, "Unauthorized")] {
            let double = ModelDouble::new(family, "m");
            let running = start(&double).await;
            double.play([Step::default().fault(fault)]);
            let transcript = summed_up(&*model_of(family, &running), &with_tools()).await;
            assert!(transcript.starts_with(expected), "{family:?}, {fault:?}: {transcript}");
        }
    }
}

#[tokio::test]
async fn an_empty_reply_is_retried_once_and_then_reported() {
    for (_, family) in Family::ALL {
        let double = ModelDouble::new(family, "m");
        let running = start(&double).await;
        let model = model_of(family, &running);
        double.play([Step::default().thinking("Hm."), Step::says("Hello.")]);
        assert_eq!(summed_up(&*model, &with_tools()).await, r#"text "Hello.""#, "{family:?}");
        double.play([Step::default(), Step::says("<tools></tools>"), Step::says("never asked")]);
        assert_eq!(summed_up(&*model, &with_tools()).await, "EmptyReply", "{family:?}");
        assert_eq!(double.asked().len(), 4, "{family:?}");
    }
}

#[tokio::test]
async fn a_server_without_end_marks_is_recognised_by_the_probe() {
    let double = ModelDouble::new(Family::LlamaCpp, "m").always(Fault::Unmarked);
    let running = start(&double).await;
    let model = openai(&running);
    double.play((0..3).map(|_| Step::says("Hello.")));
    let transcript = summed_up(&model, &with_tools()).await;
    assert_eq!(transcript, "text \"Hello.\"\nUnavailable(\"its stream was cut\")", "without a probe it may be cut");
    double.play((0..5).map(|_| Step::calls("report_number", json!({"number": 7}))));
    let found = probe(&model).await.expect("an answer");
    assert!(found.ends_unmarked, "{found:?}");
    let double_two = ModelDouble::new(Family::LlamaCpp, "m").always(Fault::Unmarked);
    double_two.play([Step::says("Hello.")]);
    let running = start(&double_two).await;
    let restarted = openai(&running);
    remember(&restarted, &found);
    assert_eq!(summed_up(&restarted, &with_tools()).await, r#"text "Hello.""#);
}

#[tokio::test]
async fn the_probe_describes_a_model_in_one_line() {
    let call = || Step::calls("report_number", json!({"number": 7}));
    let as_text = || Step::says(r#"{"name": "report_number", "arguments": {"number": 7}}"#);
    let cases = [
        (Family::Ollama, call(), vec![], "m on Ollama: streams, calls tools natively, context 8192 tokens"),
        (Family::LlamaCpp, as_text(), vec![], "m on llama.cpp: streams, calls tools as text, context 8192 tokens"),
        (
            Family::LmStudio,
            call().thinking("The user wants me to report a number."),
            vec![],
            "m on LM Studio: streams, calls tools natively, context 8192 tokens, sends its reasoning",
        ),
        (
            Family::Vllm,
            as_text(),
            vec![Fault::NoTools, Fault::Whole],
            "m on vLLM: does not stream, calls tools as text, context 8192 tokens",
        ),
        (
            Family::OpenAi,
            Step::says("I cannot."),
            vec![],
            "m on an OpenAI-compatible server: streams, calls no tools, context size unknown",
        ),
    ];
    for (family, step, habits, expected) in cases {
        let double = habits.into_iter().fold(ModelDouble::new(family, "m"), ModelDouble::always).context(8_192, 4.0);
        let running = start(&double).await;
        double.play([step]);
        let found = probe(&openai(&running)).await.expect("an answer");
        // The speed of a double is meaningless.
        let found = Capabilities { tokens_per_second: None, ..found };
        assert_eq!(found.to_string(), expected);
    }
    let double = ModelDouble::new(Family::Anthropic, "m");
    let running = start(&double).await;
    double.play([call()]);
    let found = probe(&anthropic(&running)).await.expect("an answer");
    assert_eq!((found.tools, found.streams), (ToolCalling::Native, true));
}

#[tokio::test]
async fn the_probe_result_decides_the_form_of_the_request() {
    let double = ModelDouble::new(Family::LlamaCpp, "m").context(8_192, 4.0);
    let running = start(&double).await;
    let model = openai(&running);
    assert_eq!(model.window().expect("a window").context_tokens, None);
    double.play([Step::says("I cannot.")]);
    probe(&model).await.expect("an answer");
    assert_eq!(model.window().expect("a window").context_tokens, Some(8_192));
    assert!(model.is_local());
}

#[tokio::test]
async fn the_ratio_of_characters_to_tokens_is_measured() {
    let double = ModelDouble::new(Family::LlamaCpp, "m").context(100_000, 1.9);
    let running = start(&double).await;
    let model = openai(&running);
    let prompt = Prompt { messages: vec![Message::user("word ".repeat(4_000))], ..with_tools() };
    for _ in 0..6 {
        summed_up(&model, &prompt).await;
    }
    let ratio = model.window().expect("a window").chars_per_token;
    assert!((ratio - 1.9).abs() < 0.15, "{ratio}");
}

#[test]
fn loopback_and_private_addresses_are_local() {
    let http = HTTP.with(Http::clone);
    let cases = [
        ("http://127.0.0.1:11434/v1", true),
        ("http://localhost:1234/v1", true),
        ("http://[::1]:8080", true),
        ("http://192.168.1.20:8000/v1", true),
        ("http://10.0.0.5/v1", true),
        ("http://ollama:11434/v1", true),
        ("http://gpu.local:8080/v1", true),
        ("https://api.openai.com/v1", false),
        ("http://8.8.8.8/v1", false),
        ("https://models.example.com/v1", false),
    ];
    for (url, expected) in cases {
        let model = OpenAiModel::new(http.clone(), url, None, "m").expect("a good address");
        assert_eq!(model.is_local(), expected, "{url}");
    }
}

/// An HTML page or another API at the URL is not retried and not accepted as a model.
#[tokio::test]
async fn a_server_that_is_not_a_model_server_is_recognised() {
    for (content_type, body) in [("text/html", "<p>Welcome</p>"), ("application/json", r#"{"ok": true}"#)] {
        let answer = crate::provider::Answer::new("200 OK", &[&format!("content-type: {content_type}")], body);
        let provider = crate::provider::Provider::start([answer]).await;
        let model = OpenAiModel::new(HTTP.with(Http::clone), &provider.url, None, "m").expect("a good address");
        let transcript = summed_up(&model, &hello()).await;
        assert!(transcript.starts_with("NotAModelServer"), "{content_type}: {transcript}");
        assert_eq!(provider.received().len(), 1);
    }
}
