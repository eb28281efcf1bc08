//! A model of a provider at its address: what every provider needs beside its request and its reader.

use std::sync::Arc;

use bytes::Bytes;
use engine::{Prompt, Window, prompt_chars};

use super::{
    answer::{Question, callable},
    http::{Endpoint, Http},
    probe::Target,
    quirks::{Form, Learned},
    servers::Family,
};

#[derive(Debug)]
pub(crate) struct Connected {
    http: Http,
    endpoint: Arc<Endpoint>,
    /// The provider and the model's name, as in `SEGUE_MODEL`.
    id: String,
    /// Whether the server is the provider's own. Others have its API, with differences.
    pub(crate) is_the_vendor: bool,
    pub(crate) learned: Arc<Learned>,
}

impl Connected {
    pub(crate) fn new(http: Http, endpoint: Endpoint, provider: &str, model: &str, is_the_vendor: bool) -> Self {
        let learned = http.learned(&endpoint, model);
        Self { http, endpoint: Arc::new(endpoint), id: format!("{provider}:{model}"), is_the_vendor, learned }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The model's name, without the provider.
    pub(crate) fn model(&self) -> &str {
        self.id.split_once(':').map_or(self.id.as_str(), |(_, model)| model)
    }

    pub(crate) fn window(&self) -> Window {
        let facts = self.learned.facts();
        Window { context_tokens: facts.context_tokens, chars_per_token: facts.chars_per_token }
    }

    pub(crate) fn is_local(&self) -> bool {
        self.endpoint.is_local()
    }

    /// The question of a prompt. `body`: the request in a form that the server accepts.
    pub(crate) fn question(&self, prompt: &Prompt, body: impl Fn(Form) -> Bytes + Send + Sync + 'static) -> Question {
        Question {
            http: self.http.clone(),
            endpoint: self.endpoint.clone(),
            learned: self.learned.clone(),
            body: Box::new(body),
            tools: callable(prompt, self.is_the_vendor),
            n_prompt_chars: prompt_chars(prompt),
        }
    }

    /// `is_described`: servers of this API differ and describe themselves.
    pub(crate) fn target(&self, family: Family, is_described: bool) -> Target<'_> {
        Target {
            http: &self.http,
            endpoint: &self.endpoint,
            learned: &self.learned,
            model: self.model(),
            family,
            is_described,
        }
    }
}
