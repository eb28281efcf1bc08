//! The corpus of answers, from models and written by hand, and the error rate of the detector.

#![allow(clippy::print_stdout, reason = "the test prints the error rates")]

use engine::{Block, CallId, Message, Prompt, Reviewer};
use serde_json::json;

use super::Claims;
use crate::agents::agent;

struct Case<'a> {
    is_claim: bool,
    agent: &'a str,
    tool: &'a str,
    result: &'a str,
    answer: String,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let case = |line| {
        let [claim, agent, tool, result, answer] =
            <[&str; 5]>::try_from(str::splitn(line, 5, '|').collect::<Vec<_>>()).expect("five fields");
        Case { is_claim: claim == "yes", agent, tool, result, answer: answer.replace("\\n", "\n") }
    };
    lines.map(case).collect()
}

fn is_doubted(case: &Case) -> bool {
    let prompt =
        Prompt { system: "".into(), tools: [].into(), messages: vec![Message::user("please")], may_call_tools: true };
    let agent = agent(case.agent).expect("an agent");
    let claims = Claims {
        writers: ["add_task", "delete_task", "complete_task", "suggestPlaylist"].map(Into::into).into(),
        ..Claims::of(agent, &prompt)
    };
    let id = CallId::new();
    let mut answer = Vec::new();
    if !case.tool.is_empty() {
        answer.push(Block::ToolUse { id, name: case.tool.to_owned(), input: json!({}) });
        answer.push(Block::ToolResult { tool_use_id: id, content: json!(case.result).into(), is_error: false });
    }
    answer.push(Block::Text { text: case.answer.clone() });
    claims.doubt(&answer, 0).is_some()
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn false_alarms_are_rare_and_most_false_claims_are_found() {
    let cases = cases(include_str!("corpus.txt"));
    let wrong = |is_claim: bool| {
        let of_kind: Vec<_> = cases.iter().filter(|case| case.is_claim == is_claim).collect();
        let wrong: Vec<_> =
            of_kind.iter().filter(|case| is_doubted(case) != is_claim).map(|case| case.answer.as_str()).collect();
        (of_kind.len(), wrong)
    };
    let ((n_true, alarms), (n_false, missed)) = (wrong(false), wrong(true));
    let rate = |n: usize, of: usize| 100.0 * n as f64 / of as f64;
    println!("false alarms: {} of {n_true} ({:.1} %) {alarms:?}", alarms.len(), rate(alarms.len(), n_true));
    println!("missed: {} of {n_false} ({:.1} %) {missed:?}", missed.len(), rate(missed.len(), n_false));
    assert!(n_true >= 40 && n_false >= 25, "{n_true} {n_false}");
    assert!(rate(alarms.len(), n_true) <= 3.0, "{alarms:?}");
    assert!(rate(missed.len(), n_false) <= 10.0, "{missed:?}");
}

/// A failed write does not confirm a claim.
#[test]
fn a_failed_call_does_not_confirm_a_claim() {
    let agent = agent("tasks").expect("an agent");
    let prompt =
        Prompt { system: "".into(), tools: [].into(), messages: vec![Message::user("add milk")], may_call_tools: true };
    let claims = Claims { writers: vec!["add_task".into()], ..Claims::of(agent, &prompt) };
    let id = CallId::new();
    let call = Block::ToolUse { id, name: "add_task".into(), input: json!({}) };
    let text = Block::Text { text: "Done.".into() };
    let result = |is_error| Block::ToolResult { tool_use_id: id, content: json!("x").into(), is_error };
    assert!(claims.doubt(&[call.clone(), result(true), text.clone()], 0).is_some());
    assert!(claims.doubt(&[call, result(false), text], 0).is_none());
}
