//! The listener: how many connections, how large their heads, how long they may stall.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    pub connections: usize,
    /// Request line and headers together. Also what waits to be written to one client, beyond the system's buffers.
    pub head_bytes: usize,
    /// How long a head may take, and how long a connection may idle between two requests.
    pub head_time: Duration,
    /// A client that takes nothing for this long is cut. It can come back and resume.
    pub stalled_write: Duration,
    /// How long open connections may go on when the process is asked to end.
    pub drain: Duration,
}

impl ConnectionLimits {
    pub fn new(connections: usize) -> Self {
        Self {
            connections,
            head_bytes: 32 * 1024,
            head_time: Duration::from_secs(75),
            stalled_write: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }
}

const MAX_HEADERS: usize = 64;

/// Serves until `ended`, then lets open connections finish for a moment.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    ended: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let places = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(MAX_HEADERS)
        .max_buf_size(limits.head_bytes);
    tokio::pin!(ended);
    loop {
        // A place first: who comes when all are taken waits in the system's queue.
        let accept = async {
            let place = places.clone().acquire_owned().await.expect("the semaphore is never closed");
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            accepted = accept => accepted,
            () = &mut ended => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or a client that left at once: neither ends the server.
                tracing::warn!("A connection could not be accepted: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            let answer = router.clone().oneshot(request.map(Body::new));
            async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
        });
        let connection = http.serve_connection(TokioIo::new(Box::pin(not_stalling(stream, &limits))), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                tracing::debug!("A connection ended early: {error}");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("Left with connections still open");
    }
    Ok(())
}

fn not_stalling(stream: TcpStream, limits: &ConnectionLimits) -> TimeoutStream<TcpStream> {
    // Frames are small and must leave at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY could not be set: {error}");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stalled_write));
    stream
}
