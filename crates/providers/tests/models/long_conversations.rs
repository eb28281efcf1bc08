//! Conversations that are longer than the model's context never fail, and the server accepts every prompt.

use doubles::model::{Family, ModelDouble, Step};
use engine::{
    Block, Effect, End, Limits, Message, MessageId, NoJournal, Prompt, Report, StopReason, Tool, ToolContext,
    ToolError, Toolbox, Turn, UserId, run,
};
use providers::probe;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::families::{openai, start};

/// Find tracks by words.
#[derive(Deserialize, JsonSchema)]
struct Input {
    query: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    tracks: Vec<String>,
}

impl Report for Output {
    fn summary(&self) -> String {
        "Found 20 tracks".into()
    }
    fn count(&self) -> usize {
        self.tracks.len()
    }
}

struct Search;

impl Tool for Search {
    const NAME: &'static str = "semanticSearch";
    const TITLE: &'static str = "Search";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    /// The measured length of a default search result: 20 tracks of about 270 characters.
    async fn call(&self, _: &ToolContext, input: Input) -> Result<Output, ToolError> {
        Ok(Output { tracks: (0..20).map(|n| format!("{n} {} {}", input.query, "track ".repeat(44))).collect() })
    }
}

/// A turn with one search and its answer. The history grows as in the app.
async fn turn(model: &dyn engine::Model, history: &mut Vec<Message>, question: String) -> End {
    let toolbox = Toolbox::default().with(Search);
    history.push(Message::user(question));
    let prompt = Prompt {
        system: "You find music. ".repeat(40).into(),
        tools: toolbox.specs().into(),
        messages: history.clone(),
        may_call_tools: true,
    };
    let turn = Turn {
        model,
        toolbox: &toolbox,
        journal: &NoJournal,
        owner: UserId::new("u"),
        message: MessageId::new(),
        prompt,
        limits: Limits::default().for_model(model),
        progress: engine::Progress::default(),
        elapsed: std::time::Duration::ZERO,
        cancel: CancellationToken::new(),
    };
    let finished = run(turn, &mut |_| {}).await;
    let content = finished.content.into_iter().map(|block| match block {
        Block::ToolResult { tool_use_id, content, is_error } => {
            let content = toolbox.for_model("semanticSearch", &content).into();
            Block::ToolResult { tool_use_id, content, is_error }
        }
        other => other,
    });
    history.push(Message::assistant(content.collect()));
    finished.end
}

/// Forty turns with a search each, against a server that refuses prompts over its context.
async fn forty_turns(family: Family, is_probed: bool, chars_per_token: f64) {
    let double = ModelDouble::new(family, "m").context(4_096, chars_per_token);
    let running = start(&double).await;
    let model = openai(&running);
    if is_probed {
        double.play([Step::says("I cannot.")]);
        probe(&model).await.expect("an answer");
    }
    let mut history = Vec::new();
    for n in 0..40 {
        // A refused request consumes no step of the script, so that every turn plays the same two steps.
        double.play([
            Step::calls("semanticSearch", json!({"query": format!("query {n}")})),
            Step::says("Here they are."),
        ]);
        let question = if n % 10 == 9 { "long words ".repeat(900) } else { format!("Find me music for evening {n}") };
        let end = turn(&model, &mut history, question).await;
        assert_eq!(end, End::Answered(StopReason::Complete), "{family:?}, probed: {is_probed}, turn {n}");
    }
    let asked = double.asked();
    let last = asked.last().expect("requests")["messages"].to_string();
    assert!(last.contains("earlier exchanges are left out") || last.contains("[shortened"), "{last}");
}

#[tokio::test]
async fn forty_turns_with_a_small_context_never_fail() {
    for family in [Family::LlamaCpp, Family::LmStudio, Family::Vllm, Family::OpenAi] {
        forty_turns(family, true, 4.0).await;
        forty_turns(family, false, 4.0).await;
    }
}

#[tokio::test]
async fn a_tokenizer_that_needs_twice_as_many_tokens_is_measured_during_the_conversation() {
    forty_turns(Family::LlamaCpp, true, 1.9).await;
    forty_turns(Family::LlamaCpp, false, 1.9).await;
}
