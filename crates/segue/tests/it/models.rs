//! Models: configured, found on this machine or chosen from a list; and what a model reads and claims.

mod claims;
mod connected;
mod doctor;
mod listed;
mod long;
mod reading;
mod reasoning;
mod views;

use std::sync::Arc;

use app::config::Config;
use doubles::{
    Running,
    model::{Family, ModelDouble},
    serve,
};

use crate::support::{TestApp, World};

/// A double of a model server and its address.
struct Server {
    double: ModelDouble,
    running: Running,
}

impl Server {
    async fn start(family: Family) -> Self {
        let double = ModelDouble::new(family, "qwen2.5:7b").context(32_768, 4.0);
        let running = serve(double.router()).await.unwrap();
        Self { double, running }
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.running.addr)
    }

    fn port(&self) -> String {
        self.running.addr.port().to_string()
    }

    /// The number of requests for a reply.
    fn n_replies(&self) -> usize {
        self.double.asked().len()
    }
}

fn config(world: &World, settings: &[(&'static str, &str)]) -> Config {
    let mut all = world.settings();
    all.extend(settings.iter().map(|(name, value)| (*name, (*value).to_owned())));
    Config::from_lookup(|name| all.get(name).cloned()).expect("the settings are valid")
}

/// A server with the model of its settings, as `segue serve` starts it.
async fn started(world: &Arc<World>, settings: &[(&'static str, &str)]) -> TestApp {
    let config = config(world, settings);
    let model = app::models::choose(&config).await.unwrap();
    TestApp::answered_by(world.clone(), model, config).await
}
