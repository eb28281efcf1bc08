//! The agents: their instructions and tools.

mod discover;
mod instructions;
mod tasks;

/// The instructions and tools for one kind of conversation. The instructions do not change during a conversation.
pub struct Agent {
    pub id: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub instructions: &'static str,
    /// Instructions that are added if the catalogue can be searched.
    pub(crate) with_catalogue: &'static str,
    pub tools: &'static [&'static str],
    /// The question above an empty conversation.
    pub greeting: &'static str,
    /// The text in the empty message field.
    pub placeholder: &'static str,
    /// Example messages that work without configuration.
    pub examples: &'static [&'static str],
}

pub(crate) use instructions::Circumstances;

pub const AGENTS: &[Agent] = &[discover::AGENT, tasks::AGENT];

/// The agent of a new conversation whose request names none.
pub const DEFAULT_AGENT: &str = AGENTS[0].id;

pub fn agent(id: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.id == id)
}

/// The ids of all agents, for error messages.
pub(crate) fn agent_ids() -> String {
    AGENTS.iter().map(|agent| agent.id).collect::<Vec<_>>().join(", ")
}
