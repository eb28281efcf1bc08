//! The listener: the number of connections, the size of request heads, and the time limits.

use std::{
    convert::Infallible,
    net::SocketAddr,
    num::NonZeroUsize,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use app::config::{Config, Networks};
use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::{
    auth::network_of,
    error::ApiError,
    open_requests::OpenRequests,
    request_body::{Pace, Paced},
};

#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub connections: usize,
    /// Connections per address, or per /64 of IPv6. `None`: no limit.
    pub per_address: Option<NonZeroUsize>,
    /// Proxies are exempt, because they carry the connections of many clients.
    pub trusted_proxies: Networks,
    /// Maximum size of request line and headers. Also the write buffer per client, beyond the buffers of the
    /// operating system.
    pub head_bytes: usize,
    /// Time limit for a request head, and for an idle connection between two requests.
    pub head_time: Duration,
    /// Time limit for a body before its first byte. Received bytes extend it.
    pub body_time: Duration,
    /// The minimum speed of the rest of a body.
    pub body_bytes_per_second: u32,
    /// A client that reads nothing for this long is disconnected. It can reconnect and resume.
    pub stalled_write: Duration,
    /// How long open connections may continue after shutdown has started.
    pub drain: Duration,
}

impl ConnectionLimits {
    pub fn new(connections: usize) -> Self {
        Self {
            connections,
            per_address: None,
            trusted_proxies: Networks::default(),
            head_bytes: 32 * 1024,
            head_time: Duration::from_secs(75),
            body_time: Duration::from_secs(20),
            body_bytes_per_second: 4 * 1024,
            stalled_write: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }

    pub fn of(config: &Config) -> Self {
        Self {
            per_address: config.connections_per_address,
            trusted_proxies: config.trusted_proxies.clone(),
            ..Self::new(config.max_connections)
        }
    }
}

const MAX_HEADERS: usize = 64;

/// Serves until `ended`, then waits for open connections for the drain time.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    ended: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let places = Arc::new(Semaphore::new(limits.connections));
    let by_address = OpenRequests::up_to(limits.per_address);
    let pace = Pace { grace: limits.body_time, bytes_per_second: limits.body_bytes_per_second };
    let (graceful, http) = (GracefulShutdown::new(), http_builder(&limits));
    tokio::pin!(ended);
    loop {
        let (accepted, place) = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = &mut ended => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // No file descriptors left, or the client disconnected at once: the server continues.
                tracing::warn!("A connection could not be accepted: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Closed at once, before it takes a place: one address must not take all of them.
        let share = match limits.trusted_proxies.contain(peer.ip()) {
            true => None,
            false => match by_address.try_enter(&network_of(peer.ip())) {
                Some(share) => Some(share),
                None => continue,
            },
        };
        let router = router.clone();
        let service = service_fn(move |request| answer(router.clone(), request, peer, pace));
        let connection = http.serve_connection(TokioIo::new(Box::pin(not_stalling(stream, &limits))), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _held = (place, share);
            if let Err(error) = connection.await {
                tracing::debug!("A connection ended early: {error}");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("Shutdown: some connections were still open after the drain time");
    }
    Ok(())
}

fn http_builder(limits: &ConnectionLimits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(MAX_HEADERS)
        .max_buf_size(limits.head_bytes);
    http
}

/// Acquires a place first: if all are taken, new clients wait in the listen queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (std::io::Result<(TcpStream, SocketAddr)>, OwnedSemaphorePermit) {
    let place = places.clone().acquire_owned().await.expect("the semaphore is never closed");
    (listener.accept().await, place)
}

async fn answer(
    router: Router,
    mut request: Request<Incoming>,
    peer: SocketAddr,
    pace: Pace,
) -> Result<Response, Infallible> {
    request.extensions_mut().insert(ConnectInfo(peer));
    let (head, body) = request.into_parts();
    let (body, was_too_slow) = Paced::new(body, pace);
    let request = Request::from_parts(head, Body::new(body));
    let mut response = router.oneshot(request).await.unwrap_or_else(|never| match never {});
    if was_too_slow.load(Ordering::Relaxed) {
        response = ApiError::body_too_slow().into_response();
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

fn not_stalling(stream: TcpStream, limits: &ConnectionLimits) -> TimeoutStream<TcpStream> {
    // Frames are small and must be sent at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY could not be set: {error}");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stalled_write));
    stream
}
