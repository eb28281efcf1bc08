//! Doubles: local stand-ins for the services Segue asks, faithful to their manners and their traps.
//!
//! One folder per service, each a router over the same [`world::World`], so that what one service says about a
//! recording agrees with what the others say. A double is made with `new`, served with [`serve`], and told to
//! misbehave through its methods (tests) or its admin routes (a demo).

pub mod crowd;
pub mod deezer;
pub mod fiction;
pub mod home_library;
pub mod lrclib;
pub mod model;
pub mod musicbrainz;
pub mod qdrant;
pub mod reccobeats;
pub mod sample;
pub mod state;
pub mod tidal;
pub mod world;

use std::net::SocketAddr;

use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};

/// A double that answers at `addr` until this is dropped.
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
