//! The official client, bounded in time, and what each way of failing means.

use std::{
    error::Error,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::FutureExt;
use qdrant_client::{Qdrant, QdrantError};
use tonic::{Code, Status, transport::Uri};

use super::super::IndexError;

#[derive(Clone, Debug)]
pub struct QdrantSettings {
    pub url: String,
    pub api_key: Option<String>,
    /// Begins the name of every collection, so that two installations can share a server.
    pub prefix: String,
    pub timeout: Duration,
}

impl QdrantSettings {
    /// A healthy server answers within milliseconds. A tool asks a second time after one second, so a user waits 6 s for
    /// a server that never answers, and a start 2.5 s.
    pub const TIMEOUT: Duration = Duration::from_millis(2500);

    pub fn new(url: impl Into<String>, api_key: Option<String>) -> Self {
        Self { url: url.into(), api_key, prefix: "segue".into(), timeout: Self::TIMEOUT }
    }
}

/// How many times longer a write may take than a search.
const PATIENCE: u32 = 12;

pub(super) struct Client {
    /// Replaced when a request gets no answer.
    qdrant: RwLock<Arc<Qdrant>>,
    timeout: Duration,
    is_tls: bool,
}

impl Client {
    pub(super) fn new(settings: &QdrantSettings) -> Result<Self, IndexError> {
        let address = grpc_address(&settings.url)
            .ok_or_else(|| IndexError::WrongSchema(format!("{} is not an address", settings.url)))?;
        // The client's own check of versions prints to standard output. Its timeout makes it ask again, which would
        // double the time a listener waits; ours, around everything, ends first.
        let building = Qdrant::from_url(&address)
            .api_key(settings.api_key.clone())
            .timeout(2 * PATIENCE * settings.timeout)
            .connect_timeout(settings.timeout)
            .skip_compatibility_check();
        let qdrant = RwLock::new(Arc::new(building.build().map_err(|error| IndexError::Bug(error.into()))?));
        Ok(Self { qdrant, timeout: settings.timeout, is_tls: address.starts_with("https:") })
    }

    pub(super) fn qdrant(&self) -> Arc<Qdrant> {
        self.qdrant.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The next request opens new connections. One on which nothing arrives any more, because the other host has lost
    /// its power or the network drops its packets, would be used until the operating system gives it up, which takes a
    /// quarter of an hour. `used`: several requests may fail on the same connections.
    fn reconnect(&self, used: &Arc<Qdrant>) {
        let mut qdrant = self.qdrant.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&qdrant, used) {
            return;
        }
        match Qdrant::new(used.config.clone()) {
            Ok(new) => *qdrant = Arc::new(new),
            Err(error) => tracing::warn!(%error, "no new connections to Qdrant can be prepared; keeping the old ones"),
        }
    }

    pub(super) fn ask<'a, T>(
        &'a self,
        call: impl Future<Output = Result<T, QdrantError>> + 'a,
    ) -> impl Future<Output = Result<T, IndexError>> + 'a {
        self.within(self.timeout, call)
    }

    /// For background requests: a batch of points, an index over a field of many.
    pub(super) fn ask_patiently<'a, T>(
        &'a self,
        call: impl Future<Output = Result<T, QdrantError>> + 'a,
    ) -> impl Future<Output = Result<T, IndexError>> + 'a {
        self.within(PATIENCE * self.timeout, call)
    }

    fn within<'a, T>(
        &'a self,
        limit: Duration,
        call: impl Future<Output = Result<T, QdrantError>> + 'a,
    ) -> impl Future<Output = Result<T, IndexError>> + 'a {
        let used = self.qdrant();
        // The client's futures are twenty kilobytes each.
        let call = tokio::time::timeout(limit, Box::pin(call));
        async move {
            let Ok(answer) = call.await else {
                self.reconnect(&used);
                return Err(IndexError::Slow(limit));
            };
            answer.map_err(|error| self.judge(error))
        }
    }

    /// `None` when there is no such thing.
    pub(super) fn find<'a, T: 'a>(
        &'a self,
        call: impl Future<Output = Result<T, QdrantError>> + 'a,
    ) -> impl Future<Output = Result<Option<T>, IndexError>> + 'a {
        self.ask(call.map(|answer| match answer {
            Err(QdrantError::ResponseError { status }) if status.code() == Code::NotFound => Ok(None),
            answer => answer.map(Some),
        }))
    }

    fn judge(&self, error: QdrantError) -> IndexError {
        let status = match error {
            QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => status,
            other => return IndexError::Bug(other.into()),
        };
        let said = status.message();
        match status.code() {
            Code::DeadlineExceeded | Code::Cancelled => IndexError::Slow(self.timeout),
            Code::Unauthenticated | Code::PermissionDenied => {
                IndexError::WrongSchema(format!("Qdrant refused our key ({said}); set QDRANT_API_KEY"))
            }
            Code::NotFound => IndexError::WrongSchema(format!("Qdrant does not have our collection: {said}")),
            _ if is_no_grpc(&status) => IndexError::WrongSchema(format!("{NOT_QDRANT}{}", self.scheme_hint())),
            Code::Unavailable | Code::ResourceExhausted | Code::Aborted | Code::Internal | Code::Unknown => {
                IndexError::Away(no_connection(said).unwrap_or_else(|| format!("Qdrant: {said}")))
            }
            code => IndexError::Bug(anyhow::anyhow!("Qdrant answered {code}: {said}")),
        }
    }

    /// A server with TLS answers a request without it in bytes that are no HTTP.
    fn scheme_hint(&self) -> &'static str {
        if self.is_tls { "" } else { "; if it uses TLS, write https:// in QDRANT_URL" }
    }
}

const NOT_QDRANT: &str = "what answers at QDRANT_URL is not Qdrant's gRPC interface (port 6334 unless you moved it)";

/// Whether what answered does not even speak gRPC: another kind of HTTP, or gRPC without Qdrant's services.
fn is_no_grpc(status: &Status) -> bool {
    let kind = status.metadata().get("content-type").and_then(|kind| kind.to_str().ok());
    status.code() == Code::Unimplemented
        || kind.is_some_and(|kind| !kind.starts_with("application/grpc"))
        || is_http_1(status)
}

/// Read as frames, the letters of an answer in HTTP/1 make one of an impossible size.
fn is_http_1(status: &Status) -> bool {
    let mut causes = std::iter::successors(status.source(), |&cause| cause.source());
    causes.any(|cause| cause.to_string().contains("frame with invalid size"))
}

/// The client tells why it could not connect in the words of a debugger; what a person needs of them.
fn no_connection(said: &str) -> Option<String> {
    let (address, cause) = said.strip_prefix("Failed to connect to ")?.split_once(": ")?;
    let between = |from: &str, to: &str| Some(cause.split_once(from)?.1.split_once(to)?.0.to_owned());
    // What the TLS library says of an answer that is not TLS.
    let is_plain = ["InvalidContentType", "InvalidMessage"].iter().any(|word| cause.contains(word));
    let reason = between("message: \"", "\"")
        .or_else(|| between("error: \"", "\""))
        .or_else(|| Some(format!("its certificate is refused: {}", between("InvalidCertificate(", ")")?)))
        .or_else(|| is_plain.then(|| "it does not use TLS; write http:// in QDRANT_URL".to_owned()))
        .unwrap_or_else(|| cause.to_owned());
    Some(format!("no connection to {address} ({reason})"))
}

/// Where gRPC is spoken. People know a Qdrant by the port of its REST interface, and the other one is next to it.
fn grpc_address(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?;
    let scheme = uri.scheme_str().unwrap_or("http");
    let port = uri.port_u16().filter(|port| *port != REST_PORT).unwrap_or(GRPC_PORT);
    Some(format!("{scheme}://{host}:{port}"))
}

const REST_PORT: u16 = 6333;
const GRPC_PORT: u16 = 6334;

#[cfg(test)]
mod tests {
    use super::grpc_address;

    #[test]
    fn a_server_is_found_by_either_of_its_ports() {
        for (given, asked) in [
            ("http://localhost:6333", Some("http://localhost:6334")),
            ("http://localhost:6334", Some("http://localhost:6334")),
            ("http://qdrant", Some("http://qdrant:6334")),
            ("https://abc.cloud.qdrant.io:6333/", Some("https://abc.cloud.qdrant.io:6334")),
            ("https://qdrant.example.org:443", Some("https://qdrant.example.org:443")),
            ("http://[::1]:7000", Some("http://[::1]:7000")),
            ("http://", None),
        ] {
            assert_eq!(grpc_address(given).as_deref(), asked, "{given}");
        }
    }
}
