//! Long conversations: they work with a small context, and prompts stay short with a large one.

use doubles::model::{Family, ModelDouble, Step};
use engine::UserId;
use serde_json::{Value, json};

use super::started;
use crate::support::{TestApp, World};

/// Characters per token of a search result.
const CHARS_PER_TOKEN: f64 = 3.2;

async fn talk(app: &TestApp, double: &ModelDouble, n_turns: usize) {
    let mut conversation = Value::Null;
    for n in 0..n_turns {
        double.play([
            Step::calls("semanticSearch", json!({"query": format!("rain and night {n}")})),
            Step::says("The first three fit best."),
        ]);
        let mut ask = json!({"message": format!("songs about rain, number {n}")});
        if !conversation.is_null() {
            ask["conversationId"] = conversation.clone();
        }
        let frames = app.chat(ask).await;
        assert_eq!(frames.last().unwrap()["type"], "message_end", "turn {n}: {:?}", frames.last());
        conversation = frames[0]["conversationId"].clone();
    }
}

async fn stage(context_tokens: usize) -> (TestApp, ModelDouble, doubles::Running) {
    let double = ModelDouble::new(Family::LlamaCpp, "small").context(context_tokens, CHARS_PER_TOKEN);
    let running = doubles::serve(double.router()).await.unwrap();
    let url = format!("http://{}/v1", running.addr);
    let app = started(&World::new().await, &[("OPENAI_BASE_URL", &url)]).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    (app, double, running)
}

#[tokio::test]
async fn forty_turns_with_a_context_of_4096_tokens_never_fail() {
    let (app, double, _running) = stage(4_096).await;
    talk(&app, &double, 40).await;
}

#[tokio::test]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
async fn a_follow_up_at_turn_20_reads_at_most_8000_tokens() {
    let (app, double, _running) = stage(131_072).await;
    talk(&app, &double, 20).await;
    let asked = double.asked();
    let last = asked.last().unwrap();
    let n_chars: usize = ["messages", "tools"].iter().map(|field| last[*field].to_string().chars().count()).sum();
    let n_tokens = (n_chars as f64 / CHARS_PER_TOKEN) as usize;
    println!("tokens (estimated): follow-up at turn 20 {n_tokens}");
    assert!(n_tokens <= 8_000, "{n_tokens}");
}
