//! What the house can do: every service, built once.

pub mod agents;
pub mod backup;
pub mod config;
mod converse;
pub mod enrich;
pub mod export;
mod history;
pub mod import;
mod index_sync;
pub mod library;
pub mod mcp_client;
pub mod models;
mod node;
pub mod observe;
mod recovery;
pub mod sample;
pub mod tools;
pub mod turns;
mod wordings;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Context;
use engine::{Model, ToolSpec, Toolbox};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agents::{AGENTS, Agent},
    config::{Config, ModelChoice},
    enrich::{Counters, Describer, Pipeline, Sources},
    index_sync::Indexing,
    mcp_client::Outside,
    node::Node,
    observe::{
        Observer,
        metrics::{IndexReading, Reading},
    },
    tools::Shelf,
    turns::Turns,
    wordings::Wordings,
};
use sources::tidal::Tidal;
use store::Store;

pub use store;

pub use crate::{
    converse::{Ask, ConverseError, MAX_MESSAGE_CHARS},
    history::window,
    index_sync::{IndexOf, index_of},
};

/// What was told to end may take this long to do so: a turn to be stored, spans to be sent.
const FAREWELL: Duration = Duration::from_secs(5);

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
    pub observer: Arc<Observer>,
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
        let indexing = Indexing::open(&config, &store).await.context("the index cannot be opened")?;
        let shelf = Shelf { store: store.clone(), index: indexing.index() };
        let tidal = Tidal::new(&config.tidal)?;
        let outside = Outside::find(&config.mcp).await;
        let has_real_model = config.model != ModelChoice::Offline;
        let wordings = Wordings::new(has_real_model.then(|| model.clone()));
        let toolbox = outside.join(tools::toolbox(&store, &shelf, &tidal, wordings));
        let observer = Observer::new(&config, &node.name, toolbox.specs().iter().map(|spec| spec.name))?;
        let shutdown = CancellationToken::new();
        let sources = Sources::new(&config.sources)?;
        let describer = Describer::new(&config.model, &model);
        let pipeline = Pipeline::new(store.clone(), node.name.clone(), sources, tidal.clone(), describer);
        let app = Arc::new(Self {
            observer: Arc::new(observer),
            agents: AGENTS.iter().map(|agent| (agent.id, outfit(&toolbox, &outside, agent))).collect(),
            turns: Arc::new(Turns::new(store.clone(), node.name.clone(), shutdown.clone())),
            tasks: TaskTracker::new(),
            shutdown,
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
        recovery::close_dead_turns(&app.store, &app.observer, name, is_reborn.then_some(name)).await?;
        app.start_background_work();
        Ok(app)
    }

    fn start_background_work(&self) {
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.tasks.spawn(async move { turns.keep_saving(token).await });
        let (turns, token) = (self.turns.clone(), self.background.clone());
        self.tasks.spawn(async move { turns.keep_listening_for_stops(token).await });
        let (store, token) = (self.store.clone(), self.background.clone());
        self.tasks.spawn(async move { tokio::join!(store.keep_telling(token.clone()), store.keep_hearing(token)) });
        let (indexing, store, token) = (self.indexing.clone(), self.store.clone(), self.background.clone());
        let put = self.pipeline.put.clone();
        let node = self.node.name.clone();
        self.tasks.spawn(async move { indexing.keep_up(store, node, put, token).await });
        self.tasks.spawn(recovery::keep_house(self.turns.clone(), self.observer.clone(), self.background.clone()));
        self.observer.start(&self.tasks, self.background.clone());
    }

    /// Starts the workers that lead tracks into the index: a server does, a command only if that is what it is for.
    pub async fn start_ingestion(&self) -> Result<(), store::StoreError> {
        self.pipeline.start(self.node.is_reborn, &self.tasks, &self.background).await
    }

    /// What this process has ingested since it started.
    pub fn ingest_counters(&self) -> &Counters {
        &self.pipeline.counters
    }

    /// Takes no new turns and lets running ones finish, up to the limit; what runs longer is closed as interrupted.
    pub async fn drain(&self) {
        self.shutdown.cancel();
        if self.quiet_within(self.config.drain).await {
            return;
        }
        let n_cut = self.turns.cut_all();
        tracing::warn!("{n_cut} turns ran longer than the server could wait and were interrupted");
        if !self.quiet_within(FAREWELL).await {
            tracing::warn!("Left with turns still running; other nodes will close them as interrupted");
        }
    }

    /// Does not wait for running turns any longer: they end as interrupted.
    pub fn hurry(&self) {
        self.shutdown.cancel();
        self.turns.cut_all();
    }

    async fn quiet_within(&self, time: Duration) -> bool {
        let quiet = async {
            while !self.turns.is_quiet() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(time, quiet).await.is_ok()
    }

    /// Ends: the turns first, then the background work and the database.
    pub async fn stop(&self) {
        self.drain().await;
        self.background.cancel();
        self.tasks.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait()).await.is_err() {
            tracing::warn!("Left with work still running");
        }
        self.pipeline.let_go().await;
        self.store.close().await;
    }

    /// What Prometheus reads.
    pub async fn metrics(&self) -> String {
        let (unsaved_events, oldest_ms) = self.turns.unsaved();
        let age_ms = oldest_ms.map_or(0, |at_ms| chrono::Utc::now().timestamp_millis() - at_ms);
        let reading = Reading {
            turns_running: self.turns.n_live(),
            unsaved_events,
            log_lag: Duration::from_millis(u64::try_from(age_ms).unwrap_or(0)),
            pools: self.store.pools(),
            index: soon(self.index_reading()).await.flatten(),
            ingest: soon(self.store.step_counts()).await.and_then(Result::ok).unwrap_or_default(),
        };
        self.observer.render(&reading)
    }

    /// None while the index or the database does not answer.
    async fn index_reading(&self) -> Option<IndexReading> {
        let info = self.shelf.index.info().await.ok()?;
        let newest = self.store.track_revision().await.ok()?;
        Some(IndexReading { tracks: info.n_tracks, lag: (newest - info.revision).max(0) })
    }

    pub(crate) fn toolbox_of(&self, agent: &Agent) -> &Toolbox {
        &self.agents[agent.id].0
    }

    pub(crate) fn specs_of(&self, agent: &Agent) -> Arc<[ToolSpec]> {
        self.agents[agent.id].1.clone()
    }
}

/// Whoever asks for numbers wants them most when something is slow: what does not answer soon is left out.
async fn soon<T>(asked: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(Duration::from_secs(2), asked).await.ok()
}

fn outfit(toolbox: &Toolbox, outside: &Outside, agent: &Agent) -> (Toolbox, Arc<[ToolSpec]>) {
    let names: Vec<_> = agent.tools.iter().copied().chain(outside.names_for(agent.id)).collect();
    let toolbox = toolbox.only(&names);
    let specs = toolbox.specs().into();
    (toolbox, specs)
}
