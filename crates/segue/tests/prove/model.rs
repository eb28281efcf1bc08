//! The model of the proof: the double of Anthropic with the script of `script.json`. It finds its position in the script
//! from the prompt alone, like a real model.

use std::sync::LazyLock;

use doubles::{
    Running,
    model::{Family, ModelDouble, Pieces, Scenario, Script, Step},
};

use crate::plan::Plan;

/// The output tokens of a step.
pub(crate) const TOKENS_PER_STEP: u64 = 20;

/// A track in the library of the user who asks for a playlist.
pub(crate) const ISRC: &str = "QZAAA2400001";

/// Milliseconds for a word of an answer that is not long.
const PACE_MS: f64 = 12.0;

static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let Script::Scenarios(mut scenarios) = Script::parse(include_str!("script.json")).unwrap() else {
        panic!("script.json contains scenarios")
    };
    scenarios.iter_mut().flat_map(|scenario| &mut scenario.steps).for_each(|step| {
        step.pieces = pieces(step.pace_ms);
        step.output_tokens = Some(usize::try_from(TOKENS_PER_STEP).unwrap());
    });
    scenarios
});

/// Every second reply is divided into other pieces. This shows whether a reader saw text that the log does not contain.
/// The pace of a long answer is the same in both divisions.
fn pieces(pace_ms: f64) -> Vec<Pieces> {
    let in_words = |pace_ms| Pieces { letters: None, pace_ms: Some(pace_ms) };
    let in_letters = |letters, pace_ms| Pieces { letters: Some(letters), pace_ms: Some(pace_ms) };
    if pace_ms > 0.0 {
        return vec![in_words(pace_ms), in_letters(5, pace_ms)];
    }
    vec![in_words(PACE_MS), in_letters(3, PACE_MS / 3.0)]
}

/// The steps of the answer to a question.
pub(crate) fn script(question: &str) -> Vec<Step> {
    let scenario = SCENARIOS.iter().find(|scenario| scenario.is_for(question)).unwrap();
    scenario.steps.iter().map(|step| step.about(question)).collect()
}

/// The whole text of an answer. The text of a step that the user decides is for a server that asks the model for it.
pub(crate) fn text(steps: &[Step]) -> String {
    steps.iter().filter(|step| !step.given).map(|step| step.text.as_str()).collect()
}

/// Starts the server and returns the settings of the Segue servers that call it. It serves until the program ends.
pub(crate) async fn start(plan: Plan) -> Vec<(&'static str, String)> {
    let double = ModelDouble::new(Family::Anthropic, "scripted").context(1_000_000_000, 4.0).forgetful();
    double.play_scenarios(SCENARIOS.clone());
    let server: Running = doubles::serve(double.router()).await.unwrap();
    let url = format!("http://{}", server.addr);
    std::mem::forget(server);
    let own = [
        ("SEGUE_MODEL", "anthropic:scripted".into()),
        ("ANTHROPIC_API_KEY", "test-key".into()),
        ("ANTHROPIC_BASE_URL", url),
        // Each connection is a process of PostgreSQL, and a server that lives for a second needs few.
        ("SEGUE_DATABASE_POOL", "4".into()),
    ];
    own.into_iter().chain(plan.settings()).collect()
}
