//! The double of Anthropic for the real binary, on a port of its own.

use std::{ops::Deref, time::Duration};

use doubles::{
    Running,
    model::{Family, ModelDouble, Pieces, Scenario, Step},
    serve,
};
use serde_json::json;

/// Larger than any prompt of a test.
const CONTEXT_TOKENS: usize = 1_000_000_000;

pub(crate) struct Upstream {
    pub(crate) url: String,
    double: ModelDouble,
    _server: Running,
}

impl Upstream {
    /// First reply: some words and one `add_task`; second reply: more words. Each word takes `pace`.
    pub(crate) async fn start(pace: Duration, n_words: usize) -> Self {
        Self::calling("add_task", pace, n_words).await
    }

    pub(crate) async fn calling(tool: &str, pace: Duration, n_words: usize) -> Self {
        let upstream =
            Self::playing([Scenario::always(words_and_call(n_words, tool, json!({"title": "$message"})))]).await;
        upstream.set_pace(pace);
        upstream
    }

    pub(crate) async fn playing(scenarios: impl IntoIterator<Item = Scenario>) -> Self {
        let double = ModelDouble::new(Family::Anthropic, "test").context(CONTEXT_TOKENS, 4.0);
        double.play_scenarios(scenarios.into_iter().collect());
        Self::of(double).await
    }

    pub(crate) async fn of(double: ModelDouble) -> Self {
        let server = serve(double.router()).await.expect("a port");
        Self { url: format!("http://{}", server.addr), double, _server: server }
    }

    pub(crate) fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("SEGUE_MODEL", "anthropic:test".into()),
            ("ANTHROPIC_API_KEY", "test-key".into()),
            ("ANTHROPIC_BASE_URL", self.url.clone()),
        ]
    }

    /// The model of each call.
    pub(crate) fn models(&self) -> Vec<String> {
        let model = |request: &serde_json::Value| request["model"].as_str().unwrap_or_default().to_owned();
        self.asked().iter().map(model).collect()
    }
}

impl Deref for Upstream {
    type Target = ModelDouble;

    fn deref(&self) -> &ModelDouble {
        &self.double
    }
}

/// A reply of some words and one call, and a reply of as many words after its result.
pub(crate) fn words_and_call(n_words: usize, tool: &str, arguments: serde_json::Value) -> [Step; 2] {
    let words: String = (0..n_words).map(|n| format!("word{n} ")).collect();
    let says = Step { output_tokens: Some(20), pieces: vec![Pieces::default()], ..Step::says(&words) };
    [says.clone().and_calls(tool, arguments), says]
}
