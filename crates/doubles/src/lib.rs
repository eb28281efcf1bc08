//! Test doubles: local replacements of the services that Segue calls, with the same behaviour and the same special
//! cases.
//!
//! One folder per service. Each is a router over the same [`world::World`], so that the services agree about a
//! recording. A double is created with `new` and served with [`serve`]. Its methods (tests), a script (every test, see
//! [`script`]) or its admin routes (demos) switch faults on.

pub mod crowd;
pub mod deezer;
mod fault;
pub mod fiction;
pub mod home_library;
pub mod lrclib;
pub mod model;
pub mod musicbrainz;
pub mod otlp;
pub mod qdrant;
pub mod reccobeats;
pub mod sample;
pub mod script;
pub mod sound;
pub mod state;
pub mod tidal;
pub mod world;

use std::net::SocketAddr;

use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};

/// A double that serves at `addr` until this is dropped.
pub struct Running {
    pub addr: SocketAddr,
    server: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Serves on a free loopback port.
pub async fn serve(router: Router) -> std::io::Result<Running> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let addr = listener.local_addr()?;
    let server = tokio::spawn(async move {
        axum::serve(listener, router).await.expect("axum::serve runs until it is aborted");
    });
    Ok(Running { addr, server })
}
