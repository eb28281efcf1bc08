//! The utterances, and the checks after each.

use anyhow::Context;

const TABLE: &str = include_str!("utterances.txt");

pub(crate) struct Utterance {
    pub(crate) agent: &'static str,
    /// Titles of the tasks that exist before the utterance.
    pub(crate) tasks: Vec<&'static str>,
    pub(crate) words: &'static str,
    /// `None`: an answer without a call is correct.
    pub(crate) tool: Option<&'static str>,
    pub(crate) checks: Vec<Check>,
}

#[derive(Clone, Copy)]
pub(crate) enum Check {
    Open(&'static str),
    Done(&'static str),
    Gone(&'static str),
    Same,
    Playlist,
    Found,
}

pub(crate) fn all() -> anyhow::Result<Vec<Utterance>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| parse(line).with_context(|| format!("'{line}' cannot be read"))).collect()
}

fn parse(line: &'static str) -> anyhow::Result<Utterance> {
    let fields: Vec<_> = line.split('|').collect();
    let [agent, tasks, words, tool, checks] = fields[..] else { anyhow::bail!("five fields are needed") };
    let checks = checks.split(';').map(|check| {
        Ok(match check.split_once(' ').unwrap_or((check, "")) {
            ("open", title) => Check::Open(title),
            ("done", title) => Check::Done(title),
            ("gone", title) => Check::Gone(title),
            ("same", _) => Check::Same,
            ("playlist", _) => Check::Playlist,
            ("found", _) => Check::Found,
            (other, _) => anyhow::bail!("there is no check '{other}'"),
        })
    });
    Ok(Utterance {
        agent,
        tasks: tasks.split(';').filter(|title| !title.is_empty()).collect(),
        words,
        tool: Some(tool).filter(|tool| *tool != "none"),
        checks: checks.collect::<anyhow::Result<_>>()?,
    })
}
