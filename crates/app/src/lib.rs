//! What the house can do: every service, built once.

pub mod agents;
pub mod config;
mod converse;
pub mod embed;
pub mod export;
mod history;
pub mod import;
pub mod importing;
pub mod index;
mod indexing;
pub mod ingest;
pub mod library;
pub mod limits;
pub mod models;
pub mod music;
mod node;
mod outgoing;
pub mod outside;
mod recovery;
pub mod sample;
pub mod store;
pub mod tools;
pub mod turns;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Context;
use engine::{Model, ToolSpec, Toolbox};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agents::{AGENTS, Agent},
    config::Config,
    indexing::Indexing,
    ingest::{Counters, Describer, Pipeline, Sources},
    music::tidal::Tidal,
    node::Node,
    outside::Outside,
    store::Store,
    tools::Shelf,
    turns::Turns,
};

pub use crate::{
    converse::{Ask, ConverseError, MAX_MESSAGE_CHARS},
    history::window,
    indexing::{IndexOf, index_of},
};

/// Running turns may finish for this long when the process is asked to end.
const FAREWELL: Duration = Duration::from_secs(20);

pub struct App {
    pub config: Config,
    pub store: Store,
    pub model: Arc<dyn Model>,
    pub toolbox: Toolbox,
    pub shelf: Shelf,
    pub tidal: Tidal,
    indexing: Indexing,
    pipeline: Arc<Pipeline>,
    pub turns: Arc<Turns>,
    /// Everything spawned, so that stopping waits for it.
    pub tasks: TaskTracker,
    /// Cancelled when the process is to end: no new turns.
    pub shutdown: CancellationToken,
    /// Cancelled when the last turn has ended: background work may go.
    background: CancellationToken,
    agents: HashMap<&'static str, (Toolbox, Arc<[ToolSpec]>)>,
    node: Node,
}

impl App {
    /// Builds every service and starts the background work.
    pub async fn start(config: Config, model: Arc<dyn Model>) -> anyhow::Result<Arc<Self>> {
        let node = Node::claim(&config.data_dir)
            .with_context(|| format!("the data directory {} cannot be used", config.data_dir.display()))?;
        let store =
            Store::open(&config.database_url, config.database_pool).await.context("the database cannot be opened")?;
        let indexing = Indexing::open(&config).await.context("the index cannot be opened")?;
        let shelf = Shelf { store: store.clone(), index: indexing.index() };
        let tidal = Tidal::new(&config.tidal)?;
        let outside = Outside::find(&config.mcp).await;
        let toolbox = outside.join(tools::toolbox(&store, &shelf, &tidal));
        let sources = Sources::new(&config.sources)?;
        let describer = Describer::new(&config.model, &model);
        let pipeline = Pipeline::new(store.clone(), node.name.clone(), sources, tidal.clone(), describer);
        let app = Arc::new(Self {
            agents: AGENTS.iter().map(|agent| (agent.id, outfit(&toolbox, &outside, agent))).collect(),
            turns: Arc::new(Turns::new(store.clone(), node.name.clone())),
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            background: CancellationToken::new(),
            config,
            store,
            model,
            toolbox,
            shelf,
            tidal,
            indexing,
            pipeline: Arc::new(pipeline),
            node,
        });
        let (name, is_reborn) = (&app.node.name, app.node.is_reborn);
        recovery::close_dead_turns(&app.store, name, is_reborn.then_some(name)).await?;
        app.start_background_work();
        Ok(app)
    }

    fn start_background_work(&self) {
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.tasks.spawn(async move { turns.keep_saving(token).await });
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.tasks.spawn(async move { turns.keep_listening_for_stops(token).await });
        let (indexing, store, token) = (self.indexing.clone(), self.store.clone(), self.background.clone());
        let put = self.pipeline.put.clone();
        self.tasks.spawn(async move { indexing.keep_up(store, put, token).await });
        self.tasks.spawn(recovery::keep_house(self.store.clone(), self.turns.node.clone(), self.background.clone()));
    }

    /// Starts the workers that lead tracks into the index: a server does, a command only if that is what it is for.
    pub async fn start_ingestion(&self) -> Result<(), store::StoreError> {
        self.pipeline.start(self.node.is_reborn, &self.tasks, &self.background).await
    }

    /// What this process has ingested since it started.
    pub fn ingest_counters(&self) -> &Counters {
        &self.pipeline.counters
    }

    /// Ends: no new turns, running ones get a moment, then the background work and the database.
    pub async fn stop(&self) {
        self.shutdown.cancel();
        let deadline = tokio::time::Instant::now() + FAREWELL;
        while self.turns.n_live() > 0 && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.background.cancel();
        self.tasks.close();
        if tokio::time::timeout(Duration::from_secs(2), self.tasks.wait()).await.is_err() {
            tracing::warn!("Left with turns still running; they will be closed as interrupted");
        }
        self.pipeline.let_go().await;
        self.store.close().await;
    }

    pub(crate) fn toolbox_of(&self, agent: &Agent) -> &Toolbox {
        &self.agents[agent.id].0
    }

    pub(crate) fn specs_of(&self, agent: &Agent) -> Arc<[ToolSpec]> {
        self.agents[agent.id].1.clone()
    }
}

fn outfit(toolbox: &Toolbox, outside: &Outside, agent: &Agent) -> (Toolbox, Arc<[ToolSpec]>) {
    let names: Vec<_> = agent.tools.iter().copied().chain(outside.names_for(agent.id)).collect();
    let toolbox = toolbox.only(&names);
    let specs = toolbox.specs().into();
    (toolbox, specs)
}
