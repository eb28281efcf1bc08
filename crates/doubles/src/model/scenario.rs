//! Which step of which scenario answers a request, and what it takes from the request.

use serde_json::{Value, json};

use crate::script::{Scenario, Step};

/// At most this many items of a list come from the results.
const MAX_ITEMS: usize = 5;

/// How Segue asks a model for the rest of a reply whose server died.
const GO_ON: &str = "Your answer above was cut off";

/// The last question of a request, and how far its turn has come.
pub(super) struct Question {
    pub(super) text: String,
    /// The part of the reply that was sent before a server died, if the request asks for the rest.
    pub(super) said: Option<String>,
    /// Tool results since the question.
    n_results: usize,
    n_all_questions: usize,
    n_all_answers: usize,
    results: String,
}

impl Question {
    pub(super) fn of(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let (messages, said) = match messages {
            [before @ .., answer, last] if last_text(last).starts_with(GO_ON) => (before, Some(end_of(answer))),
            all => (all, None),
        };
        let asks = |message: &Value| message["role"] == "user" && !last_text(message).is_empty();
        let at = messages.iter().rposition(asks);
        let after = at.map_or(messages, |at| &messages[at + 1..]);
        let results: Vec<String> = after.iter().flat_map(results).collect();
        Self {
            text: at.map(|at| last_text(&messages[at])).unwrap_or_default(),
            said,
            n_results: results.len(),
            n_all_questions: messages.iter().filter(|message| asks(message)).count(),
            n_all_answers: messages.iter().filter(|message| message["role"] == "assistant").count(),
            results: results.join("\n"),
        }
    }

    pub(super) fn scenario<'a>(&self, scenarios: &'a [Scenario]) -> Option<&'a Scenario> {
        scenarios.iter().find(|scenario| scenario.is_for(&self.text))
    }

    /// The step for this request: the first without all its results. It contains values of the request.
    pub(super) fn step(&self, scenario: &Scenario) -> Step {
        let mut n_calls = 0;
        let done = scenario.steps.iter().take_while(|step| {
            n_calls += step.calls.len();
            !step.calls.is_empty() && n_calls <= self.n_results
        });
        let Some(step) = scenario.steps.get(done.count()) else { return Step::says("That is all.") };
        let mut step = step.about(&self.text);
        step.text = step.text.replace("$questions", &self.n_all_questions.to_string());
        step.text = step.text.replace("$answers", &self.n_all_answers.to_string());
        if step.given {
            step.calls.clear();
        }
        let Some(member) = step.find.take() else { return step };
        let found = values(&self.results, &member);
        let first = found.first().map_or("none", String::as_str);
        step.text = step.text.replace("$1", first);
        for call in &mut step.calls {
            call.arguments = filled(&call.arguments, first, &found);
        }
        step
    }
}

impl Scenario {
    /// Whether it is meant for this question.
    pub fn is_for(&self, question: &str) -> bool {
        let text = question.to_lowercase();
        let first = question.split_whitespace().next().unwrap_or_default();
        let is_always = self.when.is_empty() && self.begins.is_empty();
        is_always
            || self.begins.iter().any(|word| word == first)
            || self.when.iter().any(|words| text.contains(&words.to_lowercase()))
    }
}

impl Step {
    /// The step with the user's message in it.
    #[must_use]
    pub fn about(&self, message: &str) -> Self {
        let rest = message.split_once(' ').map_or("", |(_, rest)| rest);
        let with_message = |text: &str| text.replace("$message", message).replace("$rest", rest);
        let mut step = self.clone();
        step.text = with_message(&step.text);
        for call in &mut step.calls {
            call.arguments = each_text(&call.arguments, &with_message);
        }
        step
    }
}

/// The text of a message. One message may contain the results of the previous turn, or an earlier question without an
/// answer, and then the question.
fn last_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().rev().find_map(|part| part["text"].as_str()).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// The text at the end of an answer.
fn end_of(answer: &Value) -> String {
    let content = &answer["content"];
    let last = content.as_array().and_then(|parts| parts.last()).map_or(content, |part| &part["text"]);
    last.as_str().unwrap_or_default().to_owned()
}

/// The tool results of a message.
fn results(message: &Value) -> Vec<String> {
    let text = |content: &Value| content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    match (message["role"].as_str(), &message["content"]) {
        (Some("tool"), content) => vec![text(content)],
        (Some("user"), Value::Array(parts)) => {
            let parts = parts.iter().filter(|part| part["type"] == "tool_result");
            parts.map(|part| text(&part["content"])).collect()
        }
        _ => Vec::new(),
    }
}

/// The different texts that a member of this name has anywhere in the results, in order.
fn values(results: &str, member: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for rest in results.split(&format!("\"{member}\"")).skip(1) {
        let value = rest.trim_start().strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
        if let Some((value, _)) = value.and_then(|rest| rest.split_once('"'))
            && !found.iter().any(|known| known == value)
        {
            found.push(value.to_owned());
        }
    }
    found.truncate(MAX_ITEMS);
    found
}

fn filled(value: &Value, first: &str, found: &[String]) -> Value {
    match value {
        Value::Array(items) => match items.as_slice() {
            [Value::Object(item)] if item.contains_key("$each") => {
                found.iter().map(|one| filled(&item["$each"], one, found)).collect()
            }
            items => items.iter().map(|item| filled(item, first, found)).collect(),
        },
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), filled(value, first, found)));
            Value::Object(members.collect())
        }
        other => each_text(other, &|text| text.replace("$1", first)),
    }
}

/// A value with every text in it replaced.
fn each_text(value: &Value, replaced: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => json!(replaced(text)),
        Value::Array(items) => items.iter().map(|item| each_text(item, replaced)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), each_text(value, replaced)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    const SCRIPT: &str = r#"{"scenarios": [
        {"when": ["playlist"], "steps": [
            {"calls": [{"name": "search", "arguments": {"query": "rain"}}]},
            {"find": "isrc", "text": "First $1.", "calls": [{"name": "save", "arguments": {
                "title": "Lamplight", "tracks": [{"$each": {"isrc": "$1", "why": "it fits"}}]}}]}]},
        {"when": ["count"], "steps": [{"text": "$questions questions, $answers answers."}]},
        {"begins": ["two"], "steps": [
            {"text": "Both: $rest.", "calls": [{"name": "a", "arguments": {"title": "$message"}}, {"name": "b", "arguments": {}}]},
            {"text": "Not so."}]},
        {"begins": ["allow"], "steps": [
            {"given": true, "text": "I was not meant to be asked.", "calls": [{"name": "a", "arguments": {}}]},
            {"text": "It is done."}]},
        {"steps": [{"text": "Anything else."}]}]}"#;

    fn step(messages: Value) -> Step {
        let Ok(Script::Scenarios(scenarios)) = Script::parse(SCRIPT) else { panic!("it has scenarios") };
        let question = Question::of(&json!({"messages": messages}));
        question.step(question.scenario(&scenarios).expect("a scenario"))
    }

    fn said(role: &str, text: &str) -> Value {
        json!({"role": role, "content": text})
    }

    fn result() -> Value {
        json!({"type": "tool_result", "content": "{}"})
    }

    #[test]
    fn the_question_chooses_the_scenario_and_the_results_since_it_choose_the_step() {
        let question = said("user", "Make a PLAYLIST");
        assert_eq!(step(json!([said("assistant", "hello"), question])).calls[0].name, "search");
        assert_eq!(step(json!([said("user", "hi")])).text, "Anything else.");
        let results = json!([question, {"role": "user", "content": [result(), result()]}]);
        assert_eq!(step(results).text, "That is all.");
    }

    #[test]
    fn a_step_is_over_when_all_its_calls_have_results() {
        let question = said("user", "two of them");
        let first = step(json!([question]));
        assert_eq!(
            (first.text.as_str(), &first.calls[0].arguments),
            ("Both: of them.", &json!({"title": "two of them"}))
        );
        let with = |results: Value| step(json!([question, {"role": "user", "content": results}]));
        assert_eq!(with(json!([result()])).text, "Both: of them.");
        assert_eq!(with(json!([result(), result()])).text, "Not so.");
        assert_eq!(step(json!([said("user", "twofold")])).text, "Anything else.", "only the whole word");
    }

    #[test]
    fn a_question_may_follow_the_results_of_the_turn_before() {
        let asked = json!({"role": "user", "content": [result(), {"type": "text", "text": "two of them"}]});
        assert_eq!(step(json!([asked])).text, "Both: of them.");
    }

    #[test]
    fn the_calls_of_the_user_are_not_called_by_the_model() {
        let asked = step(json!([said("user", "allow")]));
        assert_eq!((asked.text.as_str(), asked.calls.len()), ("I was not meant to be asked.", 0));
        let decided = json!([said("user", "allow"), {"role": "user", "content": [result()]}]);
        assert_eq!(step(decided).text, "It is done.");
    }

    #[test]
    fn a_request_for_the_rest_of_a_reply_is_about_the_same_question() {
        let cut = [
            said("user", "two of them"),
            said("assistant", "Both: "),
            said("user", "Your answer above was cut off by…"),
        ];
        let question = Question::of(&json!({"messages": cut}));
        assert_eq!((question.text.as_str(), question.said.as_deref()), ("two of them", Some("Both: ")));
        let blocks = json!({"role": "assistant", "content": [{"type": "tool_use"}, {"type": "text", "text": "Bo"}]});
        let question = Question::of(&json!({"messages": [cut[0], blocks, cut[2]]}));
        assert_eq!(question.said.as_deref(), Some("Bo"));
    }

    #[test]
    fn a_text_contains_the_number_of_questions_and_answers_of_the_request() {
        let results = json!({"role": "user", "content": [result()]});
        let messages = json!([said("user", "hi"), said("assistant", "hello"), results, said("user", "count")]);
        assert_eq!(step(messages).text, "2 questions, 1 answers.");
    }

    #[test]
    fn a_step_uses_values_of_the_tool_results_of_both_formats() {
        let question = json!({"role": "user", "content": [{"type": "text", "text": "a playlist"}]});
        let output = r#"data: {"tracks": [{"isrc": "A1"}, {"isrc" : "B2"}, {"isrc": "A1"}]}"#;
        let of_tool = json!({"role": "tool", "tool_call_id": "1", "content": output});
        let of_user = json!({"role": "user", "content": [{"type": "tool_result", "content": output}]});
        for result in [of_tool, of_user] {
            let step = step(json!([question, {"role": "assistant"}, result]));
            assert_eq!(step.text, "First A1.");
            let tracks = json!([{"isrc": "A1", "why": "it fits"}, {"isrc": "B2", "why": "it fits"}]);
            assert_eq!(step.calls[0].arguments, json!({"title": "Lamplight", "tracks": tracks}));
        }
    }
}
