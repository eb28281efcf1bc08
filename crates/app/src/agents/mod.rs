//! The agents: instructions, and which tools each may use.

mod discover;
mod instructions;
mod tasks;

/// Instructions and tools for one kind of conversation. The instructions never change while a conversation runs.
pub struct Agent {
    pub id: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub instructions: &'static str,
    /// What to add where the catalogue can be searched.
    pub(crate) with_catalogue: &'static str,
    pub tools: &'static [&'static str],
    /// First things to say that work out of the box.
    pub examples: &'static [&'static str],
}

pub(crate) use instructions::Circumstances;

pub const AGENTS: &[Agent] = &[discover::AGENT, tasks::AGENT];

pub fn agent(id: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.id == id)
}
