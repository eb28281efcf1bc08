//! Where traces of turns are sent.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{ConfigError, Secret, problem, values::Values};

/// Whether spans contain the text of users, models and tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Included,
    LeftOut,
}

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// The whole address, `/v1/traces` included.
    pub url: String,
    pub headers: Vec<(String, Secret)>,
    pub content: Content,
}

/// Langfuse takes OTLP under its own path; the version asks for spans to show at once.
fn langfuse(base_url: &str, public: &str, secret: &str, content: Content) -> TraceConfig {
    let basic = BASE64_STANDARD.encode(format!("{public}:{secret}"));
    let headers = vec![
        ("authorization".to_owned(), Secret::new(format!("Basic {basic}"))),
        ("x-langfuse-ingestion-version".to_owned(), Secret::new("4")),
        ("x-langfuse-sdk-name".to_owned(), Secret::new("segue")),
        ("x-langfuse-sdk-version".to_owned(), Secret::new(env!("CARGO_PKG_VERSION"))),
        ("x-langfuse-public-key".to_owned(), Secret::new(public)),
    ];
    TraceConfig { url: format!("{}/api/public/otel/v1/traces", base_url.trim_end_matches('/')), headers, content }
}

fn collector_headers(list: &str) -> Result<Vec<(String, Secret)>, ConfigError> {
    let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let headers = pairs.map(|pair| match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_ascii_lowercase(), Secret::new(value.trim())))
        }
        _ => Err(problem("OTEL_EXPORTER_OTLP_HEADERS", "must be name=value, separated by commas")),
    });
    headers.collect()
}

impl Values<'_> {
    pub(super) fn traces(&self) -> Result<Vec<TraceConfig>, ConfigError> {
        let content = match self.is_on("SEGUE_TRACE_CONTENT")? {
            true => Content::Included,
            false => Content::LeftOut,
        };
        let keys = match (self.text("LANGFUSE_PUBLIC_KEY"), self.text("LANGFUSE_SECRET_KEY")) {
            (Some(public), Some(secret)) => Some((public, secret)),
            (None, None) => None,
            (Some(_), None) => return Err(problem("LANGFUSE_SECRET_KEY", "is missing beside LANGFUSE_PUBLIC_KEY")),
            (None, Some(_)) => return Err(problem("LANGFUSE_PUBLIC_KEY", "is missing beside LANGFUSE_SECRET_KEY")),
        };
        let mut traces = Vec::new();
        if let Some((public, secret)) = keys {
            traces.push(langfuse(&self.or_default("LANGFUSE_BASE_URL"), &public, &secret, content));
        }
        if let Some(url) = self.text("OTEL_EXPORTER_OTLP_ENDPOINT") {
            let headers = collector_headers(&self.or_default("OTEL_EXPORTER_OTLP_HEADERS"))?;
            traces.push(TraceConfig { url: format!("{}/v1/traces", url.trim_end_matches('/')), headers, content });
        }
        Ok(traces)
    }
}
