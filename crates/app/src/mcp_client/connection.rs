//! The connection to one MCP server: opened when needed, and reopened after a failure.

use std::sync::Arc;

use engine::{Effect, ToolError};
use rmcp::{
    RoleClient, ServiceError, ServiceExt,
    model::{CallToolRequestParams, CallToolResult, Tool},
    service::RunningService,
    transport::{
        StreamableHttpClientTransport, TokioChildProcess, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::Value;
use tokio::{process::Command, sync::Mutex, time::timeout};
use tokio_util::sync::CancellationToken;

use super::bounded::BoundedClient;
use crate::config::{McpServer, STARTED_BY_SEGUE};

type Client = Arc<RunningService<RoleClient, ()>>;

pub(super) struct Connection {
    pub(super) server: McpServer,
    client: Mutex<Option<Client>>,
}

impl Connection {
    pub(super) fn new(server: McpServer) -> Self {
        Self { server, client: Mutex::default() }
    }

    pub(super) async fn tools(&self) -> anyhow::Result<Vec<Tool>> {
        let work = async { Ok(self.client().await?.list_all_tools().await?) };
        timeout(self.server.timeout(), work).await.unwrap_or_else(|_| Err(anyhow::anyhow!("it did not answer in time")))
    }

    /// Makes one call. A call that may have changed something is never repeated.
    pub(super) async fn call(
        &self,
        tool: &str,
        input: &Value,
        effect: Effect,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, ToolError> {
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = input.as_object().cloned();
        let work = async {
            let client = self.client().await?;
            anyhow::Ok(client.call_tool(request).await)
        };
        let answer = tokio::select! {
            answer = timeout(self.server.timeout(), work) => answer,
            () = cancel.cancelled() => return Err(ToolError::Refused("Interrupted".into())),
        };
        match answer {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(ServiceError::McpError(refusal)))) => Err(super::refusal(&self.server.name, &refusal.message)),
            Ok(Ok(Err(error))) => Err(self.broken(effect, &error).await),
            Ok(Err(error)) => Err(self.broken(effect, &error).await),
            Err(_) => Err(self.broken(effect, &"it did not answer in time").await),
        }
    }

    async fn broken(&self, effect: Effect, error: &(dyn std::fmt::Display + Sync)) -> ToolError {
        tracing::warn!("The MCP server {} failed: {error}", self.server.name);
        *self.client.lock().await = None;
        let message = format!("{} is temporarily unavailable", self.server.name);
        match effect {
            Effect::Reads => ToolError::Unavailable { message, retryable: true },
            Effect::Writes | Effect::Deletes => {
                ToolError::Refused(format!("{message}; it is unknown whether the change was made"))
            }
        }
    }

    async fn client(&self) -> anyhow::Result<Client> {
        let mut held = self.client.lock().await;
        if let Some(client) = held.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        let client = Arc::new(self.connect().await?);
        *held = Some(client.clone());
        Ok(client)
    }

    async fn connect(&self) -> anyhow::Result<RunningService<RoleClient, ()>> {
        let Some(url) = &self.server.url else {
            let (program, arguments) = self.server.command.split_first().expect("a server without url has a command");
            let mut command = Command::new(program);
            // The program gets only the variables that every program needs and those that its table names: no keys
            // and no database URL of Segue.
            command.args(arguments).env_clear().env(STARTED_BY_SEGUE, "1").kill_on_drop(true);
            command.envs(self.server.environment.iter().map(|(name, value)| (name, value.expose())));
            return Ok(().serve(TokioChildProcess::new(command)?).await?);
        };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
        if let Some(token) = &self.server.token {
            config = config.auth_header(token.expose());
        }
        // A redirect could send the token to another host.
        let http = http_client::client_builder().redirect(reqwest::redirect::Policy::none()).build()?;
        Ok(().serve(StreamableHttpClientTransport::with_client(BoundedClient(http), config)).await?)
    }
}
