//! Which step of which scenario answers a request, and what it takes from the tool results.

use serde_json::{Value, json};

use super::script::{Scenario, Step};

/// At most this many items of a list come from the results.
const MAX_ITEMS: usize = 5;

/// The last question of a request, and how far its turn has come.
pub(super) struct Question {
    pub(super) text: String,
    /// Answers since the question.
    n_answers: usize,
    n_all_questions: usize,
    n_all_answers: usize,
    results: String,
}

impl Question {
    pub(super) fn of(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asks = |message: &Value| message["role"] == "user" && !texts(message, "text").is_empty();
        let at = messages.iter().rposition(asks);
        let after = at.map_or(messages, |at| &messages[at + 1..]);
        let results = after.iter().map(|message| match message["role"].as_str() {
            Some("tool") => texts(message, "text"),
            Some("user") => texts(message, "tool_result"),
            _ => String::new(),
        });
        let n_answers = |messages: &[Value]| messages.iter().filter(|message| message["role"] == "assistant").count();
        Self {
            text: at.map(|at| texts(&messages[at], "text")).unwrap_or_default(),
            n_answers: n_answers(after),
            n_all_questions: messages.iter().filter(|message| asks(message)).count(),
            n_all_answers: n_answers(messages),
            results: results.collect::<Vec<_>>().join("\n"),
        }
    }

    pub(super) fn scenario<'a>(&self, scenarios: &'a [Scenario]) -> Option<&'a Scenario> {
        let text = self.text.to_lowercase();
        let is_meant = |scenario: &&Scenario| {
            scenario.when.is_empty() || scenario.when.iter().any(|words| text.contains(&words.to_lowercase()))
        };
        scenarios.iter().find(is_meant)
    }

    /// The step for this request, with the values of the tool results in it.
    pub(super) fn step(&self, scenario: &Scenario) -> Step {
        let Some(step) = scenario.steps.get(self.n_answers) else { return Step::says("That is all.") };
        let mut step = step.clone();
        step.text = step.text.replace("$questions", &self.n_all_questions.to_string());
        step.text = step.text.replace("$answers", &self.n_all_answers.to_string());
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

/// The texts of a message: its content itself, or the parts of this type.
fn texts(message: &Value, part_type: &str) -> String {
    match &message["content"] {
        Value::String(text) if part_type == "text" => text.clone(),
        Value::Array(parts) => {
            let parts = parts.iter().filter(|part| part["type"] == part_type);
            let text = |part: &Value| match part_type {
                "text" => part["text"].as_str().unwrap_or_default().to_owned(),
                _ => part["content"].as_str().map_or_else(|| part["content"].to_string(), str::to_owned),
            };
            parts.map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
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
        Value::String(text) => json!(text.replace("$1", first)),
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
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Script, parse_script};

    const SCRIPT: &str = r#"{"scenarios": [
        {"when": ["playlist"], "steps": [
            {"calls": [{"name": "search", "arguments": {"query": "rain"}}]},
            {"find": "isrc", "text": "First $1.", "calls": [{"name": "save", "arguments": {
                "title": "Lamplight", "tracks": [{"$each": {"isrc": "$1", "why": "it fits"}}]}}]}]},
        {"when": ["count"], "steps": [{"text": "$questions questions, $answers answers."}]},
        {"steps": [{"text": "Anything else."}]}]}"#;

    fn scenarios() -> Vec<Scenario> {
        match parse_script(SCRIPT).expect("a script") {
            Script::Scenarios(scenarios) => scenarios,
            Script::Steps(_) => panic!("it has scenarios"),
        }
    }

    fn step(messages: Value) -> Step {
        let (scenarios, question) = (scenarios(), Question::of(&json!({"messages": messages})));
        question.step(question.scenario(&scenarios).expect("a scenario"))
    }

    #[test]
    fn the_question_chooses_the_scenario_and_the_answers_since_it_choose_the_step() {
        let question = json!({"role": "user", "content": "Make a PLAYLIST"});
        let earlier = json!({"role": "assistant", "content": "hello"});
        assert_eq!(step(json!([earlier, question])).calls[0].name, "search");
        assert_eq!(step(json!([{"role": "user", "content": "hi"}])).text, "Anything else.");
        let answered = json!([question, {"role": "assistant"}, {"role": "assistant"}]);
        assert_eq!(step(answered).text, "That is all.");
    }

    #[test]
    fn a_text_contains_the_number_of_questions_and_answers_of_the_request() {
        let said = |role: &str, text: &str| json!({"role": role, "content": text});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "content": "{}"}]});
        let messages = json!([said("user", "hi"), said("assistant", "hello"), result, said("user", "count")]);
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
