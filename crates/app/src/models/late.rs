//! A model whose name comes from its server. The server is asked at the start, and again before a reply while the name
//! is unknown.

use std::sync::{Arc, OnceLock};

use engine::{Delta, Model, ModelError, Prompt, Window};
use futures::{StreamExt, stream::BoxStream};
use providers::{Http, Probed, Provider};

use super::{
    choose::{connect, first_model},
    kept::Kept,
};
use crate::config::Endpoint;

/// The model name for a server that lists no models: such a server has one model and ignores the name.
const UNNAMED: &str = "default";

#[derive(Clone)]
pub struct LateModel {
    provider: &'static Provider,
    http: Http,
    server: Endpoint,
    kept: Kept,
    unnamed: Arc<dyn Probed>,
    found: Arc<OnceLock<Arc<dyn Probed>>>,
}

impl LateModel {
    pub(super) fn new(provider: &'static Provider, http: Http, server: &Endpoint, kept: Kept) -> anyhow::Result<Self> {
        let unnamed = connect(provider, http.clone(), server, UNNAMED, &kept)?;
        Ok(Self { provider, http, server: server.clone(), kept, unnamed, found: Arc::default() })
    }

    /// The model with the name from its server.
    pub(super) async fn find(&self) -> Option<Arc<dyn Probed>> {
        let name = first_model(&self.http, &self.server).await?;
        connect(self.provider, self.http.clone(), &self.server, &name, &self.kept).ok()
    }

    pub(super) fn server(&self) -> &str {
        &self.server.url
    }

    /// Why the name is unknown.
    pub(super) fn unnamed(&self) -> String {
        let (server, provider) = (&self.server.url, self.provider.name);
        format!("{server} does not answer or lists no models; start it, or set SEGUE_MODEL={provider}:<model>")
    }

    fn known(&self) -> &dyn Probed {
        self.found.get().unwrap_or(&self.unnamed).as_ref()
    }
}

impl Model for LateModel {
    fn id(&self) -> &str {
        self.known().id()
    }

    fn history_tokens(&self) -> usize {
        self.known().history_tokens()
    }

    fn window(&self) -> Option<Window> {
        self.known().window()
    }

    fn is_local(&self) -> bool {
        self.known().is_local()
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        if let Some(model) = self.found.get() {
            return model.reply(prompt);
        }
        let (late, prompt) = (self.clone(), prompt.clone());
        let replied = async move {
            if let Some(model) = late.find().await {
                // Another reply may have found the name first: it is the same model.
                let _ = late.found.set(model);
            }
            late.known().reply(&prompt)
        };
        futures::stream::once(replied).flatten().boxed()
    }
}
