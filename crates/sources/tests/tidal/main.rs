//! The Tidal client against its double, over loopback; and the double against Tidal's own specification.

// Clippy recognises tests by their attribute; the helpers in this crate are test code too.
#![allow(clippy::unwrap_used)]

mod albums;
mod codes;
mod double;
mod faults;
mod search;
mod specification;

use doubles::{
    Running, fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use sources::tidal::{Tidal, TidalConfig, TidalCredentials};

/// A running double and a client with its credentials.
struct Stage {
    double: TidalDouble,
    tidal: Tidal,
    running: Running,
}

impl Stage {
    async fn new() -> Self {
        Self::with(TidalDouble::new(fiction::world(), Limits::GENEROUS), "US").await
    }

    async fn with(double: TidalDouble, country: &str) -> Self {
        let running = serve(double.router()).await.unwrap();
        let tidal = Tidal::new(&config(&running, CLIENT_SECRET, country)).unwrap();
        Self { double, tidal, running }
    }

    /// The paths of the catalogue requests so far, without queries.
    fn paths(&self) -> Vec<String> {
        let path = |request: &String| request.split('?').next().unwrap_or_default().to_owned();
        self.double.requests().iter().map(path).collect()
    }
}

fn config(running: &Running, client_secret: &str, country: &str) -> TidalConfig {
    TidalConfig {
        credentials: Some(TidalCredentials { client_id: CLIENT_ID.into(), client_secret: client_secret.into() }),
        api_url: format!("http://{}/v2", running.addr),
        auth_url: format!("http://{}/v1/", running.addr),
        country: country.into(),
    }
}
