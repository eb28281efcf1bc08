//! `[mcp.<name>]` in `segue.toml`: the tools of another server, and their permissions.

use std::time::Duration;

use engine::Effect;
use serde::Deserialize;

use super::Secret;
use crate::agents::{DEFAULT_AGENT, agent, agent_ids};

/// Set for every server that we start. If that server is Segue with the same configuration, it must not start its
/// servers again.
pub(crate) const STARTED_BY_SEGUE: &str = "SEGUE_STARTED_BY_SEGUE";

/// One server. `url` or `command`, not both.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// The name of its table; its tools are called `<name>__<tool>`.
    #[serde(skip)]
    pub name: String,
    /// URL of the server (streamable HTTP).
    #[serde(default)]
    pub url: Option<String>,
    /// Command that starts the server (stdio): the program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// The environment variable with a bearer token for `url`.
    #[serde(default)]
    pub token_env: Option<String>,
    /// The value of that variable.
    #[serde(skip)]
    pub(crate) token: Option<Secret>,
    /// Further environment variables for a server that `command` starts.
    #[serde(default)]
    pub env: Vec<String>,
    /// The environment of a server that `command` starts: the variables that every program needs, and those in `env`.
    #[serde(skip)]
    pub(crate) environment: Vec<(String, Secret)>,
    /// Tools that users may also call without an agent, over `/api/tools` and `/mcp`. These calls need no consent.
    #[serde(default)]
    pub direct: Vec<String>,
    /// Which agents may use the server.
    #[serde(default = "default_agents")]
    pub agents: Vec<String>,
    /// The tools that may be used. If it is not set, all tools that only read.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

fn default_agents() -> Vec<String> {
    vec![DEFAULT_AGENT.into()]
}

fn ten_seconds() -> u64 {
    10_000
}

/// The same variables that other MCP clients pass on.
const NEEDED_BY_PROGRAMS: [&str; 8] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

impl McpServer {
    pub fn parse(name: &str, table: toml::Value, environment: impl Fn(&str) -> Option<Secret>) -> Result<Self, String> {
        let mut server: Self = table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err("a server's name has only letters, digits and hyphens".into());
        }
        if server.url.is_some() != server.command.is_empty() {
            return Err("set either url or command".into());
        }
        if let Some(agent) = server.agents.iter().find(|id| agent(id).is_none()) {
            return Err(format!("there is no agent '{agent}'; the agents are: {}", agent_ids()));
        }
        if let Some(variable) = &server.token_env {
            server.token = Some(environment(variable).ok_or_else(|| format!("the variable {variable} is not set"))?);
        }
        for variable in &server.env {
            let value = environment(variable).ok_or_else(|| format!("the variable {variable} is not set"))?;
            server.environment.push((variable.clone(), value));
        }
        let needed = NEEDED_BY_PROGRAMS.iter().filter_map(|name| Some(((*name).to_owned(), environment(name)?)));
        server.environment.extend(needed);
        server.name = name.to_owned();
        Ok(server)
    }

    pub(crate) fn allows(&self, tool: &str, effect: Effect) -> bool {
        match &self.tools {
            Some(names) => names.iter().any(|name| name == tool),
            None => effect == Effect::Reads,
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

#[cfg(test)]
mod tests {
    use engine::Effect;

    use super::{McpServer, Secret};

    fn parse(text: &str) -> Result<McpServer, String> {
        McpServer::parse("weather", toml::from_str(text).unwrap(), |name| (name == "KEY").then(|| Secret::new("k")))
    }

    #[test]
    fn a_server_has_a_url_or_a_command_and_unknown_settings_are_rejected() {
        let cases = [
            ("url = 'https://a.example/mcp'", true),
            ("command = ['weather', '--stdio']\nagents = ['tasks']", true),
            ("url = 'https://a.example/mcp'\ntoken_env = 'KEY'", true),
            ("", false),
            ("url = 'https://a.example/mcp'\ncommand = ['weather']", false),
            ("url = 'https://a.example/mcp'\nagents = ['unknown']", false),
            ("url = 'https://a.example/mcp'\ntoken_env = 'OTHER'", false),
            ("url = 'https://a.example/mcp'\nspeed = 3", false),
            ("command = ['weather']\nenv = ['KEY']", true),
            ("command = ['weather']\nenv = ['OTHER']", false),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn tools_that_change_data_must_be_listed() {
        let open = parse("url = 'https://a.example/mcp'").unwrap();
        let listed = parse("url = 'https://a.example/mcp'\ntools = ['alert']").unwrap();
        assert!(open.allows("forecast", Effect::Reads) && !open.allows("alert", Effect::Writes));
        assert!(listed.allows("alert", Effect::Deletes) && !listed.allows("forecast", Effect::Reads));
    }
}
